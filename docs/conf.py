"""How Sphinx builds the documents: ``python -m sphinx -W docs build/docs``."""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import mgraph
from mgraph.algorithms import calls

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
import pictures

from tests.support import formats

project = "mgraph"
author = "the mgraph developers"
version = release = mgraph.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
autosummary_generate = False
html_theme = "furo"
pygments_dark_style = "github-dark"  # the theme's own underlines imported modules, as if they were links
html_show_copyright = False
html_title = f"mgraph {release}"
html_static_path = ["_static"]
html_css_files = ["mgraph.css"]

# A copy has neither prompts nor output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

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
myst_enable_extensions = ["colon_fence"]


#: Results of calls that are computed from other results.
PLAIN = ("DistanceHistogram",)


def page(name: str) -> str:
    """Return the page of a call: its docstring, and the classes of its results."""
    call = getattr(mgraph, name)
    annotation = inspect.signature(call).return_annotation
    returned = getattr(annotation, "__name__", str(annotation)).split(" | ")
    results = [each for each in returned if re.fullmatch(r"\w+Result", each) or each in PLAIN]
    members = "   :members:\n   :inherited-members:\n"
    shown = "".join(f"\n.. autoclass:: mgraph.{result}()\n{members}" for result in results)
    return f"{name}\n{'=' * len(name)}\n\n.. autofunction:: mgraph.{name}\n{shown}"


def skipped(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what results are made by, such as `ARRAYS`."""
    return True if name.isupper() else None


def edited(app: Any, name: str, source: list[str]) -> None:
    """Write a page's tables, and leave out the blank line after an example, which ends the output for doctest."""
    source[0] = source[0].replace(formats.PLACE, formats.table())
    source[0] = re.sub(r"^(```python\n.*?)\n+^```$", r"\1\n```", source[0], flags=re.MULTILINE | re.DOTALL)


def setup(app: Any) -> None:
    """Draw the pictures, and connect what Sphinx calls."""
    app.connect("autodoc-skip-member", skipped)
    app.connect("source-read", edited)
    for page in sorted(Path(__file__).parent.rglob("*.md")):
        pictures.draw(page)


pages = Path(__file__).parent / "api" / "calls"
pages.mkdir(exist_ok=True)
for former in pages.glob("*.rst"):  # of calls that have gone
    former.unlink()
for name in calls.NAMES:
    if inspect.isfunction(getattr(mgraph, name)):
        (pages / f"{name}.rst").write_text(page(name))
