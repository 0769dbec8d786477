"""The GPU: whether there is one, kernels compiled for it, and batches that stream through it.

Nothing here is imported before somebody asks for a device; only `driver` imports numba-cuda.
"""
