"""Benchmarks: suites that sweep an algorithm over its parameters, and the report of the measurements.

`suite` reads a suite's file and `schema` checks it. An algorithm's call, verifier and work are those of its entry in
the library's registry (`mgraph.algorithms.registry`); `ceilings` has its bounds. `inputs` makes the graphs, `peers`
calls other libraries, `case` measures one case, `kernels` says which kernels it ran, `run` goes through all and writes
the rows, `report` draws them. `commands` is the command ``mgraph bench``. Times are taken by `mgraph.measuring`.

`graph500` runs that benchmark, a command too. Programs of their own, by ``python -m``, measure what suites do not:
`by_shards` inputs that no device holds, `resident` graphs that stay on workers, `building` a graph on a CPU, and
`hierarchies`.

A row is a JSON object. Its ``kind`` is ``"case"``, ``"skipped"`` or ``"wrong"``, both with a ``why``, or
``"ceilings"``, the result of `ceilings.ceilings`. The request, and where it ran:

- ``suite``, ``algorithm``, ``graph``, ``call``, ``run``: the case, as the suite has it; ``quick``
- ``device``: ``name``, ``kind``, ``model``, ``cores`` and, of workers, the ``count``
- ``versions``, ``commit``, ``date``

Further fields of a case; times are in seconds:

- ``method``: the method that ran, or another library's name; ``called``: that library's call; ``n``, ``m``
- ``seconds``: the median solve, by device events on a GPU, of several sources their mean; ``times``: each; ``spread``:
  the range over the median
- ``call_seconds``, ``first_call_seconds``: the median of the whole calls, and the first, with one-time preparation
- ``processor_seconds``: the median time of all processors in a call, of this process; ``input_seconds``: the time
  to generate or read the input
- ``transfers``: ``load`` and ``collect``, medians, apart from the solve; None of other libraries
- ``phases``: time by operation, in one more run; ``phase_rates``: bytes a second, if the suite gives the traffic as
  a study counts it; ``moved_rates``: the same as this project counts it
- ``rounds``: the time of each call of an operation that was called several times
- ``kernels``: a digest of the source of each family of kernels that ran (`kernels`), on workers of all families
- ``iterations``: supersteps, rounds or levels, None if they are not counted
- ``work``, ``unit``, ``rate``: of several sources the harmonic mean (Graph500's rule); ``bytes``: the least traffic
- ``ceiling``, ``fraction``: the rate that the measured ceilings allow, and the fraction of it that was reached
- ``peak_bytes``, ``predicted_bytes``, ``predicted_seconds``: None of another library, on workers, or without a plan
- ``checked``: how the last repetition's result was verified
"""

from pathlib import Path

#: The top of the checkout that this is run from; of an installed package, its folder.
CHECKOUT = Path(__file__).resolve().parents[2]
