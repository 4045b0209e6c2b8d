"""The command line: ``mgraph COMMAND``, each command a call of the library.

Results go to standard output, everything else to standard error. Exit codes: 0 for success, 2 for arguments that
cannot be used, an output file that exists and too little memory, 130 after Ctrl-C, 143 after SIGTERM, 1 for any other
failure.
"""

import sys

from .. import namesake

# Another distribution's package lacks what the modules below import from this one.
if _replaced := namesake.replaced():
    sys.exit(f"mgraph: error: {_replaced}")

from .commands import Command as Command
from .commands import main as main
