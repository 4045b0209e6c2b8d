"""A document of sections, and its two forms: a self-contained HTML page, and a shorter Markdown file.

Tables are data frames. The forms are Jinja templates, in the folder ``templates``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import jinja2
import markupsafe
import pandas as pd

from ..amounts import NONE
from .drawing import THEME, within_page


@dataclass(frozen=True)
class Column:
    """A table's column.

    Attributes
    ----------
    title : str
        Its heading.
    words : callable or None
        Returns an amount in words. Amounts are aligned at their right; a column without is one of words.
    brief : bool
        Whether the Markdown file includes it.
    """

    title: str
    words: Callable[[Any], str] | None = None
    brief: bool = True

    @property
    def amounts(self) -> bool:
        """Whether it holds amounts."""
        return self.words is not None


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    kind: ClassVar[str] = "words"

    text: str


@dataclass(frozen=True)
class Table:
    """A table: a data frame, and how its columns are shown.

    ``links`` are the names of the sections that the first cells of its lines lead to, or "" for none.
    """

    kind: ClassVar[str] = "table"

    frame: pd.DataFrame
    columns: tuple[Column, ...]
    caption: str = ""
    links: tuple[str, ...] = ()

    def lines(self) -> list[list[tuple[str, Column]]]:
        """Return its cells as texts with their columns, line by line."""
        shown = [
            values.map(lambda value, words=column.words or str: NONE if missing(value) else words(value))
            for column, (_, values) in zip(self.columns, self.frame.items(), strict=True)
        ]
        return [list(zip(line, self.columns, strict=True)) for line in zip(*shown, strict=True)]


@dataclass(frozen=True)
class Plot:
    """A plot: the name of its file without the suffix, its SVG, and what it shows."""

    kind: ClassVar[str] = "plot"

    name: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Details:
    """Blocks that a reader opens, or finds open; the Markdown file has them only if they are brief."""

    kind: ClassVar[str] = "details"

    summary: str
    blocks: "tuple[Block, ...]"
    open: bool = False
    brief: bool = False


Block = Words | Table | Plot | Details


@dataclass(frozen=True)
class Section:
    """A section: its name, by which tables link to it, its heading, a line below that in small, and its blocks.

    The page shows of a folded one the heading alone, until a reader opens it.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    below: str = ""
    folded: bool = False


def table(lines: Iterable[Sequence[Any]], *columns: Column, caption: str = "", links: Sequence[str] = ()) -> Table:
    """Return a table of lines of values: numbers, texts, or None for an empty cell."""
    frame = pd.DataFrame([[*line] for line in lines], columns=range(len(columns)), dtype=object)
    return Table(frame, columns, caption, tuple(links))


def missing(value: Any) -> bool:
    """Return whether a cell is empty."""
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def plots_of(blocks: tuple[Block, ...]) -> list[Plot]:
    """Return the plots that the Markdown file shows of some blocks."""
    found = []
    for block in blocks:
        if isinstance(block, Plot):
            found.append(block)
        elif isinstance(block, Details) and block.brief:
            found += plots_of(block.blocks)
    return found


def page(title: str, sections: list[Section]) -> str:
    """Return a document as one HTML page that needs no other file; it follows the reader's choice of light or dark."""
    return _templates().get_template("page.html").render(title=title, sections=sections, theme=THEME)


def summary(title: str, sections: list[Section]) -> str:
    """Return a document in short as Markdown, with the plots as files in ``plots/``."""
    return _templates().get_template("report.md").render(title=title, sections=sections)


@cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=jinja2.select_autoescape(["html"]),
        keep_trailing_newline=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters |= {
        "amount": _amount,
        "anchor": _anchor,
        "marked": lambda text: re.sub(r"([*_`|<\\\[\]])", r"\\\1", text),
        "within_page": lambda svg: markupsafe.Markup(within_page(svg)),
    }
    return made


def _anchor(title: str) -> str:
    """Return the name that readers of Markdown give to a heading: in lower case, no marks, dashes for blanks."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _amount(cell: str) -> str:
    """Return an amount with its unit in a width of its own, so that digits stand below one another."""
    parts = re.fullmatch(r"([+−]?[\d.,]+) (\S{1,3})", cell)
    return markupsafe.Markup('{}<span class="u">{}</span>').format(*parts.groups()) if parts else cell
