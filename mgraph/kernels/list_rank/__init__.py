"""Kernels of list ranking: `host` for the CPU, `cuda` for GPUs, the same operations."""
