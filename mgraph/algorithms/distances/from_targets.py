"""Distances that were found from the targets: where these are few, each is searched from once, against the edges.

The searches return a row for each target. Its columns are the rows of the sources, of which the call keeps what it
wants, some columns at a time on the host.
"""

from dataclasses import replace

import numpy as np

from ... import device as devices
from ...arrays import Array
from .output import Output
from .row_sinks import keeper

#: Sources whose columns are kept at a time.
COLUMNS = 1 << 12


def kept_of_columns(lengths: np.ndarray, starts: np.ndarray, wanted: Output) -> dict[str, Array]:
    """Return what is kept of the sources' distances, by name.

    Parameters
    ----------
    lengths : array, shape (t, k)
        The distances from each source to each of the targets, a row for a target.
    starts : array of int32, shape (k,)
        The sources.
    wanted : Output
        What to keep of their distances; its `targets` are those of the rows.
    """
    (t, k), narrow = lengths.shape, replace(wanted, sparse=False, narrow=True)
    batch = min(k, COLUMNS)
    kept = keeper(narrow, devices.find("cpu"), "cpu", k, t, batch, lengths.dtype, False)
    for top in range(0, k, batch):
        bottom = min(top + batch, k)
        kept.rows(top, bottom)[0][...] = lengths[:, top:bottom].T
        kept.keep(top, bottom, starts[top:bottom])
    return kept.results()
