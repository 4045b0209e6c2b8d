"""What the planner knows of pairs and flows by a hierarchy."""

from ..entry import Planned
from .plan import planned, planned_flows

#: The plans of both calls, by their names.
PLANNED = {"flows": Planned(planned_flows), "pairs": Planned(planned)}
