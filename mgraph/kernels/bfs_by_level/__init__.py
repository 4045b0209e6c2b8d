"""Kernels of breadth-first search, a level a launch: `host` for the CPU, `cuda` for GPUs, the same operations."""
