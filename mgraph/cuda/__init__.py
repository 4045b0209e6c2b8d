"""Launching the CUDA kernels: one module a family, with the operations and arguments of `mgraph.host`.

A module here knows the shape of a launch (grid, block, shared memory, template arguments) and nothing of
algorithms. ``SOURCE`` names its file of the kernels folder, ``INSTANCES`` every kernel it may launch.
"""
