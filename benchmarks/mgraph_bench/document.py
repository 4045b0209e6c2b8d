"""A document of sections, and its two forms: one self-contained HTML page, and a shorter Markdown file."""

import html
import re
from dataclasses import dataclass
from typing import NamedTuple

from .drawing import THEME, within_page


class Column(NamedTuple):
    """A table's column: amounts are aligned at their right; the short form leaves out what is not brief."""

    title: str
    amounts: bool = True
    brief: bool = True


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of texts; ``links`` are the names of the sections, or "", that the rows' first cells lead to."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plot:
    """A plot: the name of its file without the suffix, its SVG, and what it shows."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Details:
    """What a reader opens to see, or finds open; the short form has it only if it is brief."""

    summary: str
    blocks: "tuple[Block, ...]"
    open: bool = False
    brief: bool = False


Block = Words | Table | Plot | Details


@dataclass(frozen=True)
class Section:
    """A section: its name, by which tables link to it, its heading, what stands below that in small, and its blocks."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    below: str = ""


def plots_of(blocks: tuple[Block, ...]) -> list[Plot]:
    """Return the plots that a summary of these blocks shows."""
    found = []
    for block in blocks:
        if isinstance(block, Plot):
            found.append(block)
        elif isinstance(block, Details) and block.brief:
            found += plots_of(block.blocks)
    return found


def page(title: str, sections: list[Section]) -> str:
    """Return a document as one HTML page that needs nothing else: it follows the reader's choice of light or dark."""
    light, dark = (";".join(f"--{name}:{colours[which]}" for name, colours in THEME.items()) for which in (0, 1))
    body = "\n".join(_section(section) for section in sections)
    return _PAGE.format(title=html.escape(title), light=light, dark=dark, style=_STYLE, body=body)


def summary(title: str, sections: list[Section]) -> str:
    """Return a document in short as Markdown, with the plots as files in ``plots/``."""
    lines = [f"# {title}"]
    for section in sections:
        lines += ["", f"## {section.title}"]
        if section.below:
            lines += ["", f"*{_marked(section.below)}*"]
        for block in section.blocks:
            lines += _marked_block(block)
    return "\n".join(lines) + "\n"


def _section(section: Section) -> str:
    below = f'<p class="below">{html.escape(section.below)}</p>' if section.below else ""
    blocks = "\n".join(_block(block) for block in section.blocks)
    opening = f'<section id="{html.escape(section.name)}">\n<h2>{html.escape(section.title)}</h2>'
    return f"{opening}{below}\n{blocks}\n</section>"


def _block(block: Block) -> str:
    if isinstance(block, Words):
        return f"<p>{html.escape(block.text)}</p>"
    if isinstance(block, Plot):
        caption = f"<figcaption>{html.escape(block.caption)}</figcaption>"
        return f'<figure><div class="box">{within_page(block.svg)}</div>{caption}</figure>'
    if isinstance(block, Details):
        inner = "\n".join(_block(one) for one in block.blocks)
        opened = " open" if block.open else ""
        return f"<details{opened}><summary>{html.escape(block.summary)}</summary>\n{inner}\n</details>"
    return _table(block)


def _table(table: Table) -> str:
    aligned = [
        '<th scope="col"{}>{}</th>'.format(' class="n"' if c.amounts else "", html.escape(c.title))
        for c in table.columns
    ]
    lines = []
    for i, row in enumerate(table.rows):
        cells = [
            f'<td class="n{" l" * (" to " in cell)}">{_amount(cell)}</td>'
            if column.amounts
            else f"<td{_wide(cell)}>{html.escape(cell)}</td>"
            for column, cell in zip(table.columns, row, strict=True)
        ]
        if table.links and table.links[i] and row[0]:
            cells[0] = f'<td><a href="#{html.escape(table.links[i])}">{html.escape(row[0])}</a></td>'
        lines.append("<tr>" + "".join(cells) + "</tr>")
    caption = f"<caption>{html.escape(table.caption)}</caption>" if table.caption else ""
    head = "<thead><tr>" + "".join(aligned) + "</tr></thead>"
    return f'<div class="box"><table>{caption}{head}\n<tbody>\n' + "\n".join(lines) + "\n</tbody></table></div>"


def _wide(cell: str) -> str:
    """Return the attribute of a cell of so many words that they go in lines."""
    return ' class="w"' if len(cell) > 48 else ""


def _amount(cell: str) -> str:
    """Return an amount with its unit in a width of its own, so that digits stand below one another."""
    parts = re.fullmatch(r"([+−]?[\d.,]+) (\S{1,3})", cell)
    return f'{parts[1]}<span class="u">{html.escape(parts[2])}</span>' if parts else html.escape(cell)


def _marked(text: str) -> str:
    return re.sub(r"([*_`|<\\\[\]])", r"\\\1", text)


def _marked_block(block: Block) -> list[str]:
    if isinstance(block, Words):
        return ["", _marked(block.text)]
    if isinstance(block, Plot):
        return ["", f"![{_marked(block.caption)}](plots/{block.name}.svg)"]
    if isinstance(block, Table):
        return ["", *_marked_table(block)]
    return [line for inner in block.blocks for line in _marked_block(inner)] if block.brief else []


def _marked_table(table: Table) -> list[str]:
    kept = [i for i, column in enumerate(table.columns) if column.brief]
    lines = [table.caption and _marked(table.caption), ""] if table.caption else []
    lines.append("| " + " | ".join(_marked(table.columns[i].title) for i in kept) + " |")
    lines.append("|" + "|".join(" ---: " if table.columns[i].amounts else " --- " for i in kept) + "|")
    lines += ["| " + " | ".join(_marked(row[i]) for i in kept) + " |" for row in table.rows]
    return lines


_STYLE = """
* { box-sizing: border-box }
html { background: var(--ground); color: var(--ink); color-scheme: light dark; -webkit-text-size-adjust: 100% }
body { margin: 0 auto; padding: 1.5rem max(1rem, 3vw) 4rem; max-width: 76rem;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 1rem }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .3rem }
section { margin-top: 2.2rem; padding-top: 1.2rem; border-top: 1px solid var(--grid) }
section:first-of-type { border: 0; margin-top: 0; padding-top: 0 }
p { max-width: 46rem; margin: .5rem 0; overflow-wrap: anywhere }
.below, figcaption, caption { color: var(--muted); font-size: .87rem }
.below { margin: 0 0 .6rem }
a { color: var(--series0); text-decoration-thickness: 1px; text-underline-offset: 2px }
.box { overflow-x: auto; max-width: 100% }
figure { margin: 1rem 0; max-width: 46rem }
figure svg { display: block; width: 100%; min-width: 30rem; height: auto }
table { border-collapse: collapse; margin: .6rem 0 1rem; font-size: .87rem; font-variant-numeric: tabular-nums }
caption { text-align: left; padding-bottom: .3rem }
th, td { padding: .28rem .7rem; text-align: left; white-space: nowrap; vertical-align: baseline }
th:first-child, td:first-child { padding-left: 0 }
th { color: var(--muted); font-weight: 500; border-bottom: 1px solid var(--grid); vertical-align: bottom }
tbody tr + tr td { border-top: 1px solid var(--grid) }
tbody tr:hover td { background: color-mix(in srgb, var(--grid) 35%, transparent) }
.n { text-align: right }
.u { display: inline-block; min-width: 1.75em; padding-left: .28em; text-align: left; color: var(--muted) }
td.w { white-space: normal; min-width: 18rem }
@media (max-width: 40rem) {
  body { padding: 1rem .6rem 3rem }
  table { font-size: .72rem }
  th, td { padding: .25rem .25rem }
  th, td:not(.n), td.l { white-space: normal }
  td.w { min-width: 9rem }
  .u { min-width: 0 }
}
details { margin: .6rem 0 }
summary { cursor: pointer; color: var(--muted); font-size: .92rem }
summary:hover { color: var(--ink) }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""
