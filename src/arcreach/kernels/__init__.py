"""Float64 arithmetic on arrays.

Kernels allocate nothing, raise nothing and take their outputs last; a batch kernel may make its scratch once at entry.
"""
