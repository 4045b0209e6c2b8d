"""The command line as a process has it: ``mgraph`` and ``python -m mgraph``."""

import os
import sys

from .namesake import replaced


def main() -> None:
    """Run a script that is there without importing the commands, and all else by `mgraph.cli`; exit.

    Examples
    --------
    >>> from mgraph.__main__ import main
    >>> main()  # doctest: +SKIP
    """
    if sys.argv[1:2] == ["run"] and os.path.isfile("".join(sys.argv[2:3])) and not replaced():
        from .unedited import run

        run(sys.argv[2], sys.argv[3:])
    else:
        try:
            from .cli import main as command
        except KeyboardInterrupt:
            print("mgraph: interrupted", file=sys.stderr)
            sys.exit(130)
        sys.exit(command())


if __name__ == "__main__":
    main()
