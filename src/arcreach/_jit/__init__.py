"""Compile kernels; no other package but `gpu` imports numba."""

from arcreach._jit.announcements import COMPILING_LINE as COMPILING_LINE
from arcreach._jit.announcements import INTERPRETING_LINE as INTERPRETING_LINE
from arcreach._jit.announcements import announce as announce
from arcreach._jit.announcements import on_compile as on_compile
from arcreach._jit.announcements import tell_compiling as tell_compiling
from arcreach._jit.cache import CACHE_DIRECTORY as CACHE_DIRECTORY
from arcreach._jit.cache import kernel_hash as kernel_hash
from arcreach._jit.cache import own_cache_directory as own_cache_directory
from arcreach._jit.calls import settled as settled
from arcreach._jit.clock import clock as clock
from arcreach._jit.decorator import by_kind as by_kind
from arcreach._jit.decorator import compile_source as compile_source
from arcreach._jit.decorator import kernel as kernel
