"""Transitive closure."""
