"""Kernels of connected components: `host` for the CPU, `cuda` for GPUs, the same operations."""
