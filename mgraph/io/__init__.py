"""Graphs and lists from files, and results into files.

A file is hostile until it is checked: before that, none of its content reaches compiled code, and no memory is
allocated for it. For any invalid file `read` raises `FormatError`; for one that is too large, `MemoryLimitError`. No
result is left half written.

`reading` opens a file and makes a graph from the output of its format's reader: `edge_list`, `dimacs` and
`matrix_market` read text, line by line (`lines`, `stream`), and so does `metis`; `npy` and `npz` read arrays, and `gap`
reads compressed rows, as `webgraph` does by a package; `networkx_files` reads and
writes GraphML and GEXF; `table` reads tables in text whose columns the caller names. `edge_files` makes a source of
edges of several files, in sections that workers read. `saving` and
`zarr_group` write results, and `writing` graphs.
"""

from . import parts
from .edge_files import EdgeFiles, Found, Request
from .files import absolute, is_pattern, path_of
from .networkx_files import save_networkx
from .reading import FORMATS, WASTED_IDS, SparseIdsWarning, read, read_archive, read_files, read_list
from .saving import check_output, replacing, save
from .table import Named
from .writing import write
from .zarr_group import save_group

__all__ = [
    "FORMATS",
    "WASTED_IDS",
    "EdgeFiles",
    "Found",
    "Named",
    "Request",
    "SparseIdsWarning",
    "absolute",
    "check_output",
    "is_pattern",
    "parts",
    "path_of",
    "read",
    "read_archive",
    "read_files",
    "read_list",
    "replacing",
    "save",
    "save_group",
    "save_networkx",
    "write",
]
