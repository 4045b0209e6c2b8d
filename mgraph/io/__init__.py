"""Graphs and lists from files, and results into files.

A file is hostile until it is checked: nothing that it says reaches compiled code, and no memory is allocated for it,
before that. Whatever is wrong with a file, `read` raises `FormatError`; if it is too large, `MemoryLimitError`.
No result is left half written.

`reading` opens a file and makes a graph of what the reader of its format returns: `edge_list`, `dimacs` and
`matrix_market` take texts, line by line (`lines`, `stream`); `npy` and `npz` take arrays. `saving` writes results.
"""

from .reading import FORMATS, SparseIdsWarning, read, read_list
from .saving import check_output, save

__all__ = ["FORMATS", "SparseIdsWarning", "check_output", "read", "read_list", "save"]
