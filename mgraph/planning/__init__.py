"""Plans of calls: how work is cut, what it takes, and whether it fits. It names no algorithm."""
