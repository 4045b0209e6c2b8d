"""Kernels, a package a family, as `family` explains: `ops` declares the operations, `host` and `cuda` have them.

`host` has the operations for CPUs (Numba). `cuda` launches the kernels of ``kernels/FAMILY.cu``: it knows the shape of
a launch (grid, block, shared memory, template arguments) and nothing of algorithms. Its ``SOURCE`` names the file, and
``INSTANCES`` every kernel that it may launch.
"""
