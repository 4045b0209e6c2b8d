"""Benchmarks: suites that sweep an algorithm over its parameters, and the report of what was measured.

`suite` reads a suite's file and `schema` tells what it may say. An algorithm's call, verifier and work are those
of its entry in the library's registry (`mgraph.algorithms.registry`); `ceilings` has what bounds it. `inputs` makes the
graphs, `peers` calls other libraries, `case` measures one case, `run` goes through all and writes the rows, `report`
draws them. `commands` is the command ``mgraph bench``. Times are taken by `mgraph.measuring`.

A row is a JSON object. Its ``kind`` is ``"case"``, ``"skipped"`` or ``"wrong"``, both with a ``why``, or
``"ceilings"``, what `ceilings.ceilings` returns. What was asked, and where:

- ``suite``, ``algorithm``, ``graph``, ``call``, ``run``: the case, as the suite has it; ``quick``
- ``device``: ``name``, ``kind``, ``model``, ``cores`` and, of workers, the ``count``
- ``versions``, ``commit``, ``date``

What a case has in addition; times are in seconds:

- ``method``: what ran, another library's name; ``called``: that library's call; ``n``, ``m``
- ``seconds``: the median solve, by device events on a GPU, of several sources their mean; ``times``: each; ``spread``:
  the greatest less the least, over the median
- ``call_seconds``, ``first_call_seconds``: the median of the whole calls, and the first, with what is prepared once
- ``processor_seconds``: the median time of all processors in a call, of this process; ``input_seconds``: what it took
  to make or read the input
- ``transfers``: ``load`` and ``collect``, medians, apart from the solve; None of other libraries
- ``phases``: time by operation, in one more run; ``phase_rates``: bytes a second, where a suite tells the traffic
- ``iterations``: supersteps, rounds or levels, None where none are counted
- ``work``, ``unit``, ``rate``: of several sources the harmonic mean (Graph500's rule); ``bytes``: the least traffic
- ``ceiling``, ``fraction``: the rate that the measured ceilings allow, and how much of it was reached
- ``peak_bytes``, ``predicted_bytes``, ``predicted_seconds``: None of another library, on workers, or without a plan
- ``checked``: how the last repetition's result was proved
"""

from pathlib import Path

#: The top of the checkout that this is run from; of an installed package, where it lies.
CHECKOUT = Path(__file__).resolve().parents[2]
