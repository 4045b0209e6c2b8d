"""The algorithms, a package each: the call, its programs, its plan."""
