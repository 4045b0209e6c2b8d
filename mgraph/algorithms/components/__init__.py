"""Connected components."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import ComponentsResult, connected_components

__all__ = ["ComponentsResult", "connected_components"]
