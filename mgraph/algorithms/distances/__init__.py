"""Distances from many sources to many targets, and what is computed from them."""
