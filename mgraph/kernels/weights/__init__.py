"""Kernels of encoding and decoding of weights: `host` for the CPU, `cuda` for GPUs, the same operations."""
