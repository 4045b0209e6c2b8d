"""Kernels of breadth-first search, many levels a launch: `host` for the CPU, `cuda` for GPUs, the same operations."""
