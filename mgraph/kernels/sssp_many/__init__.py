"""Kernels of shortest paths from many sources: `host` for the CPU, `cuda` for GPUs, the same operations."""
