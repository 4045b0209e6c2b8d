"""Distance matrices cut for shards, and the blocked elimination that all pairs and closures share."""
