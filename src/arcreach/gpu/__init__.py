"""Batches on an NVIDIA GPU: driver, streams, kernel cache and kernels.

`driver` imports numba-cuda at the first request for a device; nothing outside this package imports it.
"""
