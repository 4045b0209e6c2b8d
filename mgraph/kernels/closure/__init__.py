"""Kernels of transitive closure, a bit a pair: `host` for the CPU, `cuda` for GPUs, the same operations."""
