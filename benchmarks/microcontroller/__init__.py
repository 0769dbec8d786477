"""Exported solvers on an emulated microcontroller, under sanitizers, and judged in double precision."""
