"""Road networks."""

from .assignment import Assignment, assignment
from .tntp import from_tntp, read_trips

__all__ = ["Assignment", "assignment", "from_tntp", "read_trips"]
