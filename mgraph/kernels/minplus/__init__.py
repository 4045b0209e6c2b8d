"""Kernels of (min, +) products and blocked Floyd-Warshall: `host` for the CPU, `cuda` for GPUs, the same operations."""
