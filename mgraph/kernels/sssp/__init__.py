"""Kernels of shortest paths from one source: `host` for the CPU, `cuda` for GPUs, the same operations."""
