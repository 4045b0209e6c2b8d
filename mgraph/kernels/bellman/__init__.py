"""Kernels of the check by Bellman's equations: `host` alone, as results are verified on the CPU."""
