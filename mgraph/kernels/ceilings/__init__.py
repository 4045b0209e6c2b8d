"""Kernels of what a device can do at best: `host` for the CPU, `cuda` for GPUs, the same operations."""
