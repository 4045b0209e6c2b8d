"""Kernels, one package per family, which declares the operations; `host` and `cuda` implement them (see `family`).

`host` has the operations for CPUs (Numba). `cuda` launches the kernels of ``kernels/FAMILY.cu``. It chooses the launch
(grid, block, shared memory, template arguments); the algorithm is in the kernels. Its ``SOURCE`` is the name of the
file, and ``INSTANCES`` lists every kernel that it may launch.
"""
