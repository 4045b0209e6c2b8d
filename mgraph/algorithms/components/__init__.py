"""Connected components."""
