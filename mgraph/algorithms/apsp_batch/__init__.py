"""Shortest paths between all pairs of vertices of many small graphs."""
