"""Float64 arithmetic on arrays. Kernels allocate nothing, raise nothing and take their outputs last."""
