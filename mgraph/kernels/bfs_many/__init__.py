"""Kernels of breadth-first searches from many sources: `host` for the CPU, `cuda` for GPUs, the same operations."""
