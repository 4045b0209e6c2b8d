"""How Sphinx builds the documents: ``python -m sphinx -W docs build/docs``."""

import mgraph

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
