"""Road networks: how a demand divides among routes whose times grow with traffic.

    >>> from mgraph import roads
    >>> roads.assignment.__name__
    'assignment'

`from_tntp` and `read_trips` read networks and demand, and `assignment` finds the user equilibrium.
"""

from .assignment import SUFFIXES, Assignment, assignment
from .performance import Links
from .tntp import TntpNetwork, from_tntp, read_trips

__all__ = ["SUFFIXES", "Assignment", "Links", "TntpNetwork", "assignment", "from_tntp", "read_trips"]
