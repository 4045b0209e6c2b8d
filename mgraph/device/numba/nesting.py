"""Kernels that other kernels call, compiled as parts of their callers only.

Numba compiles a function that another one calls as if Python called it too: with wrappers for Python and for C, with
all optimisations, and to machine code. Then it links the function's code into that of its caller, and optimises it once
more; a function three calls below the one that Python calls is optimised four times. Here a part has no wrapper and is
left as it is until the code of the outermost caller, which holds all of it, is optimised.
"""

from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature


class _PartLibrary(JITCodeLibrary):
    """The code of a part, which is for linking only: it is neither optimised nor made into machine code."""

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(_FunctionCompiler):
    """Compiles parts."""

    def _compile_core(self, args, return_type):
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        context = self.targetdescr.target_context
        library = _PartLibrary(context.codegen(), self.py_func.__qualname__)
        result = compiler.compile_extra(
            self.targetdescr.typing_context,
            context,
            self.py_func,
            args,
            return_type,
            flags,
            self.locals,
            library=library,
            pipeline_class=self.pipeline_class,
        )
        context.insert_user_function(result.fndesc, result.fndesc, [library])
        return result


class _KernelCompiler(_FunctionCompiler):
    """Compiles kernels that Python calls, without the wrapper for C, which nothing calls."""

    def _customize_flags(self, flags):
        flags.no_cfunc_wrapper = True
        return flags

    def _compile_core(self, args, return_type):
        result = super()._compile_core(args, return_type)
        codegen = result.library.codegen
        for environment in result._find_referenced_environments():  # those of the parts
            codegen.set_env(environment.env_name, environment)
        return result


class _Part(CPUDispatcher):
    """A kernel as other kernels see it."""

    def __init__(self, function, options):
        super().__init__(function, targetoptions=options)
        self._compiler = _PartCompiler(function, self.targetdescr, options, {}, compiler.Compiler)

    def add_overload(self, cres):
        """Enter compiled code; there is none that Python could call."""
        self.overloads[tuple(cres.signature.args)] = cres

    def get_overload(self, sig):
        """Return what Numba has entered the compiled code under."""
        return self.overloads[tuple(normalize_signature(sig)[0])].fndesc


class Kernel(CPUDispatcher):
    """A function that Numba compiles for each type of its arguments, when it is called."""

    def __init__(self, py_func, locals=None, targetoptions=None, pipeline_class=compiler.Compiler):
        super().__init__(py_func, locals, targetoptions, pipeline_class)
        self._compiler = _KernelCompiler(py_func, self.targetdescr, targetoptions, locals or {}, pipeline_class)
        self._part = _Part(py_func, targetoptions)

    def get_call_template(self, args, kws):
        """Return how kernels that call this one see it."""
        return self._part.get_call_template(args, kws)

    def get_overload(self, sig):
        """Return what Numba has entered the code for a signature under, for callers that are compiled."""
        return self._part.get_overload(sig)

    def _reset_overloads(self):
        super()._reset_overloads()
        self._part._reset_overloads()
