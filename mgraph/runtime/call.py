"""What every public call does with the options of where and how it runs.

A call takes them as ``**run``, in the form of a `mgraph.runtime.run.Run`, and passes them on as they are. The decorator
`call` gives it the flat signature that ``help`` shows, and makes it again after it has lost a worker.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast, get_args

from ..docstrings import with_common_parts
from ..errors import NegativeCycleError
from ..graph.ids import id_of
from ..vocabulary import unknown_argument
from .program import raise_with_numbers
from .recovery import is_recoverable, recovered
from .run import DEFAULTS

P = ParamSpec("P")
T = TypeVar("T")


def call(function: Callable[P, T]) -> Callable[P, T]:
    """Return a public call, given a function whose last parameter is ``**run: Unpack[Run]``.

    The call is made again after it has lost a worker, turns a MemoryError into a MemoryLimitError with numbers, names a
    vertex on a negative cycle by its id, refuses options that there are not, and has the common parts in its docstring.
    """
    name = function.__name__
    signature = flat_signature(function)
    names, subject = frozenset(signature.parameters), next(iter(signature.parameters))

    @functools.wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> T:
        unknown = options.keys() - names
        if unknown:
            raise unknown_argument(name, min(unknown), names)
        try:
            if is_recoverable(args, options):
                return recovered(function, args, options)
            return function(*args, **options)
        except MemoryError as error:
            raise_with_numbers(name, None, error)
            raise
        except NegativeCycleError as error:
            ids = getattr(args[0] if args else options.get(subject), "ids", None)
            if error.graph is None and ids is not None and not callable(ids):  # a masked array has a method
                raise NegativeCycleError(error.vertex, id=id_of(ids, error.vertex)) from None
            raise

    called.__signature__ = signature  # type: ignore[attr-defined]
    hints = {each.name: each.annotation for each in signature.parameters.values()}
    called.__annotations__ = hints | {"return": signature.return_annotation}
    return with_common_parts(cast(Callable[P, T], called))


def flat_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function with the options of its ``**run`` as keyword-only parameters."""
    signature = inspect.signature(function)
    *own, run = signature.parameters.values()
    [options] = get_args(run.annotation)
    flat = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=kind)
        for name, kind in options.__annotations__.items()
    ]
    return signature.replace(parameters=[*own, *flat])
