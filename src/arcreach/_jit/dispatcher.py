"""`KernelDispatcher`: numba's dispatcher, which compiles a kernel in one of two forms.

A kernel that Python calls has a wrapper, which converts its arguments, and machine code. A kernel that another kernel
calls is copied into the machine code of its caller and needs neither: it is kept as LLVM code. Unmodified numba
generates both for every kernel, which takes a third of the compile time.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import os
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import llvmlite.binding
import numba
from numba.core import caching, codegen, compiler, registry, sigutils
from numba.core.compiler_lock import global_compiler_lock

from arcreach._jit import overloads
from arcreach._jit.cache import own_cache_directory


class KernelDispatcher(registry.CPUDispatcher):
    """Compiles a kernel for each combination of argument types that it is called with.

    `counts_references` is false for kernels that neither allocate nor return arrays. Kernels that numba cannot name,
    such as closures, are not `cached`.
    """

    # True while a kernel that another one calls is compiled; changed only under numba's compiler lock.
    inner: ClassVar[bool] = False
    # Attributes that numba's class sets.
    __name__: str
    _compiler: Any

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], counts_references: bool, cached: bool = True
    ) -> None:
        super().__init__(function, targetoptions={"nopython": True, "_nrt": counts_references, **options})
        self._counts_references = counts_references
        if cached:
            self._cache = _Cache(function)

    def compile(self, sig: Any) -> Any:
        """Compile for these argument types, or load from the disk."""
        with global_compiler_lock:
            arguments = tuple(sigutils.normalize_signature(sig)[0])
            inner = KernelDispatcher.inner
            if not inner and arguments in self.overloads and _is_inner(self.overloads[arguments]):
                del self.overloads[arguments]
            self._compiler.pipeline_class = _InnerCompiler if inner else _Compiler
            with overloads.remembered(), _no_collection():
                return super().compile(sig)

    def add_overload(self, cres: Any) -> None:
        """Register a compiled version."""
        if not _is_inner(cres):
            # The machine code includes inner kernels, whose environments numba would not register.
            for environment in cres._find_referenced_environments():
                cres.codegen.set_env(environment.env_name, environment)
            super().add_overload(cres)
            return
        # numba finds the code of a callee by its entry point, which an inner kernel does not have.
        cres = cres._replace(entry_point=object())
        self.targetctx.insert_user_function(cres.entry_point, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for a caller; literal types are removed, so that one version of a kernel serves all values.

        A loop counter has the type "literal 0" at first. For every kernel that receives one, numba would compile a
        version for that type, which is never called.
        """
        unliteral = numba.types.unliteral
        with global_compiler_lock:
            before, KernelDispatcher.inner = KernelDispatcher.inner, True
            try:
                answer: Any = super().get_call_template(
                    [unliteral(argument) for argument in args],
                    {name: unliteral(argument) for name, argument in kws.items()},
                )
            finally:
                KernelDispatcher.inner = before
        # Without reference counts numba rejects a kernel that returns an array, but not a tuple that holds one.
        if not self._counts_references and any(_holds_array(signature.return_type) for signature in answer[0].cases):
            raise numba.errors.UnsupportedError(f"kernel {self.__name__} returns an array; mark it `allocates`")
        return answer


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Disable garbage collection inside the block: it frees little and takes a tenth of the compile time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _holds_array(kind: Any) -> bool:
    return isinstance(kind, numba.types.Array) or any(map(_holds_array, getattr(kind, "types", ())))


class _Library(codegen.JITCodeLibrary):
    """LLVM code that is optimised once.

    numba optimises twice, and removes pairs of reference counts in between. Kernels hardly count references, so one
    optimisation gives the same machine code.
    """

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _InnerLibrary(_Library):
    """LLVM code that is never given to the machine code generator on its own."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        return self.name, self._get_module_for_linking().as_bitcode()


def _is_inner(result: Any) -> bool:
    return isinstance(result.library, _InnerLibrary)


class _Compiler(compiler.Compiler):
    """numba's compiler with a library of `library_class`."""

    library_class: ClassVar[type[_Library]] = _Library

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


class _InnerCompiler(_Compiler):
    """The compiler without the wrapper for Python and without machine code."""

    library_class = _InnerLibrary

    def define_pipelines(self) -> Any:
        self.state.flags.no_compile = self.state.flags.no_cpython_wrapper = True
        return super().define_pipelines()


class _Cache(caching.FunctionCache):
    """numba's disk cache with one file per signature and form of a kernel, opened at the kernel's first call.

    numba's index numbers the files of a function, and two processes that compile at once can take the same number and
    load each other's code. numba also writes a trial file per function at import, which would dominate import time.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function

    @functools.cached_property
    def _opened(self) -> Any:
        with own_cache_directory():
            return caching.FunctionCache(self._py_func)

    def _file(self, signature: Any, codegen: Any) -> str:
        key = hashlib.sha256(repr(self._index_key(signature, codegen)).encode()).hexdigest()[:32]
        return f"{'inner.' if KernelDispatcher.inner else ''}{self._opened._impl.filename_base}.{key}.nbc"

    def holds(self, signature: Any, target_context: Any) -> bool:
        """Return whether a compiled version is on disk."""
        return os.path.exists(os.path.join(self._opened.cache_path, self._file(signature, target_context.codegen())))

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        # An unreadable file only costs a compilation.
        with contextlib.suppress(Exception):
            data = self._opened._cache_file._load_data(self._file(signature, target_context.codegen()))
            rebuild = _inner_result if KernelDispatcher.inner else self._opened._impl.rebuild
            return rebuild(target_context, data)
        return None

    def _save_overload(self, signature: Any, data: Any) -> None:
        cache = self._opened
        if cache._impl.check_cachable(data):
            cache._impl.locator.ensure_cache_path()
            cache._cache_file._save_data(self._file(signature, data.codegen), cache._impl.reduce(data))


def _inner_result(target_context: Any, data: Any) -> Any:
    """Return the compiled version of an inner kernel from the content of its file."""
    (name, bitcode), fndesc, environment, signature, *_, environments = data
    library = _InnerLibrary(target_context.codegen(), name)
    library._final_module = library._shared_module = llvmlite.binding.parse_bitcode(bitcode)
    library._finalized = True
    return compiler.compile_result(
        target_context=target_context,
        library=library,
        fndesc=fndesc,
        environment=environment,
        signature=signature,
        objectmode=False,
        referenced_envs=environments,
    )
