"""What a device needs of a hierarchy to sweep: it is used where it lies, or sent to workers."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from .. import device as devices
from ..graph import Compressed, Graph
from .lengths import Lengths, on_host
from .placed import OnDevice, placed
from .predecessors import Lasts, last_vertices
from .routes import Labels
from .structure import Structure
from .sweeps import Sweep, sweep_to, sweep_to_all


@dataclass(frozen=True, eq=False)
class Prepared:
    """A hierarchy without its calls.

    Attributes
    ----------
    structure : Structure
        What all weights have in common, on the host.
    lengths : Lengths
        The lengths for a set of weights, where `there` is, or on the host.
    there : OnDevice or None
        The structure on a device; None where it is to be sent.
    by_target : Compressed or None
        The edges by target, where predecessors are to be found from distances.
    lasts : Lasts or None
        Where the paths of all entries end, where predecessors are to be found by entries.
    kept : dict
        Sweeps to all vertices that were made where `there` is.
    labels : Labels or None
        The climbs of all vertices, if they are kept there.
    """

    #: It is sent to a worker once, and stays there as long as the caller has it.
    stays: ClassVar[bool] = True

    structure: Structure
    lengths: Lengths
    there: OnDevice | None = None
    by_target: Compressed | None = None
    lasts: Lasts | None = None
    kept: dict[tuple[str, bool], Sweep] = field(default_factory=dict)
    labels: Labels | None = None

    @cached_property
    def reversed(self) -> "Prepared":
        """Return the hierarchy of the edges reversed, for sweeps."""
        structure, lengths = self.structure, self.lengths
        return replace(
            self,
            structure=structure._replace(upward=structure.downward, downward=structure.upward),
            lengths=lengths._replace(up=lengths.down, down=lengths.up),
        )

    @cached_property
    def with_lasts(self) -> "Prepared":
        """Return the hierarchy with the ends of its entries' paths, for predecessors of lengths whose sums round."""
        return replace(self, lasts=last_vertices(self.structure, on_host(self.lengths)))

    def with_edges(self, graph: Graph) -> "Prepared":
        """Return the hierarchy with the edges of its graph, for predecessors of lengths whose sums are exact."""
        edges = graph.compressed("csc")
        if self.there is None:
            edges = Compressed(*(None if part is None else devices.to_host(part) for part in edges))
        return replace(self, by_target=edges)

    def sweep_to(self, on: OnDevice, ranks: np.ndarray | None, rows: bool) -> Sweep:
        """Return the sweep to some ranks, or to all vertices in the order of their numbers."""
        if ranks is None and on is self.there:
            return sweep_to_all(self.structure, on, self.kept, rows)
        return sweep_to(self.structure, on, self.structure.rank if ranks is None else ranks, rows)

    def on(self, device: devices.Device) -> tuple[OnDevice, Lengths]:
        """Return the structure and the lengths on a device."""
        if self.there is not None and self.there.device.name == device.name:
            return self.there, self.lengths
        lengths = self.lengths
        edges, up = device.asarray(lengths.edges), device.asarray(lengths.up)
        down = up if lengths.down is lengths.up else device.asarray(lengths.down)
        return placed(self.structure, device), lengths._replace(edges=edges, up=up, down=down)
