"""The CPU twins of the CUDA kernels, in Numba: one module a family, the operations of `mgraph.cuda`."""
