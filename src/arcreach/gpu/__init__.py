"""The GPU: whether there is one, kernels compiled for it, and batches that stream through it.

numba-cuda is loaded by `driver`, when somebody asks for a device. Nothing outside this package needs it.
"""
