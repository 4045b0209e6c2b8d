"""All-pairs shortest paths."""
