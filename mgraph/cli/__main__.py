"""``python -m mgraph.cli``."""

import sys

from . import main

sys.exit(main())
