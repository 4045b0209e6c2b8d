"""Hierarchies: graphs whose vertices are eliminated once, so that later distances take a climb and a sweep.

Sources: customizable contraction hierarchies (Dibbelt, Strasser and Wagner, 2016), whose sweep for many sources is that
of PHAST (Delling, Goldberg, Nowatzyk and Werneck, 2011).

`order` finds the order of elimination, `structure` the elimination tree and the fill for it, `lengths` the lengths of
the entries for a set of weights, or for the several of a stack (`stacks`). `sweeps` computes distances from many
sources, `predecessors` the vertices before the last ones on their paths, `paths` single distances and paths, `routes`
those of many pairs, and `flows` what edges carry of a `demand`. `storage` saves and loads. `hierarchy` has the public
class.
"""

from .flows import Flows
from .hierarchy import Hierarchy
from .predecessors import Paths
from .routes import Routes
from .sweeps import Measured

__all__ = ["Flows", "Hierarchy", "Measured", "Paths", "Routes"]
