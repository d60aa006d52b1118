"""Numba kernels: arrays and scalars in and out, no classes, no I/O.

Nothing is compiled when this package is imported; each kernel compiles on its first call.
"""
