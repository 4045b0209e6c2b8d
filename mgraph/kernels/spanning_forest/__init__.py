"""Kernels of minimum spanning forests: `host` for the CPU, `cuda` for GPUs, the same operations."""
