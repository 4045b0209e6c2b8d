"""Kernels, a package a family: `host` has its operations for CPUs (Numba), `cuda` the same for GPUs.

`cuda` launches the kernels of ``kernels/FAMILY.cu``. It knows the shape of a launch (grid, block, shared memory,
template arguments) and nothing of algorithms. ``SOURCE`` names its file, ``INSTANCES`` every kernel that it may launch.
"""
