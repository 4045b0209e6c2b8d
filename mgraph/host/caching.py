"""What Numba keeps of compiled kernels, when several processes compile at once.

Numba numbers the files of a function's compiled versions by the index that it has just read. Two processes that compile
the function for different types at the same time both take the next number, and the index may then name one's
version where the other's file lies: later calls run code for other types, and end in wrong results or a segmentation
fault. The same happens to who reads the index of a changed source while the old file still lies there. Here
every file gets a name of its own. The worst that is left is a version that the index has lost, which is compiled again.
"""

import uuid

from numba.core.caching import IndexDataCacheFile


def _unique_data_name(self: IndexDataCacheFile, number: int) -> str:
    return str(self._index_name.removesuffix(".nbi")) + f".{uuid.uuid4().hex}.nbc"


IndexDataCacheFile._data_name = _unique_data_name  # type: ignore[method-assign]
