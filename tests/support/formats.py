"""The table of `docs/files.md`: what each result writes in each format, and why not. The build of the documents writes
it there, and ``python -m tests.support.formats`` prints it.
"""

import inspect
from collections.abc import Iterator

import mgraph
from mgraph.algorithms.command import Command
from mgraph.algorithms.distances.entry import HISTOGRAM_OF_ALL, MEASURED
from mgraph.algorithms.entry import Algorithm
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.results import OF_PAIRS

#: The columns: formats of the same content.
COLUMNS = (
    (".npy",),
    (".npz", ".zarr"),
    (".csv", ".csv.gz", ".parquet"),
    (".graphml", ".graphml.gz", ".gexf", ".gexf.gz"),
)

#: Where the page has the table.
PLACE = "<!-- The table of all results and formats, which the build writes. -->"


def result_of(entry: Algorithm) -> type[mgraph.Result]:
    """Return the class of a call's results, the first one of several."""
    words = inspect.signature(entry.call).return_annotation.strip("'\"")
    found: type[mgraph.Result] = getattr(mgraph, words.partition(" | ")[0])
    return found


def rows() -> Iterator[tuple[str, type[mgraph.Result], Command | None]]:
    """Yield each kind of result: the call in words, the class, and the command, if there is one."""
    for name, entry in ALGORITHMS.items():
        yield f"`{entry.call.__name__}`", result_of(entry), entry.command
        if name == "betweenness":
            yield "`betweenness(edges=True)`", mgraph.EdgeBetweennessResult, entry.command
        if name == "apsp":
            yield "`apsp_batch`", mgraph.ApspBatchResult, None
        if name == "distances":
            yield "`distances(reduce=…)`", result_of(entry), MEASURED
            yield "`distance_histogram`", mgraph.DistanceHistogram, HISTOGRAM_OF_ALL


def cells(result: type[mgraph.Result], command: Command | None) -> Iterator[str]:
    """Yield what each column says of a result; the call and the command must agree."""
    why = {} if command is MEASURED else result.NOT_IN
    assert command is None or command.not_in == why
    row = "pair" if why == OF_PAIRS else result.INDEX
    edges = "the forest's edges" if result is mgraph.SpanningForestResult else f"attributes of {row}s"
    main = "the first measure" if command is MEASURED else f"`{result.ARRAYS[0]}`"
    for column, says in zip(
        COLUMNS, (main, "all arrays", f"a row for each {row}", edges.replace("vertexs", "vertices")), strict=True
    ):
        reasons = {why.get(suffix) for suffix in column}
        assert len(reasons) == 1, f"{result.__name__}: the formats {column} differ"
        reason = reasons.pop()
        yield says if reason is None else f"no: {reason.partition(';')[0]}"


def table() -> str:
    """Return the table in Markdown."""
    heads = ["call", "command", *(", ".join(f"`{suffix}`" for suffix in column) for column in COLUMNS)]
    lines = [heads, ["---"] * len(heads)]
    for call, result, command in rows():
        named = f"`mgraph {command.name}`" if command else "none: it takes many graphs"
        lines.append([call, named, *cells(result, command)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(table())
