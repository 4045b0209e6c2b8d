"""Plans of calls: how work is cut, its predicted time and memory, and whether it fits. It names no algorithm."""
