"""The lists of vertices that fell, which shards exchange instead of all distances: how long they are."""

#: Bytes of a shard's distances from which on lists of those that fell are exchanged instead, once the host knows how
#: many there are. Between GPUs that takes some 45 µs, in which 13 MB arrive; between CPU workers a message more.
LISTED_FROM = {"cuda": 1 << 24, "cpu": 1 << 20}


def list_length(n: int, shards: int, itemsize: int, kind: str) -> int:
    """Return the most vertices that a shard sends as a list, which is half as long as its distances; 0 for no lists."""
    if shards == 1 or n // shards * itemsize < LISTED_FROM[kind]:
        return 0
    return n // shards * itemsize // (2 * (itemsize + 4))
