"""How Sphinx builds the documents: ``python -m sphinx -W docs build/docs``."""

import inspect
import re
from pathlib import Path

import mgraph
from mgraph.algorithms import calls

project = "mgraph"
author = "the mgraph developers"
version = release = mgraph.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"mgraph {release}"

# Single backticks in a docstring name a Python object, or an argument, which has no link.
default_role = "py:obj"
# The docstrings give types and shapes.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
python_maximum_signature_line_length = 88

myst_heading_anchors = 3


def page(name: str) -> str:
    """Return the page of a call: its docstring, and the class of its result."""
    call = getattr(mgraph, name)
    result = re.fullmatch(r"\w+Result", str(inspect.signature(call).return_annotation))
    members = "   :members:\n   :inherited-members:\n"
    shown = f"\n.. autoclass:: mgraph.{result[0]}()\n{members}" if result else ""
    return f"{name}\n{'=' * len(name)}\n\n.. autofunction:: mgraph.{name}\n{shown}"


pages = Path(__file__).parent / "api" / "calls"
pages.mkdir(exist_ok=True)
for former in pages.glob("*.rst"):  # of calls that have gone
    former.unlink()
for name in calls.NAMES:
    if inspect.isfunction(getattr(mgraph, name)):
        (pages / f"{name}.rst").write_text(page(name))
