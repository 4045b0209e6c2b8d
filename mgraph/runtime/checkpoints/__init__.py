"""Checkpoints: what a long call has computed, in files, to go on from after a fault.

- `pieces`: what of a shard's state is kept, and where it lies in the whole.
- `resumable`: what a program must offer to be kept.
- `store`: the folder of checkpoints, its files and their format.
- `writing`: a shard copies its pieces and writes them behind the computation, and reads them again.
- `keeping`: when a call writes a checkpoint, and which one it goes on from.
"""

from .keeping import CheckpointRun, Checkpoints, Written, checked_checkpoints, checked_resumable, held, plan_with_copies
from .pieces import Bits, Crossing, NumberRange, Piece, fingerprint_of, fingerprint_of_edges
from .resumable import Resumable, vertices_in_short
from .store import Saved, Store
from .writing import Order, Report, Writer, filled

__all__ = [
    "Bits",
    "CheckpointRun",
    "Checkpoints",
    "Crossing",
    "NumberRange",
    "Order",
    "Piece",
    "Report",
    "Resumable",
    "Saved",
    "Store",
    "Writer",
    "Written",
    "checked_checkpoints",
    "checked_resumable",
    "filled",
    "fingerprint_of",
    "fingerprint_of_edges",
    "held",
    "plan_with_copies",
    "vertices_in_short",
]
