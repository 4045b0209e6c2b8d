"""Tensors as other libraries have them."""

import numpy as np


class Tensor:
    """An array that speaks DLPack alone, and may lie on a device of any kind."""

    def __init__(self, values, kind=None):
        self._values, self._kind = values if hasattr(values, "__dlpack__") else np.asarray(values), kind

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__() if self._kind is None else (self._kind, 0)
