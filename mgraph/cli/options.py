"""Options that commands share."""

import contextlib
import decimal
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from ..arguments import checked_bytes
from ..errors import InputError, printable
from ..io import FORMATS
from .summaries import as_json_text


def options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator that adds all of these, in this order."""

    def add(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return add


def as_one(kind: Any, name: str) -> Callable[[Any], Any]:
    """Return a decorator by which a command gets the options that `kind` has fields for as one argument."""

    def add(function: Any) -> Any:
        @functools.wraps(function)
        def run(**given: Any) -> Any:
            fields = {field: given.pop(field) for field in kind._fields if field in given}
            return function(**given, **{name: kind(**fields)})

        return run

    return add


quiet_option = click.option("--quiet", is_flag=True, help="Print only warnings, errors and what --json prints.")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


class Output(NamedTuple):
    """Where a command saves its result, and how it says what it found, as the options have it."""

    out: Any
    overwrite: bool
    quiet: bool
    as_json: bool

    def say(self, facts: dict[str, Any], words: str) -> None:
        """Print facts, of which ``seconds`` is one, as JSON, or `words` about them."""
        if self.as_json:
            click.echo(as_json_text({**facts, "out": None if self.out is None else str(self.out)}))
        elif not self.quiet:
            saved = "" if self.out is None else f"\nsaved: {printable(str(self.out))}"
            click.echo(f"{words}\ntime: {facts['seconds']:.3g} s{saved}")


#: Where to save and what to print, but for ``--out``, whose help says what a command saves: a command's `output`.
output_options = options(
    as_one(Output, "output"),
    click.option("--overwrite", is_flag=True, help="Replace the output file if there is one."),
    quiet_option,
    json_option,
)


class Bytes(click.ParamType):
    """A number of bytes: 150000000000, 1.5e11, 150GB or 140GiB."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            return checked_bytes("the value" if param is None else max(param.opts, key=len), value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class Count(click.ParamType):
    """An integer: 2000000 or 2e6."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        with contextlib.suppress(ValueError, ArithmeticError):
            number = decimal.Decimal(value)
            if number == number.to_integral_value() and number.adjusted() < _DIGITS_OF_COUNT:
                return int(number)
        self.fail(f"{value!r} is not an integer, such as 2000000 or 2e6", param, ctx)


def method_option(*methods: str) -> Callable[[Any], Any]:
    """Return the option ``--method`` of a command that has these."""
    names = f"{', '.join(('auto', *methods[:-1]))} or {methods[-1]}."
    return click.option("--method", default="auto", metavar="NAME", help=names)


memory_limit_option = click.option(
    "--memory-limit", type=Bytes(), metavar="BYTES", help="What may be taken of each device, e.g. 4GiB."
)

span_option = click.option(
    "--span", type=int, metavar="N", help="Supersteps between two barriers; by default about a second's worth."
)

#: The path or the URL of a file to read, which whoever reads it looks for; "-" is standard input.
INPUT_FILE = click.Path(readable=False)


#: The most digits of a count.
_DIGITS_OF_COUNT = 20

#: The most digits of a column's number.
_DIGITS = 9


class Column(click.ParamType):
    """A column of a table: its name in the header, or its number, from 0."""

    name = "column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        """Return the name or the number."""
        number = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS
        return int(value) if number else str(value)


#: The parameters of options that say how to read a file, but for its direction.
READING = ("format", "n", "weighted", "relabel", "dense", "source_column", "target_column", "weight_column")

_format_option = click.option(
    "--format",
    type=click.Choice([*FORMATS, "parquet"]),
    help="FILE's format; by default found from its suffix or content.",
)

_weights_and_columns = options(
    click.option("--weighted/--unweighted", default=None, help="By default weighted if FILE has weights."),
    click.option("--relabel", is_flag=True, help="Number the ids in use from 0, in ascending order."),
    click.option(
        "--dense",
        type=click.Choice(["adjacency", "distances"]),
        help="What zeros mean in a dense FILE: no edges (adjacency), or edges of weight zero (distances). Needed if "
        "FILE has zeros off its diagonal and no infinity.",
    ),
    click.option(
        "--source-column",
        type=Column(),
        metavar="NAME",
        help="The column of sources where FILE is a table, such as CSV or Parquet, with ids of any kind: a name in its "
        "header or, of a text without one, a number from 0.",
    ),
    click.option("--target-column", type=Column(), metavar="NAME", help="That of targets."),
    click.option(
        "--weight-column",
        type=Column(),
        metavar="NAME",
        help="That of weights; of GraphML, GEXF, GML and JSON an attribute.",
    ),
)

#: How to read a file, but for its number of vertices and its direction.
reading_options = options(_format_option, _weights_and_columns)

#: A graph to read or to generate.
graph_options = options(
    click.argument("files", nargs=-1, metavar="[FILE]...", type=INPUT_FILE),
    click.option(
        "--rmat",
        "scale",
        type=int,
        metavar="SCALE",
        help="Generate a graph of 2^SCALE vertices instead of reading FILE.",
    ),
    _format_option,
    click.option("--n", type=int, metavar="N", help="Number of vertices, where FILE does not say it."),
    click.option("--directed/--undirected", default=None, help="By default as FILE says, else directed."),
    _weights_and_columns,
)

#: A graph to read, to generate, or to find on workers.
input_options = options(
    graph_options,
    click.option(
        "--resident",
        metavar="NAME",
        help="Use the graph that 'mgraph load' or publish() has left on the workers of --scheduler.",
    ),
)

#: A prepared graph in place of one to read.
hierarchy_option = click.option(
    "--hierarchy",
    type=click.Path(path_type=Path),
    metavar="HIERARCHY",
    help="Use the prepared graph that 'mgraph hierarchy' wrote to this file, instead of FILE.",
)

_PEM = click.Path(exists=True, dir_okay=False, path_type=Path)


class Scheduler(NamedTuple):
    """Which scheduler to use, how, and how patiently, as the options have it."""

    scheduler: str | None = None
    scheduler_file: Path | None = None
    worker_timeout: float | None = None
    wait_for_workers: int | None = None
    tls_ca_file: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @property
    def named(self) -> bool:
        """Whether there is one."""
        return self.scheduler is not None or self.scheduler_file is not None


#: The options of a `Scheduler`, a command's `scheduler`.
scheduler_options = options(
    as_one(Scheduler, "scheduler"),
    click.option("--scheduler", metavar="ADDRESS", help="Run on the workers of this Dask scheduler."),
    click.option(
        "--scheduler-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The same, with the address in the file that 'dask scheduler --scheduler-file' wrote.",
    ),
    click.option(
        "--worker-timeout",
        type=float,
        metavar="SECONDS",
        help="How long a worker may be silent before the run ends in an error; by default 60.",
    ),
    click.option("--tls-ca-file", type=_PEM, help="The CA's certificate, if the scheduler uses TLS."),
    click.option("--tls-cert", type=_PEM, help="This client's certificate; needed with --tls-ca-file."),
    click.option("--tls-key", type=_PEM, help="This client's private key, unless --tls-cert's file holds it."),
)

#: How many of the scheduler's workers a command waits for.
wait_option = click.option(
    "--wait-for-workers",
    type=int,
    metavar="N",
    help="Begin once the scheduler has N workers; an error if they have not joined within 10 minutes.",
)

#: How often a command goes on after it has lost a worker.
retries_option = click.option(
    "--retries",
    type=int,
    metavar="N",
    help="How many times to run again on the workers that are left, after one was lost; by default 2.",
)

#: Of calls that write checkpoints: where, how often, and whether to go on from one.
checkpoint_options = options(
    click.option(
        "--checkpoint",
        metavar="FOLDER",
        help="Write what has been computed to this folder, or URL, now and then; mgraph resume FOLDER goes on from it.",
    ),
    click.option("--checkpoint-every", type=float, metavar="SECONDS", help="How often; by default every 10 s or more."),
    click.option("--resume", is_flag=True, help="Go on from the last checkpoint in the folder, if there is one."),
)

#: Which workers a call runs on, and in what memory.
worker_options = options(
    click.option("--workers", type=int, metavar="N", help="Run on N Dask workers of this machine."),
    scheduler_options,
    wait_option,
    retries_option,
    memory_limit_option,
)

run_options = options(
    click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one."),
    worker_options,
    span_option,
    click.option(
        "--out",
        metavar="PATH",
        help="Save the result to a file or URL: its main array (.npy), all arrays and the graph's ids (.npz, .zarr), a "
        "table (.csv, .csv.gz, .parquet), or the graph with values at its vertices (.graphml, .gexf, and these with "
        ".gz).",
    ),
    output_options,
)
