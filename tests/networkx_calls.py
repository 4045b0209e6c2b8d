"""A plugin of pytest for runs of NetworkX's tests: it counts the calls that mgraph's backend really ran.

NetworkX logs each call that it gives to a backend, and each that the backend then declines. The counts are written, by
function, to the file that the variable NETWORKX_CALLS names.
"""

import json
import logging
import os
from collections import Counter
from pathlib import Path

counts = Counter()


class Counting(logging.Handler):
    """Counts calls by what NetworkX logs."""

    def emit(self, record):
        if record.msg.startswith("Using backend"):
            counts[record.args[1]] += 1
        elif record.msg.startswith("Backend '%s' raised"):
            counts[record.args[1]] -= 1


def pytest_configure():
    log = logging.getLogger("networkx.utils.backends")
    log.addHandler(Counting())
    log.setLevel(logging.DEBUG)


def pytest_sessionfinish():
    Path(os.environ["NETWORKX_CALLS"]).write_text(json.dumps(counts))
