"""The command ``mgraph run``, where it has to say how it is used; `mgraph.__main__` runs a script without it."""

import click

from .. import unedited
from .commands import WithExample, main


@main.command(
    "run",
    cls=WithExample,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: mgraph run analysis.py --year 2026",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(script: str, arguments: tuple[str, ...]) -> None:
    """Run a Python script as it stands, and let mgraph run its calls of SciPy's csgraph and of NetworkX.

    Calls that would not gain time stay SciPy's and NetworkX's; the first one must be worth compiling kernels. At the
    end a table on standard error says what ran where, and why. MGRAPH_REPORT=1 in the environment prints it without
    this command.
    """
    unedited.run(script, list(arguments))
