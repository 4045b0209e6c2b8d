"""Numbers from text, one edge or list element per line: every line is checked, and errors name the first bad one.

Of a long text, blocks of plain lines are parsed by a kernel, on all cores (`take`). Any other block is parsed by
NumPy's `loadtxt`. Every check holds or fails for a line by itself, so the bad line is found by bisecting the block that
failed. `loadtxt` counts some letters beyond ASCII as blanks, reads 1e400 as infinity and, as a float, an integer beyond
int64: these are refused here.
"""

import ast
import re
import warnings
from io import BytesIO
from pathlib import Path

import numpy as np

from .. import device as devices
from ..dtypes import MAX_VERTICES
from ..errors import ArgumentValue, FormatError, Words
from ..kernels import text as text_kernels
from ..kernels.text import Columns, Grammar
from .content import FINITE, are_amounts
from .stream import require

#: A table that replaces each byte beyond ASCII.
_ASCII = bytes(range(128)) + b"?" * 128

#: Blank lines, and blanks at the beginning of a line.
_LEADING = re.compile(rb"\n[ \t\r\n]+")

#: Bytes of text from which the kernel reads it. Less is read before Numba has loaded, or compiled, the kernel.
PLAIN = 1 << 26

#: Parts of a block for each thread.
PARTS_A_THREAD = 2

#: A line of an edge with attributes: the ends, and the dictionary.
_ATTRIBUTES = re.compile(rb"^([^#%{\n]*[ \t,])(\{[^\r\n]*\})(?=[ \t\r]*(?:$|[#%]))", re.MULTILINE)

#: A dictionary without attributes, or with a weight alone.
_WEIGHT_ALONE = re.compile(rb"\{(?:['\"]weight['\"]: *([^\s,:#%'\"(){}\[\]]+))?\}")

#: What the columns of an edge's ends are often called.
_ENDS = (("from", "to"), ("source", "target"), ("src", "dst"), ("origin", "destination"), ("start", "end"), ("u", "v"))

#: The most characters of any other dictionary.
_LONGEST = 1 << 12

_INFINITY = re.compile(rb"[\s,]\+?inf(?:inity)?(?=[\s,]|$)", re.IGNORECASE)
_LONG_INTEGER = re.compile(rb"(?<![^\s,])[+-]?[0-9]{19,}(?=[\s,]|$)")

#: Bytes per edge that sorting a graph takes, in addition to the edges as read (`mgraph.graph.check_memory`).
_BYTES_AN_EDGE = 40


class Lines:
    """The layout of the lines of one text, the conditions on each line, and the parsed numbers.

    Parameters
    ----------
    path : path
        The file, for messages.
    ids : int
        Columns of ids a line: 2, or 1 for the elements of a list.
    weights : tuple of type
        The types to try for the last column, block by block; empty without such a column.
    comments : bytes
        The characters that begin a comment.
    inline : bool
        Whether a comment may follow an edge in its line.
    delimiter : {",", None}
        What separates columns; None for blanks.
    tag : bytes
        The letter that every edge begins with; empty if there is none.
    cut : bool
        Whether columns beyond those wanted are ignored.
    attributes : bool
        Whether the last column is a dictionary of attributes, as NetworkX writes it, one of which may be the weight.
    base, limit : int
        The first id, and the number of possible ids.
    right : int, optional
        The number of possible ids in the second column, if it is another one.
    noun, wanted : str
        The word for an id in messages, and their description of a valid line.
    expected : int
        The bytes of all text that is being read, as far as they are known.
    """

    def __init__(
        self,
        path: Path,
        *,
        ids: int = 2,
        weights: tuple[type, ...] = (),
        comments: bytes = b"#%",
        inline: bool = True,
        delimiter: str | None = None,
        tag: bytes = b"",
        cut: bool = False,
        attributes: bool = False,
        base: int = 0,
        limit: int,
        right: int | None = None,
        noun: str = "vertex id",
        wanted: str,
        expected: int = 0,
    ) -> None:
        self.path = path
        self.ids = ids
        self.kinds = weights
        self.columns = ids + bool(weights)
        self.delimiter = delimiter
        self.tag = tag
        self.cut = cut
        self.attributes = attributes
        self.base = base
        self.limits = limit, limit if right is None else right
        self.limit = max(self.limits)
        self.noun = noun
        self.wanted = wanted
        self._comments = comments
        self._inline = inline
        self._bytes, self._expected = 0, expected
        self._comment = re.compile(rb"%b[%b][^\n]*" % (b"" if inline else rb"\n", comments))
        self._parts: list[list[np.ndarray]] = []
        self._count = 0
        self._has_weights = not attributes

    def __len__(self) -> int:
        return self._count

    def take(self, block: bytes) -> int:
        """Parse a block of plain lines of a long text, and keep its numbers.

        Returns its number of lines, or -1 if it is no such block.

        Raises
        ------
        MemoryLimitError
            If the edges so far are more than can be sorted.
        """
        self._bytes += len(block)
        if max(self._bytes, self._expected) < PLAIN or self.ids != 2 or self.attributes:
            return -1
        kernels = text_kernels.on(devices.find("cpu"))
        text, parts = np.frombuffer(block, np.uint8), kernels.threads() * PARTS_A_THREAD
        cuts = np.array([0, *(1 + block.rfind(b"\n", 0, len(block) * part // parts) for part in range(1, parts + 1))])
        cuts[-1] = len(block)
        room = cuts // (2 * self.columns) + np.arange(parts + 1)  # an id, and what ends it, are two bytes or more
        weighted = room[-1] if self.kinds else 0
        real = np.empty(weighted)
        dtype = np.int32 if self.limit <= MAX_VERTICES else np.int64
        src, dst = np.empty((2, room[-1]), dtype)
        to = Columns(src, dst, np.empty(weighted, np.int64), real, real.view(np.uint64))
        comment, *other = self._comments
        grammar = Grammar(
            comma=self.delimiter is not None,
            weighted=bool(self.kinds),
            cut=self.cut,
            inline=self._inline,
            tag=ord(self.tag) if self.tag else 0,
            comment=comment,
            other=other[0] if other else comment,
            base=self.base,
            limit=self.limit if self.limit < 2**63 else 2**63 - 1,
        )
        found = np.empty((parts, 3), np.int64)
        kernels.parse(text, cuts, room[:-1], grammar, to, found)
        counts, floats, ends = found.T
        if not (counts > 0).any() or (counts < 0).any():
            return -1
        columns = [src, dst]
        if self.kinds:
            whole = self.kinds[0] is np.int64 and not floats.any()
            if not whole and np.float64 not in self.kinds:
                return -1
            columns.append(to.whole if whole else real)
        ranges = list(zip(room.tolist(), counts.tolist(), strict=False))
        columns = [np.concatenate([column[at : at + count] for at, count in ranges]) for column in columns]
        if any((ends >= limit).any() for ends, limit in zip(columns, self.limits, strict=False) if limit < self.limit):
            return -1
        self._keep(columns)
        return int(ends.sum())

    def add(self, line: int, block: bytes) -> None:
        """Parse a block whose first line has the number `line`, and keep its numbers.

        Raises
        ------
        FormatError
            For the first line that is wrong.
        MemoryLimitError
            If the edges so far are more than can be sorted.
        """
        try:
            part = self._parse(block)
        except ValueError as error:
            offset, text = self._first_bad(block)
            words = self._complaint(text, self._is_header(block, offset))
            raise FormatError(f"{self.path}, line {line + offset}: ", *words) from error
        self._keep(part)

    def _keep(self, part: list[np.ndarray]) -> None:
        self._parts.append(part)
        self._count += len(part[0])
        require(self.path, _BYTES_AN_EDGE * self._count, f"a file of at least {self._count:,} lines with numbers")

    def arrays(self) -> list[np.ndarray]:
        """Return the columns of all blocks, each an array, freeing the blocks."""
        arrays = []
        for column in range(self.columns):
            arrays.append(np.concatenate([part[column] for part in self._parts]))
            for part in self._parts:
                part[column] = part[column][:0].copy()
        return arrays

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return sources, targets and weights of all blocks, freeing these; no weights if no attribute was one."""
        src, dst, *weights = self.arrays()
        return src, dst, weights[0] if weights and self._has_weights else None

    def _parse(self, block: bytes) -> list[np.ndarray]:
        if not block.isascii():
            block = block.translate(_ASCII)
        block = _LEADING.sub(b"\n", block).lstrip()
        if self.attributes:
            block = self._with_weights(block)
        if any(character in block for character in self._comments):
            block = self._comment.sub(b"", b"\n" + block)
        rows = self._rows(block)
        if self.tag and not (rows["tag"] == self.tag).all():
            raise ValueError("tag")
        columns = []
        for name, limit in list(zip(("src", "dst"), self.limits, strict=True))[: self.ids]:
            ids = rows[name] - self.base
            if len(ids) and (int(rows[name].min()) < self.base or int(ids.max()) >= limit):
                raise ValueError("id")
            columns.append(ids.astype(np.int32 if self.limit <= MAX_VERTICES else np.int64))
        if self.kinds:
            columns.append(np.ascontiguousarray(rows["weight"]))
            self._check_weights(columns[-1], block)
        return columns

    def _with_weights(self, block: bytes) -> bytes:
        """Return a block whose dictionaries of attributes are replaced by the weights in them; those of others stay."""

        def replaced(found: re.Match[bytes]) -> bytes:
            weight = _weight_in(found[2])
            self._has_weights |= weight not in (b"", None)
            return found[0] if weight is None else found[1] + (weight or b"1")

        return _ATTRIBUTES.sub(replaced, block)

    def _rows(self, block: bytes) -> np.ndarray:
        fields: list[tuple[str, type | str]] = [(name, np.int64) for name in ("src", "dst")[: self.ids]]
        if self.tag:
            fields.insert(0, ("tag", "S2"))
        tried = [[*fields, ("weight", kind)] for kind in self.kinds] or [fields]
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # NumPy before 2.4 reads "1.5" as the integer 1
            warnings.filterwarnings("ignore", "loadtxt: input contained no data")
            for columns in tried:
                try:
                    return np.loadtxt(
                        BytesIO(block),
                        dtype=columns,
                        comments=None,
                        delimiter=self.delimiter,
                        usecols=tuple(range(self.columns)) if self.cut else None,
                        ndmin=1,
                    )
                except (ValueError, OverflowError, DeprecationWarning):
                    pass
        raise ValueError("unreadable")

    def _check_weights(self, weights: np.ndarray, block: bytes) -> None:
        """Raise for NaN and -inf, for numbers beyond float64, and for integers beyond int64 where integers count."""
        if weights.dtype.kind != "f":
            return
        if not (weights > -np.inf).all():
            raise ValueError("weight")
        if are_amounts() and np.isinf(weights).any():
            raise ValueError("infinite")
        if (np.abs(weights) < 2.0**63).all():
            return
        if np.count_nonzero(np.isinf(weights)) != len(_INFINITY.findall(block)):
            raise ValueError("beyond float64")
        if np.int64 in self.kinds and not all(_in_int64(found) for found in _LONG_INTEGER.findall(block)):
            raise ValueError("beyond int64")

    def _first_bad(self, block: bytes) -> tuple[int, str]:
        lines = block.split(b"\n")
        low, high = 0, len(lines)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                self._parse(b"\n".join(lines[low:middle]))
                low = middle
            except ValueError:
                high = middle
        return low, lines[low].decode("utf-8", "replace")

    def _is_header(self, block: bytes, offset: int) -> bool:
        """Return whether no edge stands before a bad line, and one follows it."""
        lines = [self._comment.sub(b"", b"\n" + line).strip() for line in block.split(b"\n")]
        following = next((line for line in lines[offset + 1 :] if line), b"")
        if self._count or any(lines[:offset]) or not following:
            return False
        try:
            self._parse(following)
        except ValueError:
            return False
        return True

    def _complaint(self, text: str, header: bool) -> Words:
        """Return what is wrong with a line, by the rules of `_parse`; it may be a `header`."""
        if "\r" in text.removesuffix("\r").lstrip():
            return ("it holds a carriage return: end lines with a newline",)
        given, text = text, self._comment.sub(b"", b"\n" + text.strip().encode()).decode().strip()
        shown = _shortened(text or given)
        if self.attributes:
            text = self._with_weights(text.encode()).decode()
            if "{" in text:
                return (f"expected attributes such as {{'weight': 3.0}}, the weight a number, got {shown}",)
        fields = [field.strip() for field in text.split(self.delimiter)] or [""]
        if self.tag and fields[0] == "p":
            return (f"{shown} is a second 'p' line",)
        if self.tag and fields.pop(0) != self.tag.decode():
            return (f"expected an edge, got {shown}: {self.wanted}",)
        if len(fields) != self.columns and not (self.cut and len(fields) > self.columns):
            if fields[:1] == ["p"]:
                return (f"{shown} is a second 'p' line",)
            return (f"{shown} has {len(fields)} columns of numbers, not {self.columns}: {self.wanted}",)
        for field, limit in zip(fields[: self.ids], self.limits, strict=False):
            value = _value(field)
            if value is None:
                advice = self._advice(header, fields)
                return f"expected an integer {self.noun}, got {_shortened(field)} in {shown}", *advice
            if value < self.base:
                return (f"the {self.noun} {field[:60]} in {shown} is below {self.base}, the first of this format",)
            if value - self.base >= limit:
                return f"the {self.noun} {field[:60]} in {shown} ", *self._too_large(limit)
        if self.kinds:
            weight = fields[self.ids]
            if _value(weight) is not None and np.int64 in self.kinds:
                return (f"the weight {weight[:60]} in {shown} is beyond int64: write it as a float",)
            if self.kinds == (np.int64,):
                return (f"expected an integer weight, got {_shortened(weight)} in {shown}",)
            if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", weight, re.IGNORECASE):
                return (f"the weight {weight[:60]} in {shown} is beyond float64",)
            if are_amounts():
                return (f"expected an amount, a number, got {_shortened(weight)} in {shown}: {FINITE}",)
            ignored = () if weight else ("; ", ArgumentValue("weighted", False), " ignores the column")
            return f"expected a weight, a number or inf for 'no edge', got {_shortened(weight)} in {shown}", *ignored
        return (f"{shown} cannot be read: {self.wanted}",)

    def _advice(self, header: bool, fields: list[str]) -> Words:
        """Return what to do about a line whose ids are no integers."""
        columns = _columns_of(fields)
        if header:
            if b"#" not in self._comments:
                return ()
            named = (", or name its columns by ", *columns) if self.ids == 2 else ()
            return "; if the line is a header, put a '#' before it", *named
        if self.ids != 2 or self.tag or self.base:
            return ()
        if self.attributes:
            return ("; Graph.from_networkx(networkx.read_edgelist(path)) reads nodes of any kind",)
        return "; ids of any kind are read by ", *columns, ", columns by name or by number from 0"

    def _too_large(self, limit: int) -> Words:
        if limit > MAX_VERTICES:
            return ("is beyond int64",)
        if limit == MAX_VERTICES:
            return "is beyond int32: ", ArgumentValue("relabel", True), " numbers the ids in use from 0"
        if self.base:
            return (f"is above {limit}, the number of vertices that the file says it has",)
        return "is not below ", ArgumentValue("n", limit)


def _weight_in(attributes: bytes) -> bytes | None:
    """Return the weight in a dictionary of attributes, empty if there is none; None if it is not a dictionary.

    A weight that is None stands for no edge, as in NetworkX.
    """
    plain = _WEIGHT_ALONE.fullmatch(attributes)
    if plain is not None:
        return b"inf" if plain[1] == b"None" else plain[1] or b""
    try:
        found = ast.literal_eval(attributes.decode()) if len(attributes) <= _LONGEST else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    if "weight" not in found:
        return b""
    weight = found["weight"]
    if weight is None:
        return b"inf"
    return repr(weight).encode() if type(weight) in (int, float) else None


def _columns_of(fields: list[str]) -> Words:
    """Return the arguments that name the columns of edges, with the names of a header that has usual ones."""
    names = {field.lower(): field for field in fields}
    source, target = next((pair for pair in _ENDS if set(pair) <= set(names)), (None, None))
    if source is None or target is None:
        return ArgumentValue("source"), " and ", ArgumentValue("target")
    ends = ArgumentValue("source", names.pop(source)), ArgumentValue("target", names.pop(target))
    if not names:
        return ends[0], " and ", ends[1]
    weight = ArgumentValue("weight", *names.values()) if len(names) == 1 else ArgumentValue("weight")
    return ends[0], ", ", ends[1], " and ", weight


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _value(field: str) -> float | int | None:
    """Return the integer that a field holds, an infinity for one of many digits, None if it holds none."""
    if not re.fullmatch(r"[+-]?[0-9]+", field):
        return None
    digits = field.lstrip("+-").lstrip("0")
    if len(digits) > 40:  # Python refuses to convert too many
        return -np.inf if field[0] == "-" else np.inf
    return -int(digits or "0") if field[0] == "-" else int(digits or "0")


def _in_int64(token: bytes) -> bool:
    value = _value(token.decode())
    return value is not None and -(2**63) <= value < 2**63
