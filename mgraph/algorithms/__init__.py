"""The algorithms, a package each: the call, its programs, its plan, its verifier, and its entry of the registry."""
