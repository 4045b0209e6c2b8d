"""The pictures of the pages: each page's Python runs, and what it plots is saved where the page shows it.

A page names its pictures ``_pictures/PAGE-1.png``, and so on, in the order in which its blocks draw them. They are made
again when the page, or the code that draws, is newer.
"""

import doctest
import os
import re
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot

DOCS = Path(__file__).parent
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STYLE = {
    "figure.figsize": (7, 4),
    "figure.dpi": 140,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
#: The modules that draw.
DRAWING = ("plotting.py", "results.py")


def pictures_of(page: Path) -> list[Path]:
    """Return the pictures that a page shows, in their order."""
    names = re.findall(r"_pictures/([\w-]+\.png)", page.read_text())
    return [DOCS / "_pictures" / name for name in dict.fromkeys(names) if name.startswith(f"{page.stem}-")]


def draw(page: Path) -> None:
    """Draw the pictures of a page, unless they are newer than it."""
    wanted = pictures_of(page)
    sources = [page, Path(__file__), *(DOCS.parent / "mgraph" / name for name in DRAWING)]
    newest = max(source.stat().st_mtime for source in sources)
    if not wanted or all(path.exists() and path.stat().st_mtime > newest for path in wanted):
        return
    wanted[0].parent.mkdir(exist_ok=True)
    names: dict[str, object] = {}
    drawn = iter(wanted)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, pyplot.rc_context(STYLE):
        os.chdir(folder)
        try:
            for code in CODE.findall(page.read_text()):
                for example in doctest.DocTestParser().get_examples(code):
                    exec(compile(example.source, str(page), "exec"), names)
                for number in pyplot.get_fignums():
                    pyplot.figure(number).savefig(next(drawn), bbox_inches="tight", facecolor="white")
                pyplot.close("all")
        finally:
            os.chdir(here)
    left = list(drawn)
    if left:
        raise RuntimeError(f"{page} shows {left[0].name}, which none of its blocks draws")


if __name__ == "__main__":
    for page in sorted(DOCS.rglob("*.md")):
        draw(page)
