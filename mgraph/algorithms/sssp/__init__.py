"""Shortest paths from one source."""
