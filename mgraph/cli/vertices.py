"""Vertices that options name: by numbers, or by ids of the graph, which is read only after the options.

A word of digits is the number of a vertex, unless the graph has this text for an id, such as "007". With ``--ids`` it
is an id: a number if those of the graph are numbers, else the text itself. Any other word is an id. In a file, a line
that begins with ``#`` is a comment unless the graph has it for an id.
"""

import re
from typing import Any

from ..errors import FormatError
from ..io import VertexList

_NUMBER = re.compile(r"[+-]?[0-9]{1,30}", re.ASCII)


def named_vertices(given: Any, ids: Any, by_ids: bool | None) -> Any:
    """Return what an option says as a call takes it; the graph has some `ids`, or None.

    Raises
    ------
    FormatError
        For a file without vertices, and one with a line that is no number if the graph has no ids.
    """
    texts = ids is not None and len(ids) > 0 and isinstance(ids[0], str)
    as_numbers = not by_ids or not texts
    if isinstance(given, VertexList):
        found = _listed(given, ids, as_numbers, texts)
        if not len(found):
            raise FormatError(f"{given.path} holds no vertex: give one a line")
        return found
    if isinstance(given, tuple):
        return [named_vertices(each, ids, by_ids) for each in given]
    if isinstance(given, int):  # the option's default, a vertex
        return ids[given] if by_ids and ids is not None and given < len(ids) else given
    return _vertex(given, as_numbers and not (texts and given in ids.tolist()))


def _listed(given: VertexList, ids: Any, as_numbers: bool, texts: bool) -> Any:
    """Return what a file lists; the graph's ids are `texts`, and digits may be meant `as_numbers`."""
    if as_numbers and not texts:
        try:
            return given.numbers()
        except FormatError:
            if ids is None:
                raise
    known = set(ids.tolist()) if texts else set()
    words = [word for word in given.words() if word in known or not word.startswith("#")]
    return [_vertex(word, as_numbers and word not in known) for word in words]


def _vertex(word: str, as_number: bool) -> str | int:
    return int(word) if as_number and _NUMBER.fullmatch(word) else word
