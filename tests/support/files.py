"""Files of graphs: written, packed and refused."""

import bz2
import gzip
import io
import lzma

import pytest

from mgraph.errors import FormatError
from mgraph.io import read

#: What packs bytes, by the suffix of a file.
PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.fixture
def write(tmp_path):
    """A function that writes text or bytes to a file and returns its path."""

    def written(content, name="edges.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def in_memory(write, *arguments):
    """Return the bytes that a function writes to a file."""
    file = io.BytesIO()
    write(file, *arguments)
    return file.getvalue()


def refused(path, *parts, **options):
    """Check that a file is refused, by an error that names it and has these parts."""
    with pytest.raises(FormatError) as caught:
        read(path, **options)
    for part in (str(path), *parts):
        assert part in str(caught.value)
