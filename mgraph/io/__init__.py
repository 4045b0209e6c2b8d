"""Graphs and lists from files, and results into files.

A file is hostile until it is checked: before that, none of its content reaches compiled code, and no memory is
allocated for it. For any invalid file `read` raises `FormatError`; for one that is too large, `MemoryLimitError`. No
result is left half written.

`reading` opens a file, finds its format (`formats`) and makes a graph from what the format's reader returns:

- of text, line by line (`lines`, `stream`): `edge_list`, with `konect`, `dimacs`, `matrix_market` and `metis`;
- of arrays, compressed rows and bits: `npy`, `npz`, `gap` and `graph6`;
- with names, and attributes of edges (`named_edges`): `xml_files` for GraphML and GEXF, `node_link` and `pajek`;
- of several files: `graphalytics`;
- by a package: `webgraph`, and `networkx_files` for GML, which writes GraphML and GEXF;
- of tables in text whose columns the caller names: `table`.

`edge_files` makes a source of edges of several files, in sections that workers read. `saving` and `zarr_group` write
results, and `writing` graphs.
"""

from . import parts
from .content import finite_amounts
from .edge_files import EdgeFiles, Found, Request
from .files import absolute, is_pattern, path_of
from .formats import FORMATS
from .networkx_files import save_networkx
from .reading import (
    WASTED_IDS,
    SparseIdsWarning,
    VertexList,
    first_id_warning,
    read,
    read_archive,
    read_files,
    read_list,
    read_saved,
    read_vertices,
)
from .saving import RESULT_FORMATS, TABLES, check_output, replacing, save, save_table, suffix_of
from .table import Named
from .writing import write
from .zarr_group import replacing_zarr, save_group

__all__ = [
    "FORMATS",
    "RESULT_FORMATS",
    "TABLES",
    "WASTED_IDS",
    "EdgeFiles",
    "Found",
    "Named",
    "Request",
    "SparseIdsWarning",
    "VertexList",
    "absolute",
    "check_output",
    "finite_amounts",
    "first_id_warning",
    "is_pattern",
    "parts",
    "path_of",
    "read",
    "read_archive",
    "read_files",
    "read_list",
    "read_saved",
    "read_vertices",
    "replacing",
    "replacing_zarr",
    "save",
    "save_group",
    "save_networkx",
    "save_table",
    "suffix_of",
    "write",
]
