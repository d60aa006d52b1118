"""Numba kernels: arrays, scalars and named tuples in and out, no I/O.

Nothing is compiled when this package is imported; each kernel compiles on its first call.
"""
