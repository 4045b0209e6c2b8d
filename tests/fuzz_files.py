"""Broken and hostile files: mutations of valid ones, each read in a process of its own under limits.

``python -m tests.fuzz_files --count 100000 --seed 1`` reads that number of files and prints the outcomes. A case is
made from the seed and its number alone: ``--case 4711`` repeats one, ``--keep FOLDER`` keeps the files of failures.

A reader has to return a graph or raise FormatError, MemoryLimitError or AmbiguousZerosError with the file's name, in
10 seconds of processor time and 2 GB of address space. What it accepts has to be what `reference` says: parsers of the
documented formats, a line and a character at a time, that share no code with the readers. What it refuses must not be
valid.
"""

import argparse
import ast
import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import networkx
import numpy as np
import psutil
from scipy import sparse

from mgraph import FormatError, MemoryLimitError
from mgraph.dtypes import MAX_VERTICES
from mgraph.errors import AmbiguousZerosError
from mgraph.io import read, read_list

MEMORY = 2 * 10**9
SECONDS = 10

#: Formats of edges with attributes, and graph6.
ATTRIBUTED = ("graphml", "gexf", "gml", "json", "pajek", "graph6")

#: Those of which no reference tells what is valid: only what is accepted is compared.
LOOSE = ("graphml", "gexf", "gml", "json", "pajek")

#: Files per child process: starting one takes longer than reading a file.
BATCH = 100

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: What follows a word in many mutations.
NUMBERS = (
    *(b"0", b"-1", b"-0", b"+3", b"007", b"1.5", b"1e3", b"1e400", b"-1e400", b"1e-400", b"inf", b"-inf", b"+Infinity"),
    *(b"nan", b"NaN(7)", b"infinit", b"0x10", b"1_0", b"1e", b".", b"-", b"", b"2147483647", b"2147483648", b"3000000"),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616", b"9" * 5000),
    *(b"000000000000000000000000000000000007", b"9" * 400 + b".0", b"1" + b"0" * 25, b"\xd9\xa3", b"1j", b"True"),
)
PIECES = (
    *(b"\0", b"\0" * 9, b"\n", b"\r", b"\r\n", b"\t", b" ", b",", b"#", b"%", b"c", b"a ", b"p ", b"\x0b", b"\x0c"),
    *(
        b"\x1a",
        b"\x1c",
        b"\x85",
        b"\xa0",
        BYTE_ORDER_MARK,
        b"\xff",
        b'"',
        b"'",
        b"\n \n\t\n",
        b"\n  # x\n",
        b"\n\n\n\n",
    ),
    *(
        b"\nc x\n",
        b"\n%x\n",
        b"p sp 3 3\n",
        b"%%MatrixMarket matrix coordinate real general\n",
        b"\x93NUMPY",
        b"PK\x05\x06",
    ),
    *(b" " * 3000, b"\n" * 3000, b"#" * 3000, b"(" * 3000, b"x" * 3000, b"1 2\n" * 500),
)


class Case(NamedTuple):
    """A file to read."""

    format: str
    suffix: str
    options: dict
    data: bytes


class Bad(Exception):
    """The reference refuses the file."""


# The valid files


def texts(rng):
    """Return a valid text of each kind, with its format."""
    n, m = rng.randint(1, 9), rng.randint(0, 12)
    edges = [(rng.randrange(n), rng.randrange(n)) for _ in range(m)]
    weight = rng.choice(
        [lambda: "", lambda: str(rng.randint(-9, 99)), lambda: repr(rng.choice([0.5, -2.0, 1e300, 3.0]))]
    )
    between = rng.choice([" ", "\t", ",", ", ", "   "])
    end = rng.choice(["\n", "\n", "\r\n", " \n"])
    lines = [between.join(filter(None, (str(u), str(v), weight()))) for u, v in edges]
    edge_list = "# an edge list\n" + "".join(line + end for line in lines) + rng.choice(["", "\n \n", "% the end\n"])
    yield "edges", edge_list
    sizes = rng.choice(["", f"% {m} {n} {n}\n"])
    mark = f"% {rng.choice(['sym', 'asym', 'bip'])} {rng.choice(['unweighted', 'positive', 'weighted', 'signed', ''])}"
    yield (
        "edges",
        f"{mark}\n{sizes}" + "".join(f"{u + 1} {v + 1}{rng.choice(['', f' {u - 1}', ' .5 7'])}{end}" for u, v in edges),
    )
    told = ["{}", "{'weight': 3}", "{'weight': 0.5, 'x': '#'}", "{'x': (1, {})}", '{"weight": None}']
    yield "edges", "".join(f"{u}{between}{v}{between}{rng.choice(told)}{end}" for u, v in edges)
    arcs = "".join(f"a {u + 1} {v + 1} {weight() or 1}{end}" for u, v in edges)
    yield "gr", f"c roads\np sp {n} {m}\nc the arcs\n{arcs}"
    yield "gr", f"p tw {n} {m}\n" + "".join(f"{u + 1} {v + 1}\n" for u, v in edges)
    field = rng.choice(["real", "integer", "pattern"])
    symmetry = rng.choice(["general", "symmetric", "skew-symmetric" if field != "pattern" else "general"])
    value = {"real": lambda: f" {rng.choice([0.5, -2.0, 1e300, 3.0])!r}", "integer": lambda: f" {rng.randint(-9, 99)}"}
    entries = "".join(f"{u + 1} {v + 1}{value.get(field, str)()}\n" for u, v in edges)
    yield "mtx", f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% made\n{n} {n} {m}\n{entries}"
    pairs = {(min(u, v), max(u, v)): rng.randint(0, 9) for u, v in edges if u != v}
    fmt = rng.choice(["", "0", "1", "10", "011", "111", "101"])
    if rng.random() < 0.3:
        rows = [[f"{b + 1}" for a, b in edges if a == u] for u in range(n)]
        yield "metis", f"{n} {m} {rng.choice(['', '100'])}\n" + "".join(" ".join(row) + end for row in rows)
    before = (len(fmt) == 3 and fmt[0] == "1") + 2 * (fmt[-2:-1] == "1")
    rows = [
        ["7"] * before
        + [
            f"{a + b - u + 1}" + (f"{between.replace(',', ' ')}{w}" if fmt[-1:] == "1" else "")
            for (a, b), w in pairs.items()
            if u in (a, b)
        ]
        for u in range(n)
    ]
    ncon = " 2" if fmt[-2:-1] == "1" else ""
    yield "metis", f"% metis\n{n} {len(pairs)} {fmt}{ncon}\n" + "".join(" ".join(row) + end for row in rows)
    problem, tag = rng.choice([("edge", "e"), ("col", "e"), ("max", "a")])
    body = "".join(f"{tag} {u + 1} {v + 1}{' 7' if tag == 'a' else ''}{end}" for u, v in edges)
    yield "gr", f"c made\np {problem} {n} {m}\nn 1 s\n{body}"
    yield from attributed(rng, n, edges)
    yield "list", "# a list\n" + "".join(f"{rng.randrange(n)}\n" for _ in range(n))


def attributed(rng, n, edges):
    """Return texts of nodes and of edges with attributes, each with its format."""
    labels = rng.choice([[str(v) for v in range(n)], [f"n{v}" for v in range(n)]])
    lengths = [rng.choice([None, "3", "2.5", "-1"]) for _ in edges]
    ends = [(labels[u], labels[v], length) for (u, v), length in zip(edges, lengths, strict=True)]
    kind, default = rng.choice(["double", "int", "string"]), rng.choice(["", "<default>7</default>"])
    way = rng.choice(["directed", "undirected"])
    nodes = "".join(f'<node id="{label}"/>' for label in labels)
    lines = (
        f'<edge source="{u}" target="{v}">' + ("" if w is None else f'<data key="k">{w}</data>') + "</edge>\n"
        for u, v, w in ends
    )
    inner = rng.choice(["", '<node id="g"><graph edgedefault="undirected"><node id="x"/></graph></node>'])
    yield (
        "graphml",
        f'<graphml xmlns="g"><key id="k" for="edge" attr.name="weight" attr.type="{kind}">{default}</key>'
        f'<graph edgedefault="{way}">{nodes}{inner}\n{"".join(lines)}</graph></graphml>',
    )
    values = '<attvalues><attvalue for="k" value="{}"/></attvalues>'
    lines = (
        f'<edge source="{u}" target="{v}">' + ("" if w is None else values.format(w)) + "</edge>\n" for u, v, w in ends
    )
    yield (
        "gexf",
        f'<gexf xmlns="g"><graph defaultedgetype="{way}"><attributes class="edge"><attribute id="k" title="weight" '
        f'type="{kind}">{default}</attribute></attributes><nodes>{nodes}</nodes><edges>{"".join(lines)}</edges></graph></gexf>',
    )
    once = {(u, v): w for u, v, w in ends if (v, u) <= (u, v)}
    lines = [f'node [ id {v} label "{label}" ]\n' for v, label in enumerate(labels)]
    lines += [
        f"edge [ source {labels.index(u)} target {labels.index(v)} {'' if w is None else f'weight {w}'} ]\n"
        for (u, v), w in once.items()
    ]
    yield "gml", f"graph [\ndirected {int(way == 'directed')}\n{''.join(lines)}]\n"
    links = [{"source": u, "target": v} | ({} if w is None else {"weight": float(w)}) for u, v, w in ends]
    names = [{"id": label} for label in labels]
    yield "json", json.dumps({"directed": way == "directed", "nodes": names, rng.choice(["edges", "links"]): links})
    lines = [f'{v + 1} "{label}"\n' for v, label in enumerate(labels)]
    cut = rng.randint(0, len(edges))
    for part, name in ((slice(cut), "*Arcs"), (slice(cut, None), "*Edges")):
        some = zip(edges[part], lengths[part], strict=True)
        lines += [f"{name}\n", *(f"{u + 1} {v + 1} {'' if w is None else w}\n" for (u, v), w in some)]
    yield "pajek", f"*Vertices {n}\n{''.join(lines)}"
    made = networkx.empty_graph(n)
    made.add_edges_from((u, v) for u, v in edges if u != v)
    yield "graph6", rng.choice([networkx.to_graph6_bytes, networkx.to_sparse6_bytes])(made).decode()


def matrix(rng):
    """Return a sparse matrix, of any of SciPy's formats that can be saved."""
    n = rng.choice([1, 2, 4, 6])
    dense = np.array([[rng.choice([0, 0, 1, 2, 5]) for _ in range(n)] for _ in range(n)])
    dense = dense.astype(rng.choice([np.float64, np.float32, np.int32, np.int64, np.uint8, bool]))
    wanted = rng.choice(["csr", "csc", "coo", "bsr", "dia"])
    return sparse.csr_array(dense).asformat(wanted)


def members(rng):
    """Return the arrays of a saved sparse matrix by name."""
    file = io.BytesIO()
    sparse.save_npz(file, matrix(rng), compressed=False)
    file.seek(0)
    with np.load(file) as arrays:
        return dict(arrays)


def dense(rng):
    """Return a saved distance matrix."""
    n = rng.choice([1, 2, 5])
    array = np.array([[rng.choice([0, 1, 3, 7, np.inf]) for _ in range(n)] for _ in range(n)])
    kind = rng.choice([np.float64, np.float32, np.float16, ">f8", np.int32, np.int16])
    array = np.where(np.isinf(array), 99, array).astype(kind) if np.dtype(kind).kind == "i" else array.astype(kind)
    return saved(np.asfortranarray(array) if rng.random() < 0.3 else array)


def serialized(rng, weighted):
    """Return a serialized graph of GAP."""
    n, m = rng.randint(1, 9), rng.randint(0, 12)
    directed = rng.random() < 0.5
    edges = [(rng.randrange(n), rng.randrange(n), rng.randint(-9, 99)) for _ in range(m)]
    if not directed:
        edges += [(v, u, w) for u, v, w in edges if u != v]

    def rows(edges):
        offsets = [sum(u < v for u, *_ in edges) for v in range(n + 1)]
        numbers = [number for _, v, w in sorted(edges) for number in ((v, w) if weighted else (v,))]
        return np.array(offsets, "<i8").tobytes() + np.array(numbers, "<i4").tobytes()

    turned = rows([(v, u, w) for u, v, w in edges]) if directed else b""
    return bytes([directed]) + np.array([len(edges), n], "<i8").tobytes() + rows(edges) + turned


def saved(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


# Mutations


def flip(rng, data):
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def flip_end(rng, data):
    place = max(0, len(data) - rng.choice([22, 100, 500]))
    return data[:place] + flip(rng, data[place:])


def truncate(rng, data):
    return data[: rng.randrange(len(data) + 1)]


def insert(rng, data):
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice([*PIECES, *NUMBERS, rng.randbytes(rng.randint(1, 9))]) + data[place:]


def append(rng, data):
    return data + rng.choice([*PIECES, rng.randbytes(9), data])


def delete(rng, data):
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place + rng.choice([1, 1, 2, 20]) :]


def repeat(rng, data):
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:last] + data[first:last] + data[last:]


def number(rng, data):
    found = list(re.finditer(rb"[0-9.]+", data))
    if not found:
        return data
    token = rng.choice(found)
    return data[: token.start()] + rng.choice(NUMBERS) + data[token.end() :]


def word(rng, data):
    found = list(re.finditer(rb"\S+", data))
    if not found:
        return data
    one, other = rng.choice(found), rng.choice(found)
    return data[: one.start()] + other[0] + data[one.end() :]


def field(rng, data):
    """Overwrite a few bytes by a number in the encoding of a binary header."""
    width = rng.choice([1, 2, 4, 8])
    value = rng.choice([0, 1, 2**31 - 1, 2**31, 2**63 - 1, 2**64 - 1, rng.randrange(2**64)]) % 2 ** (8 * width)
    place = rng.randrange(len(data) + 1)
    return data[:place] + value.to_bytes(width, "little") + data[place + width :]


def flood(rng, data):
    place = rng.randrange(len(data) + 1)
    line = rng.choice([b"\n", b" \n", b"\t", b"# x\n", b"0", b"\0", b"1 1\n", b"1 "])
    size = 10**6 if line[:1] == b"1" else rng.choice([5, 20]) * 10**6  # edges take the reference its time
    return data[:place] + line * (size // len(line)) + data[place:]


TEXT = (flip, truncate, insert, insert, delete, repeat, number, number, number, word, append)
BINARY = (flip, flip, flip_end, truncate, insert, delete, repeat, field, field, append)

DESCR = (
    *(
        "<f8",
        "<f4",
        ">f8",
        "<i4",
        "<i8",
        "<u8",
        "|b1",
        "|u1",
        "<f2",
        "<f16",
        "<c16",
        "|O",
        "|S3",
        "<U3",
        "|V8",
        "<M8[s]",
    ),
    *("f8,f8", "(2,2)f8", "<f8\\n", "", "f", "?", "i0", "<f9999", "|S9999", "x" * 99, "{'a': 1}", "O", "=i4"),
)
SHAPES = (
    *(
        "()",
        "(0,)",
        "(0, 0)",
        "(1,)",
        "(2,)",
        "(2, 2)",
        "(3, 3)",
        "(4, 4)",
        "(-1, 3)",
        "(1000000, 1000000)",
        "(True, 2)",
    ),
    *(
        "(2L, 2L)",
        "(4294967296, 4294967296)",
        "(99999999999999999999,)",
        "(1.0,)",
        "None",
        "(2,2",
        "((2,), 2)",
        "[2, 2]",
    ),
    *("(" + "1," * 40 + ")", "(" + "-" * 900 + "1,)", "(" * 900, "(2 ** 9,)", "(0, 9223372036854775807)", "(02, 2)"),
)


def header(rng, data):
    """Rewrite the header of a saved array."""
    found = re.match(rb"\x93NUMPY..(..)", data, re.DOTALL)
    if not found:
        return data
    old = data[10 : 10 + int.from_bytes(found[1], "little")].decode("latin-1")
    shape, descr = re.search(r"\([^)]*\)", old), re.search(r"'descr': '([^']*)'", old)
    shape = rng.choice(SHAPES) if rng.random() < 0.5 or not shape else shape[0]
    descr = rng.choice(DESCR) if rng.random() < 0.5 or not descr else descr[1]
    order = rng.choice(["False", "False", "True", "1", "None", "'a'"])
    form = rng.choice(
        [
            "{{'descr': '{0}', 'fortran_order': {1}, 'shape': {2}, }}",
            '{{"shape": {2}, "fortran_order": {1}, "descr": "{0}"}}',
            "{{'descr': '{0}', 'fortran_order': {1}, 'shape': {2}, 'more': 1}}",
            "{{'descr': {0}, 'fortran_order': {1}, 'shape': {2}}}",
            "{{'descr': '{0}', 'descr': '{0}', 'fortran_order': {1}, 'shape': {2}}}",
            "__import__('os').abort()",
        ]
    )
    text = form.format(descr, order, shape).encode("latin-1")
    text += b" " * (-(len(text) + 11) % 64) + rng.choice([b"\n", b"\n", b"", b"\0"])
    version, width = rng.choice([(1, 2), (1, 2), (2, 4), (3, 4), (9, 2)])
    length = len(text) if rng.random() < 0.9 else rng.choice([0, 9, len(text) + 64, 2 ** (8 * width) - 1])
    return b"\x93NUMPY" + bytes([version, 0]) + length.to_bytes(width, "little") + text + data[10 + len(old) :]


def tampered(rng, arrays):
    """Change the arrays of a sparse matrix."""
    name = rng.choice([*arrays, "indptr", "indices", "shape", "format"])
    array = arrays.get(name, np.zeros(1))
    how = rng.randrange(10)
    if how == 0:
        arrays.pop(name, None)
    elif how == 1:
        arrays[name] = np.asarray(rng.choice([3.5, "csr", b"csr", True, [[1, 2], [3, 4]], [], -1, 2**40, "x" * 99]))
    elif how == 2:
        kinds = [np.float64, np.int32, np.int64, np.uint64, np.int8, bool, np.complex128, ">i4", "S3", "U3", "M8[s]"]
        with contextlib.suppress(ValueError, TypeError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[name] = array.astype(rng.choice(kinds))
    elif how == 3:
        arrays[name] = np.concatenate([array.ravel(), array.ravel()[: rng.randint(1, 3)]])
    elif how == 4:
        arrays[name] = array.ravel()[: rng.randrange(array.size + 1)]
    elif how == 5:
        arrays[name] = array.reshape(rng.choice([(-1, 1), (1, -1), (1, 1, -1)]))
    elif how == 6:
        arrays["format"] = np.asarray(
            rng.choice([b"csr", b"csc", b"bsr", b"dia", b"coo", b"lil", "csr", "\U0001f600", b"c\xffr"])
        )
    elif how == 7:
        huge = rng.choice([0, 1, 3, 2**31 - 1, 2**31, 2 * 10**9, 3_000_000, -1, 2**62])
        arrays["shape"] = np.array([huge, rng.choice([huge, huge, 2])])
    elif array.size and array.dtype.kind in "iuf":
        array = array.copy()
        values = [-1, 0, 1, 3, 100, 500_000_000, 2**31 - 1, -(2**31)] + [np.nan, np.inf, -np.inf] * (
            array.dtype.kind == "f"
        )
        with np.errstate(all="ignore"):
            array.reshape(-1)[rng.randrange(array.size)] = np.asarray(rng.choice(values)).astype(array.dtype)
        arrays[name] = array
    return arrays


def archive(rng, arrays):
    """Return a zip archive of arrays, some of them rewritten."""
    file = io.BytesIO()
    how = rng.choice(
        [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED] + [zipfile.ZIP_BZIP2] * (rng.random() < 0.05)
    )
    rewritten = rng.choice([None, None, *arrays])
    with zipfile.ZipFile(file, "w", how) as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a name occurs twice
        for name, array in arrays.items():
            data = saved(array)
            if name == rewritten:
                data = rng.choice([header, header, flip, truncate, append])(rng, data)
            made.writestr(f"{name}.npy", data)
            if rng.random() < 0.02:
                made.writestr(f"{name}.npy", data)
    return file.getvalue()


PACK = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
}


def case(seed: int, index: int) -> Case:
    """Return the file of a number."""
    rng = random.Random(f"{seed}:{index}")
    format = rng.choice(["edges", "edges", "gr", "mtx", "metis", "sg", "wsg", "npz", "npz", "npy", "list", *ATTRIBUTED])
    suffix = rng.choice(["", "", "", ".gz", ".bz2", ".xz"])
    options: dict = {}
    mutations = TEXT
    if format == "npz":
        arrays = members(rng)
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            arrays = tampered(rng, arrays)
        data, mutations = archive(rng, arrays), BINARY
        changes = rng.choice([0, 0, 0, 1])
    elif format == "npy" or (format == "list" and rng.random() < 0.3):
        data, mutations = (
            dense(rng) if format == "npy" else saved(np.arange(rng.randint(0, 9))),
            (*BINARY, header, header),
        )
        changes = rng.choice([0, 1, 1, 2])
    elif format in ("sg", "wsg"):
        data, mutations, changes = serialized(rng, format == "wsg"), BINARY, rng.choice([0, 1, 1, 2])
    else:
        data = rng.choice([text for name, text in texts(rng) if name == format]).encode()
        changes = rng.choice([0, 1, 1, 1, 2, 3])
    if rng.random() < 0.0005:
        mutations = (flood,)
    for _ in range(changes):
        data = rng.choice(mutations)(rng, data)
    if format == "edges":
        options = rng.choice([{}, {}, {"relabel": True}, {"weighted": False}, {"n": 9}])
    elif format == "npy":
        options = rng.choice([{}, {"dense": "distances"}])
    elif format in ("gr", "mtx", "metis", "sg", "wsg", "npz", *ATTRIBUTED):
        options = rng.choice([{}, {}, {"directed": True}, {"weighted": False}])
    data = PACK[suffix](data)
    if suffix and rng.random() < 0.2:
        data = rng.choice(BINARY)(rng, data)
    return Case(format, suffix, options, data)


# The reference


class Expected(NamedTuple):
    """What a file holds: edges as (source, target, weight or None)."""

    n: int
    edges: list[tuple[int, int, float | None]]


def unpacked(data: bytes, suffix: str) -> bytes:
    """Decompress a file of members with zeros between them."""
    if suffix == ".gz" or data.startswith(b"\x1f\x8b"):
        make = lambda: zlib.decompressobj(wbits=31)  # noqa: E731
    elif suffix == ".bz2" or data.startswith(b"BZh"):
        make = bz2.BZ2Decompressor
    elif suffix == ".xz" or data.startswith(b"\xfd7zXZ\x00"):
        make = lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)  # noqa: E731
    else:
        return data
    content = b""
    if not data:
        raise Bad("empty")
    while data:
        member = make()
        try:
            content += member.decompress(data)
        except (zlib.error, lzma.LZMAError, OSError) as error:
            raise Bad(str(error)) from error
        if not member.eof:
            raise Bad("cut off")
        data = member.unused_data.lstrip(b"\0")
    return content


def content_lines(content: bytes, comments: bytes, inline: bool) -> list[bytes]:
    """Return the lines that are not blank, without comments."""
    if set(content) & (set(range(32)) - set(b"\t\r\n") | {127}):
        raise Bad("control character")
    lines = []
    for line in content.split(b"\n"):
        line = line.lstrip(b" \t\r")
        if inline:
            line = re.split(b"[" + comments + b"]", line)[0]
        elif line[:1] and line[:1] in comments:
            continue
        line = line.removesuffix(b"\r").strip(b" \t")
        if b"\r" in line:
            raise Bad("end of line")
        if line:
            lines.append(line)
    return lines


def integer(token: bytes, least: int, most: int) -> int:
    """Return the integer of a token."""
    if not re.fullmatch(rb"[+-]?[0-9]+", token):
        raise Bad("no integer")
    sign, digits = -1 if token.startswith(b"-") else 1, token.lstrip(b"+-").lstrip(b"0") or b"0"
    if len(digits) > 30 or not least <= sign * int(digits) <= most:
        raise Bad("out of range")
    return sign * int(digits)


def weights(tokens: list[bytes], kind: str) -> list[float]:
    """Return numbers: integers if all are and `kind` is not "real"; NaN, -inf and what overflows is refused."""
    floats, integers = [], []
    for token in tokens:
        plain = bool(re.fullmatch(rb"[+-]?[0-9]+", token))
        if plain and kind != "real":
            integers.append(integer(token, -(2**63), 2**63 - 1))
        if kind == "integer":
            if not plain:
                raise Bad("no integer")
            continue
        if re.fullmatch(rb"\+?inf(inity)?", token, re.IGNORECASE):
            floats.append(float("inf"))
            continue
        if not re.fullmatch(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", token, re.IGNORECASE):
            raise Bad("no number")
        floats.append(float(token))
        if abs(floats[-1]) == float("inf"):
            raise Bad("beyond float64")
    return integers if len(integers) == len(tokens) else floats


def split(line: bytes, comma: bool) -> list[bytes]:
    return [token.strip(b" \t") for token in line.split(b",")] if comma else re.split(rb"[ \t]+", line)


def expected_edges(content: bytes, options: dict) -> Expected:
    kinds = rb"unweighted|positive|(multi)?(posweighted|signed|weighted)|dynamic"
    mark = re.match(rb"[ \t]*%[ \t]*(sym|asym|bip)([ \t]+(" + kinds + rb"))?[ \t]*\r?(\n|$)", content)
    if mark is not None:
        return expected_konect(content, content[mark.end() :], mark[1], mark[3] or b"", options)
    lines = content_lines(content, b"#%", True)
    if not lines:
        return Expected(options.get("n", 0), [])
    n = options.get("n")
    for place, line in enumerate(lines[:5] if n is not None else []):
        numbers = split(line, b"," in line)
        counts = [b"%d" % (len(lines) - 1), b"%d" % (len(lines) - 1 - place)]
        if len(numbers) in (2, 3) and all(re.fullmatch(rb"0|[1-9][0-9]{0,17}", number) for number in numbers):
            square = len(numbers) == 3 and numbers[0] == numbers[1] and numbers[2] in counts
            if numbers[0] == b"%d" % n:
                if numbers[1] in counts or square:
                    lines.pop(place)
                break
    if not lines:
        return Expected(n, [])
    ends, *told = re.split(rb"(?<=[ \t,]){", lines[0], maxsplit=1)
    comma, attributes = b"," in ends, bool(told) and options.get("weighted") is not False
    if attributes:
        lines, found = expected_attributes(content, comma)
    rows = [split(line, comma) for line in lines]
    wide = len(rows[0])
    if attributes and wide != 3:
        raise Bad("columns")
    if options.get("weighted") is False:
        if wide < 2 or any(len(row) < 2 for row in rows):
            raise Bad("columns")
        rows, wide = [row[:2] for row in rows], 2
    if wide not in (2, 3) or any(len(row) != wide for row in rows):
        raise Bad("columns")
    limit = 2**63 if options.get("relabel") else MAX_VERTICES if n is None else n
    ends = [[integer(token, 0, limit - 1) for token in row[:2]] for row in rows]
    values = weights([row[2] for row in rows], "") if wide == 3 else [None] * len(rows)
    if attributes and not found:
        values = [None] * len(rows)
    return numbered([(u, v, w) for (u, v), w in zip(ends, values, strict=True)], n, options)


def numbered(edges: list, n: int | None, options: dict) -> Expected:
    """Return edges with their ids numbered from 0, if that is asked for."""
    used = sorted({end for edge in edges for end in edge[:2]})
    if options.get("relabel"):
        ids = {old: new for new, old in enumerate(used)}
        return Expected(len(ids), [(ids[u], ids[v], w) for u, v, w in edges])
    return Expected(n if n is not None else used[-1] + 1 if used else 0, edges)


def expected_attributes(content: bytes, comma: bool) -> tuple[list[bytes], bool]:
    """Return the lines of NetworkX with a weight in the place of the attributes, and whether there is any."""
    rows, found = [], False
    for line in content.split(b"\n"):
        begin = line.find(b"{")
        ends = [place for place in range(len(line)) if line[place] == ord("}")]
        end = max((end for end in ends if line[end + 1 :].lstrip(b" \t\r")[:1] in (b"", b"#", b"%")), default=-1)
        before = line[:begin]
        if (
            begin > 0
            and end > begin
            and b"\r" not in line[begin:end]
            and before[-1:] in (b" ", b"\t", b",")
            and not set(before) & set(b"#%")
        ):
            text = line[begin : end + 1].decode("ascii", "replace").replace("\ufffd", "?")
            alone = re.fullmatch(r"""{['"]weight['"]: *([^\s,:#%'"(){}\[\]]+)}""", text)
            try:
                told = {"weight": alone[1]} if alone else ast.literal_eval(text)
                weight = told.get("weight", 1) if isinstance(told, dict) else text
            except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
                weight = text
            found |= weight != 1 or "weight" in told
            line = before + str("inf" if weight in (None, "None") else weight).encode() + line[end + 1 :]
        rows.append(line)
    return content_lines(b"\n".join(rows), b"#%", True), found


def expected_konect(content: bytes, rest: bytes, format: bytes, kind: bytes, options: dict) -> Expected:
    lines = content_lines(content, b"#%", True)
    if kind == b"dynamic":
        raise Bad("dynamic")
    number = rb"([0-9]{1,18})"
    sizes = re.match(
        rb"[ \t]*%[ \t]*" + number + rb"[ \t]+" + number + rb"([ \t]+" + number + rb")?[ \t]*\r?(\n|$)", rest
    )
    left, right = (int(sizes[2]), int(sizes[4] or sizes[2])) if sizes else (None, None)
    comma = bool(lines) and b"," in lines[0]
    rows = [split(line, comma) for line in lines]
    weighted = bool(rows) and len(rows[0]) > 2 and options.get("weighted") is not False
    weighted = weighted and kind not in (b"unweighted", b"positive")
    if any(len(row) < 2 + weighted for row in rows):
        raise Bad("columns")
    most = MAX_VERTICES if left is None else None
    ends = [(integer(row[0], 1, most or left), integer(row[1], 1, most or right)) for row in rows]
    values = weights([row[2] for row in rows], "") if weighted else [None] * len(rows)
    if left is None:
        left, right = max((u for u, _ in ends), default=0), max((v for _, v in ends), default=0)
    n = left + right if format == b"bip" else max(left, right)
    if n > MAX_VERTICES:
        raise Bad("vertices")
    base = 0 if options.get("relabel") else 1
    between = left if format == b"bip" else 0
    edges = [(u - base, v - base + between, w) for (u, v), w in zip(ends, values, strict=True)]
    if options.get("n", n) < n:
        raise Bad("n")
    found = numbered(edges, options.get("n", n), options)
    return found if format == b"asym" else found._replace(edges=both(found.edges))


def expected_gr(content: bytes, options: dict) -> Expected:
    lines = content_lines(content, b"c", False)
    kinds = rb"p[ \t]+(sp|tw|edge|col|max)[ \t]+([0-9]{1,18})[ \t]+([0-9]{1,18})"
    start = re.fullmatch(kinds, lines[0]) if lines else None
    if start is None or int(start[2]) > MAX_VERTICES:
        raise Bad("p line")
    n, tagged = int(start[2]), start[1] in (b"sp", b"max")
    tag = {b"tw": b"", b"edge": b"e", b"col": b"e"}.get(start[1], b"a")
    rows = [split(line, False) for line in lines[1:]]
    if start[1] not in (b"sp", b"tw"):
        rows = [row for row in rows if row[0][:1] != b"n"]
    if tag:
        if any(row[0] != tag for row in rows):
            raise Bad("tag")
        rows = [row[1:] for row in rows]
    if len(rows) != int(start[3]) or any(len(row) != 2 + tagged for row in rows):
        raise Bad("columns or edges")
    ends = [[integer(token, 1, n) - 1 for token in row[:2]] for row in rows]
    values = weights([row[2] for row in rows], "") if tagged else [None] * len(rows)
    edges = [(u, v, w) for (u, v), w in zip(ends, values, strict=True)]
    return Expected(n, edges if tagged or options.get("directed") else both(edges))


def both(edges: list) -> list:
    """Return edges and, but for loops, their reverses."""
    return edges + [(v, u, w) for u, v, w in edges if u != v]


def exact(value) -> float:
    """Return a number, or that in a text, as an integer if it is one."""
    try:
        return int(value) if isinstance(value, str) else value
    except ValueError:
        return float(value)


def made_of(names: list, edges: list, directed: bool, options: dict) -> Expected:
    """Return edges (source, target, weight, whether it has both directions) between the numbers of names."""
    numbers: dict = {}
    for name in [*names, *(end for edge in edges for end in edge[:2])]:
        numbers.setdefault(name, len(numbers))
    directed = directed or not all(edge[3] for edge in edges)
    found = []
    for source, target, weight, undirected in edges:
        u, v, w = numbers[source], numbers[target], 1 if weight is None else weight
        found.append((u, v, w))
        if undirected and u != v and (directed or not options.get("directed")):
            found.append((v, u, w))
    if all(edge[2] is None for edge in edges):
        found = [(u, v, None) for u, v, _ in found]
    return Expected(len(numbers), found)


def expected_xml(content: bytes, options: dict) -> Expected:
    """Return the edges of GraphML or GEXF from the tree of its elements."""
    root = ElementTree.fromstring(content)
    space, _, kind = root.tag.rpartition("}")
    space = f"{space}}}" if space else ""
    above = {child: parent for parent in root.iter() for child in parent}
    over = lambda element: above[element].tag.removeprefix(space)  # noqa: E731
    keys, default, weighted = {}, None, options.get("weighted") is not False
    for key in root.iter(space + ("key" if kind == "graphml" else "attribute")):
        keys[key.get("id")] = key.get("attr.name" if kind == "graphml" else "title", key.get("id"))
        text = key.find(f"{space}default")
        scope = key.get("for", "all") if kind == "graphml" else above[key].get("class")
        if text is not None and keys[key.get("id")] == "weight" and scope in ("edge", "all"):
            default = exact(text.text) if weighted else None
    edges = []
    for edge in root.iter(f"{space}edge"):
        if over(edge) != ("graph" if kind == "graphml" else "edges"):
            continue
        if kind == "graphml":
            values = [data.text for data in edge.findall(f"{space}data") if keys[data.get("key")] == "weight"]
            graph = above[edge]
            both = {"true": False, "1": False, "false": True, "0": True}.get(
                (edge.get("directed") or "").strip().lower()
            )
            both = graph.get("edgedefault", "undirected") != "directed" if both is None else both
        else:
            parts = edge.findall(f"{space}attvalues/{space}attvalue")
            values = [part.get("value") for part in parts if keys.get(part.get("for"), part.get("for")) == "weight"]
            values = [edge.get("weight")] if edge.get("weight") else values
            both = edge.get("type", root.find(f"{space}graph").get("defaultedgetype", "undirected")) != "directed"
        weight = exact(values[0]) if values and weighted else default
        edges.append((edge.get("source"), edge.get("target"), weight, both))
    way = root.find(f"{space}graph").get("edgedefault" if kind == "graphml" else "defaultedgetype")
    names = [element for element in root.iter() if element.tag in (f"{space}node", f"{space}edge")]
    names = [
        name
        for element in names
        for name in (
            [element.get("id")] if element.tag.endswith("node") else [element.get("source"), element.get("target")]
        )
        if over(element) in ("graph", "nodes", "edges")
    ]
    return made_of(names, edges, way == "directed", options)


def expected_gml(content: bytes, options: dict) -> Expected:
    text = re.sub(r"\bgraph\s*\[", "graph [ multigraph 1", content.decode("latin-1"), count=1)
    text = re.sub(r"(weight [+-]?[0-9]+)([eE])", r"\1.0\2", text)  # without which NetworkX takes the 1 of 1e5 alone
    weighted = options.get("weighted") is not False
    made = networkx.parse_gml(re.split("\r\n?|\n", text), label="id")
    edges = [
        (u, v, exact(data["weight"]) if "weight" in data and weighted else None, not made.is_directed())
        for u, v, data in made.edges(data=True)
    ]
    return made_of(list(made), edges, made.is_directed(), options)


def expected_json(content: bytes, options: dict) -> Expected:
    found = json.loads(content)
    plain = lambda name: tuple(name) if isinstance(name, list) else name  # noqa: E731
    names = [plain(node.get("id", place)) for place, node in enumerate(found["nodes"])]
    directed, weighted = found.get("directed", False), options.get("weighted") is not False
    edges = [
        (
            plain(edge["source"]),
            plain(edge["target"]),
            exact(edge["weight"]) if "weight" in edge and weighted else None,
            not directed,
        )
        for edge in found.get("edges", found.get("links"))
    ]
    return made_of(names, edges, directed, options)


def expected_pajek(content: bytes, options: dict) -> Expected:
    n, section, edges, directed = 0, "", [], False
    for line in content_lines(content, b"%", False):
        fields = line.decode("latin-1").split()
        if line.startswith(b"*"):
            section = re.match(rb"\*([a-z]*)", line.lower())[1].decode()
            n = (
                int(fields[-1] if section == "vertices" and len(fields) == 2 else fields[1])
                if section == "vertices"
                else n
            )
            directed |= section in ("arcs", "arcslist", "matrix")
        elif section in ("arcs", "edges"):
            named = len(fields) > 2 and fields[2].lower() not in ("inf", "infinity", "nan") and fields[2][0].isalpha()
            weighted = len(fields) > 2 and not named and options.get("weighted") is not False
            edges.append((int(fields[0]), int(fields[1]), exact(fields[2]) if weighted else None, section == "edges"))
        elif section != "vertices":
            raise Bad("a section that no file has before it is changed")
    return made_of(list(range(1, n + 1)), edges, directed, options)


def expected_graph6(content: bytes, options: dict) -> Expected:
    lines = [line.strip() for line in content.split(b"\n") if line.strip()]
    if len(lines) != 1:
        raise Bad("graphs")
    text = lines[0].removeprefix(b">>graph6<<").removeprefix(b">>sparse6<<")
    if any(not 63 <= byte <= 126 for byte in text.removeprefix(b":")):
        raise Bad("character")
    number = text.removeprefix(b":")
    size = 1 + 3 * (number[:1] == b"~") + 4 * (number[:2] == b"~~")
    digits = number[{1: 0, 4: 1, 8: 2}[size] : size]
    n = sum((byte - 63) << 6 * place for place, byte in enumerate(reversed(digits)))
    if len(number) < size or n > 10**6:
        raise Bad("vertices")
    made = (networkx.from_sparse6_bytes if text.startswith(b":") else networkx.from_graph6_bytes)(text)
    edges = [(min(u, v), max(u, v), None) for u, v in made.edges()]
    return Expected(n, edges if options.get("directed") else both(edges))


def expected_mtx(content: bytes, options: dict) -> Expected:
    banner, newline, rest = content.partition(b"\n")
    words = re.split("[ \t]+", banner.decode("ascii", "replace").lower().strip(" \t\r"))
    if (
        not newline
        or not re.fullmatch("%%?matrixmarket", words[0])
        or words[1:3] != ["matrix", "coordinate"]
        or len(words) != 5
        or len(banner) > 1022
    ):
        raise Bad("banner")
    _, _, _, field, symmetry = words
    if field not in ("real", "double", "integer", "unsigned-integer", "pattern"):
        raise Bad("field")
    if symmetry not in ("general", "symmetric", "skew-symmetric", "hermitian"):
        raise Bad("symmetry")
    if field == "pattern" and symmetry in ("skew-symmetric", "hermitian"):
        raise Bad("symmetry of a pattern")
    lines = content_lines(rest, b"%", False)
    size = re.fullmatch(rb"([0-9]+)[ \t]+([0-9]+)[ \t]+([0-9]+)", lines[0]) if lines else None
    if size is None:
        raise Bad("size")
    rows, columns, entries = (integer(number, 0, 10**18 - 1) for number in size.groups())
    if rows != columns or rows > MAX_VERTICES or entries != len(lines) - 1:
        raise Bad("size")
    wide = 2 + (field != "pattern")
    tokens = [split(line, False) for line in lines[1:]]
    if any(len(row) != wide for row in tokens):
        raise Bad("columns")
    ends = [[integer(token, 1, rows) - 1 for token in row[:2]] for row in tokens]
    kind = "integer" if "integer" in field else "real"
    values = weights([row[2] for row in tokens], kind) if wide == 3 else [None] * len(ends)
    edges = [(u, v, w) for (u, v), w in zip(ends, values, strict=True)]
    if symmetry == "skew-symmetric":
        if any(w == float("inf") for u, v, w in edges if u != v):
            raise Bad("the opposite of inf")
        if any(isinstance(w, int) and w == -(2**63) for *_, w in edges):
            raise Bad("the opposite of the least integer")
        edges += [(v, u, -w) for u, v, w in edges if u != v]
    elif symmetry != "general":
        edges = both(edges)
    return Expected(rows, edges)


def expected_metis(content: bytes, options: dict) -> Expected:
    if set(content) & (set(range(32)) - set(b"\t\r\n") | {127}):
        raise Bad("control character")
    lines = content.removesuffix(b"\n").split(b"\n")
    lines = [line for line in lines if not line.lstrip(b" \t\r").startswith(b"%")]
    while lines and not lines[0].strip(b" \t\r"):
        lines.pop(0)
    start = lines.pop(0).strip(b" \t\r") if lines else b""
    found = re.fullmatch(rb"([0-9]{1,18})[ \t]+([0-9]{1,18})([ \t]+[01]{1,3}([ \t]+[0-9]{1,9})?)?", start)
    if found is None or int(found[1]) > MAX_VERTICES:
        raise Bad("first line")
    n, m, *rest = start.split()
    n, m, fmt = int(n), int(m), (rest[0] if rest else b"").rjust(3, b"0")
    before = (int(rest[1]) if rest[1:] else 1) * (fmt[1:2] == b"1")
    if fmt[:1] == b"1":
        with contextlib.suppress(Bad):
            return expected_neighbours(lines, n, m, before + 1, fmt[2:] == b"1", "sizes", options)
    kind = "dimacs" if fmt[:1] == b"1" else ""
    return expected_neighbours(lines, n, m, before, fmt[2:] == b"1", kind, options)


def expected_neighbours(lines, n, m, before, weighted, kind, options) -> Expected:
    if not before and len(lines) == n - 1:
        lines = [*lines, b""]
    if len(lines) < n:
        raise Bad("lines")
    edges = []
    for u, line in enumerate(lines):
        tokens = re.split(rb"[ \t\r]+", line.strip(b" \t\r")) if line.strip(b" \t\r") else []
        if any(not re.fullmatch(rb"[0-9]{1,18}", token) for token in tokens):
            raise Bad("no integer")
        if (u >= n and tokens) or (u < n and len(tokens) < before):
            raise Bad("numbers")
        numbers = list(map(int, tokens[before:]))
        if weighted and len(numbers) % 2:
            raise Bad("weight")
        pairs = zip(*[iter(numbers)] * 2, strict=True) if weighted else ((v, None) for v in numbers)
        edges += [(u, v - 1, w) for v, w in pairs]
    loops = [edge for edge in edges if edge[0] == edge[1]]
    counted = kind != "sizes" and len(edges) == m
    if any(not 0 <= v < n for _, v, _ in edges) or (loops and kind != "dimacs" and not counted):
        raise Bad("edges")
    if not counted and len(edges) not in (2 * m, 2 * m - len(loops)):
        raise Bad("edges")
    if options.get("directed"):
        return Expected(n, edges)
    if len(edges) == 2 * m and loops:
        if any(count % 2 for count in Counter(loops).values()):
            raise Bad("loops")
        for loop, count in Counter(loops).items():
            for _ in range(count // 2):
                edges.remove(loop)
    try:
        return Expected(n, symmetric(edges))
    except Bad:
        if counted and options.get("directed") is None:
            return Expected(n, edges)
        raise


def symmetric(edges: list) -> list:
    """Return the edges, if each between two vertices is there in both directions."""
    if Counter((u, v, w) for u, v, w in edges if u != v) != Counter((v, u, w) for u, v, w in edges if u != v):
        raise Bad("one direction")
    return edges


def expected_serialized(content: bytes, options: dict, width: int) -> Expected:
    directed, (m, n) = content[0], np.frombuffer(content[1:17], "<i8").tolist()
    if directed > 1 or m < 0 or not 0 <= n <= MAX_VERTICES:
        raise Bad("header")
    part = 8 * (n + 1) + 4 * width * m
    if len(content) != 17 + part * (1 + directed):
        raise Bad("size")
    offsets = np.frombuffer(content[17 : 17 + 8 * (n + 1)], "<i8").tolist()
    entries = np.frombuffer(content[17 + 8 * (n + 1) : 17 + part], "<i4").reshape(m, width).tolist()
    if offsets[0] != 0 or offsets[-1] != m or any(a > b for a, b in pairwise(offsets)):
        raise Bad("offsets")
    edges = [
        (u, entry[0], entry[1] if width == 2 else None)
        for u, (a, b) in enumerate(pairwise(offsets))
        for entry in entries[a:b]
    ]
    if any(not 0 <= v < n for _, v, _ in edges):
        raise Bad("vertex")
    return Expected(n, edges if directed or options.get("directed") else symmetric(edges))


def expected_npz(content: bytes, options: dict) -> Expected:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        if len(set(names)) < len(names):
            raise Bad("a name twice")

        def array(name: str) -> np.ndarray:
            info = archive.getinfo(f"{name}.npy")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Bad("compression")
            data = archive.read(info)
            if len(data) != info.file_size:
                raise Bad("size")
            return expected_npy(data)

        if "_is_array.npy" in names and (array("_is_array").shape or array("_is_array").dtype != bool):
            raise Bad("_is_array")
        arrays = Lazy(array)
        return expected_matrix(arrays, options.get("weighted") is not False)


class Lazy(dict):
    """Arrays by name, read when they are asked for."""

    def __init__(self, read):
        self.read = read

    def __missing__(self, name):
        self[name] = self.read(name)
        return self[name]


def expected_matrix(arrays: dict[str, np.ndarray], weighted: bool) -> Expected:
    shape, format = arrays["shape"], arrays["format"]
    if shape.dtype.kind not in "iu" or shape.shape != (2,) or format.shape or format.dtype.kind not in "SU":
        raise Bad("shape or format")
    n, columns = shape.tolist()
    format = format.item().decode("ascii") if format.dtype.kind == "S" else format.item()
    if n != columns or not 0 <= n <= MAX_VERTICES:
        raise Bad("shape")
    data = arrays["data"]
    kinds = {"indptr": "iu", "indices": "iu", "row": "iu", "col": "iu", "offsets": "iu", "data": "biuf"}
    used = {"csr": "indptr indices data", "csc": "indptr indices data", "bsr": "indptr indices data"}
    used |= {"coo": "row col data", "dia": "offsets data"}
    for name in used[format].split():
        dimensions = {"bsr": 3, "dia": 2}.get(format, 1) if name == "data" else 1
        if arrays[name].dtype.kind not in kinds[name] or arrays[name].ndim != dimensions:
            raise Bad(f"type or dimensions of {name}")
    lists = {name: arrays[name].tolist() for name in used[format].split()}
    edges = []
    if format in ("csr", "csc", "bsr"):
        high, wide = data.shape[1:] if format == "bsr" else (1, 1)
        if not high or not wide or n % high or n % wide:
            raise Bad("blocks")
        ptr, index, values = lists["indptr"], lists["indices"], lists["data"]
        if len(ptr) != n // high + 1 or ptr[0] != 0 or any(a > b for a, b in pairwise(ptr)):
            raise Bad("indptr")
        if not ptr[-1] == len(index) == len(values):
            raise Bad("lengths")
        for row in range(len(ptr) - 1):
            for at in range(ptr[row], ptr[row + 1]):
                block = values[at] if format == "bsr" else [[values[at]]]
                within = [(row * high + i, index[at] * wide + j, block[i][j]) for i in range(high) for j in range(wide)]
                edges += [edge for edge in within if edge[2] or format != "bsr"]
        if format == "csc":
            edges = [(v, u, w) for u, v, w in edges]
    elif format == "coo":
        if not len(lists["row"]) == len(lists["col"]) == len(lists["data"]):
            raise Bad("lengths")
        edges = list(zip(*(lists[name] for name in ("row", "col", "data")), strict=True))
    else:
        offsets = lists["offsets"]
        if len(offsets) != len(data) or len(set(offsets)) < len(offsets):
            raise Bad("offsets")
        for offset, diagonal in zip(offsets, lists["data"], strict=True):
            for column, value in enumerate(diagonal[:n]):
                if 0 <= column - offset < n and value != 0:
                    edges.append((column - offset, column, value))
    if any(not 0 <= end < n for edge in edges for end in edge[:2]):
        raise Bad("index")
    if data.dtype.kind == "b":
        return Expected(n, [(u, v, None) for u, v, _ in edges])
    if data.dtype.kind == "f" and data.dtype.itemsize > 8:
        raise Bad("type")
    if weighted and any(w != w or w == -np.inf or (w > 2**63 - 1 and data.dtype.kind == "u") for _, _, w in edges):
        raise Bad("weight")
    return Expected(n, edges)


def expected_npy(content: bytes) -> np.ndarray:
    file = io.BytesIO(content)
    array = np.lib.format.read_array(file, allow_pickle=False)
    if file.read(1) or content[6] not in (1, 2) or array.dtype.kind not in "biufSU":
        raise Bad("more than an array of numbers")
    if re.search(rb"(descr).*\1", content[:200]):
        raise Bad("a field twice")
    return array


def reference(case: Case):
    """Return what a file holds, or raise Bad or, from NumPy, anything."""
    content = unpacked(case.data, case.suffix)
    if case.format == "list":
        if content.startswith(b"\x93NUMPY"):
            return expected_npy(content)
        lines = content_lines(content.removeprefix(BYTE_ORDER_MARK), b"#", True)
        return np.array([integer(line, 0, 2**63 - 1) for line in lines], np.int64)
    if case.format == "npy":
        array = expected_npy(content)
        if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.itemsize > 8:
            raise Bad("no distances")
        if array.dtype.kind == "b":
            if case.options:
                raise Bad("no distances")
            return Expected(len(array), [(u, v, None) for u, v in np.argwhere(array).tolist()])
        if array.dtype.kind == "f" and not (array > -np.inf).all():
            raise Bad("NaN or -inf")
        infinity = np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max
        if not case.options and (array[~np.eye(len(array), dtype=bool)] == 0).any() and not (array == infinity).any():
            raise Bad("ambiguous")
        return array
    if case.format in ("sg", "wsg"):
        return expected_serialized(content, case.options, 1 + (case.format == "wsg"))
    readers = {
        "edges": expected_edges,
        "gr": expected_gr,
        "mtx": expected_mtx,
        "metis": expected_metis,
        "npz": expected_npz,
        "graphml": expected_xml,
        "gexf": expected_xml,
        "gml": expected_gml,
        "json": expected_json,
        "pajek": expected_pajek,
        "graph6": expected_graph6,
    }
    return readers[case.format](
        content if case.format == "npz" else content.removeprefix(BYTE_ORDER_MARK), case.options
    )


def disagreement(case: Case, found, expected) -> str:
    """Return how a reader's answer differs from the reference's, or "" if it does not."""
    if isinstance(expected, np.ndarray):
        found = np.asarray(found if case.format == "list" else found.dense)
        same = found.shape == expected.shape and np.array_equal(found, expected)
        return "" if same and found.dtype == expected.dtype.newbyteorder("=") else f"{found} is not {expected}"
    src, dst, weight = found.coo()
    values = [None] * len(src) if weight is None else weight.tolist()
    edges = sorted(zip(src.tolist(), dst.tolist(), values, strict=True), key=repr)
    unweighted = case.options.get("weighted") is False
    wanted = [(u, v, None if unweighted or w is None else w) for u, v, w in expected.edges]
    if weight is None and not unweighted and any(w is not None for *_, w in wanted):
        return "the weights are missing"
    wanted = [(u, v, w) for u, v, w in wanted if w != float("inf")]
    if weight is not None:
        wanted = [(u, v, weight.dtype.type(w).item()) for u, v, w in wanted]
    same = found.n == expected.n and edges == sorted(wanted, key=repr)
    return "" if same else f"n={found.n}, {edges[:9]} is not n={expected.n}, {sorted(wanted, key=repr)[:9]}"


# Running


def outcome(case: Case, path: Path) -> tuple[str, str]:
    """Read a file; return the outcome, and details."""
    path.write_bytes(case.data)
    found, refusal = None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = read_list(path) if case.format == "list" else read(path, case.format, **case.options)
        except MemoryLimitError as error:
            return ("too large", "") if str(path) in str(error) else ("NAMELESS", str(error))
        except (FormatError, AmbiguousZerosError) as error:
            refusal = str(error)
        except Exception:
            return "RAW EXCEPTION", traceback.format_exc()
        signal.setitimer(signal.ITIMER_PROF, 0)  # the reference may take longer
        if refusal is not None and str(path) not in refusal:
            return "NAMELESS", refusal
        if refusal is not None and case.format in LOOSE:
            return "refused", refusal
        try:
            expected = reference(case)
        except Exception as error:
            if refusal is not None:
                return "refused", refusal
            return "ACCEPTED MALFORMED", f"{type(error).__name__}: {error}"
        if refusal is not None:
            known = "looks like a header" in refusal or "blank lines and comments only" in refusal
            known = known or "without the end of a line" in refusal
            return ("refused", refusal) if known else ("REFUSED VALID", refusal)
        differs = disagreement(case, found, expected)
    return ("WRONG", differs) if differs else ("accepted", "")


def batch(seed: int, numbers: list[int], folder: Path) -> Iterator[tuple[int, str, str, int]]:
    """Read files in one child under limits; yield the number of each, its outcome, details, and the peak memory.

    A child that is killed has failed at the first file without an answer, and is the last of this batch.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(ours)
            most = psutil.Process().memory_info().vms + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with open(theirs, "w") as pipe:
                for index in numbers:
                    made = case(seed, index)
                    path = path_of(made, folder)
                    signal.setitimer(signal.ITIMER_PROF, SECONDS)
                    signal.alarm(60 * SECONDS)  # for one that waits
                    what, details = outcome(made, path)
                    path.unlink()
                    print(json.dumps((what, details)), file=pipe, flush=True)
        finally:
            os._exit(0)
    os.close(theirs)
    answered = 0
    with open(ours) as pipe:
        for index, line in zip(numbers, pipe, strict=False):
            answered += 1
            yield index, *json.loads(line), 0
    _, status, usage = os.wait4(child, 0)
    if answered < len(numbers):
        by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        what = "OVER TIME" if by in (signal.SIGPROF, signal.SIGALRM) else "CRASH" if by else "FUZZER FAILED"
        yield numbers[answered], what, f"signal {by}", usage.ru_maxrss * 1024
    else:
        yield -1, "", "", usage.ru_maxrss * 1024


def path_of(made: Case, folder: Path) -> Path:
    ending = "txt" if made.format in ("edges", "list") else made.format
    return folder / f"case.{ending}{made.suffix}"


def main(arguments: list[str] | None = None) -> int:
    """Read files; return 1 if a reader failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="how many files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--case", type=int, help="read this one only")
    parser.add_argument("--keep", type=Path, help="where to keep the files of failures")
    given = parser.parse_args(arguments)
    numbers = list(range(given.first, given.first + given.count)) if given.case is None else [given.case]
    counts: Counter[str] = Counter()
    formats: Counter[str] = Counter()
    most, began, failures = 0, time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        while numbers:
            for index, what, details, peak in batch(given.seed, numbers[:BATCH], Path(folder)):
                most = max(most, peak)
                if not what:
                    continue
                made = case(given.seed, numbers.pop(0))
                if index % 1000 == 999:
                    print(f"{index + 1} after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
                counts[what] += 1
                formats[made.format] += 1
                if what.isupper() or given.case is not None:
                    failures += what.isupper()
                    print(f"{what}: case {index}, {made.format}{made.suffix} {made.options}\n{details}", flush=True)
                    if given.keep is not None:
                        given.keep.mkdir(parents=True, exist_ok=True)
                        (given.keep / f"{index}-{path_of(made, Path()).name}").write_bytes(made.data)
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))
    print("by format: " + ", ".join(f"{name} {count}" for name, count in sorted(formats.items())))
    print(f"peak {most / 1e6:.0f} MB resident, {time.monotonic() - began:.0f} s")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
