"""Breadth-first search, from one source or from many."""
