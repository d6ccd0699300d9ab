"""A table as CSV, HTML and LaTeX: our value in each cell, and the paper's beside it in grey."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from compvqa.paper.reference import Printed
from compvqa.sheets import as_text
from compvqa.tables import replacing, running

DASH = "–"
SIGN = "‡"  # of a number of a run whose pretraining asked what the split holds out
LEGEND = "no test of what the split holds out: the model's pretraining asked questions that have it"
_TEX = {c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}"}
_TEX |= {"∪": r"$\cup$", "±": r"$\pm$", "–": "--", "“": "``", "”": "''", "≥": r"$\geq$", "≤": r"$\leq$"}
_TEX |= {"◆": r"$\diamond$", "→": r"$\to$", "…": r"\ldots{}", "<": r"\textless{}", ">": r"\textgreater{}"}
_TEX |= {
    SIGN: r"$\ddagger$",
    "∈": r"$\in$",
    "|": r"\textbar{}",
    "\n": r"\leavevmode\newline ",
    "\t": " ",
    "\u00a0": "~",
}
_TEX |= {"×": r"$\times$", "−": "$-$", "·": r"$\cdot$", "’": "'", "‘": "`", "—": "---", "∩": r"$\cap$", "τ": r"$\tau$"}
# How near to the paper's value an interval must lie to agree with it.
NEAR = {"percent": 5.0, "points": 5.0, "score": 0.1}
_COLORS = {"low": "red", "inside": "teal", "outside": "orange"}
DOUBT = (
    "In brackets: our interval, by a bootstrap that draws questions or, where scores.resample or the questions' "
    "language says so, images with all questions about each (exact for so many of them where all or no answers are "
    "right), and of how many questions. Of several runs it reaches from the lowest end of any run's to the highest, so "
    "it is the widest that they give."
)
# The end of the box that a LaTeX table is in, and that it fits on the page.
_FIT = (
    "}%",
    r"\ifdim\wd0>\linewidth\sbox0{\resizebox{\linewidth}{!}{\usebox0}}\fi",
    r"\ifdim\dimexpr\ht0+\dp0>0.7\textheight\sbox0{\resizebox*{!}{0.7\textheight}{\usebox0}}\fi",
    r"\usebox0",
)
_TEXTWIDTH, _COLUMN = 0.7, 0.35  # of the page's width, shared by the columns that hold words, and the least of each
Piece = tuple[str, bool]


@dataclass(frozen=True)
class Cell:
    """One value: ours (mean, and deviation over seeds), the paper's, and how it is written.

    ``interval``: of our value, in its unit, from ``n`` questions. ``comparable``: whether the paper's value is of the
    same data; a colour says what an interval decides about it. ``form``: ``percent`` (50.8), ``points`` (-9.32: two
    digits of a percentage), ``score`` (0.18), ``count`` (1,234), ``mean`` (4.4), ``text`` (words, in lines), ``none``
    (stays blank). ``low`` marks a model that is surely below the text-only baseline, ``marks`` the parts of a text
    (start, end) that are underlined. ``asked``: how many examples of the model's pretraining had what the split holds
    out, for which the number has a sign, and the table its legend.
    """

    value: float | str | None = None
    deviation: float | None = None
    paper: Printed = None
    form: str = "percent"
    low: bool = False
    marks: tuple[tuple[int, int], ...] = ()
    interval: tuple[float, float] | None = None
    n: int | None = None
    comparable: bool = True
    asked: int = 0

    @property
    def agrees(self) -> bool | None:
        """Whether our interval lies near the paper's value (of a pair its mean), :data:`NEAR`, or does not hold it;
        None where it does neither, or there is nothing to compare."""
        paper = self.paper[0] if isinstance(self.paper, tuple) else self.paper
        if self.interval is None or not self.comparable or paper is None or isinstance(paper, str):
            return None
        low, high = self.interval
        if not low <= paper <= high:
            return False
        near = NEAR.get(self.form, 0.0)
        return True if paper - near <= low and high <= paper + near else None

    @property
    def look(self) -> str:
        """The name of its look: ``low``, ``inside``, ``outside`` or none."""
        return "low" if self.low else {True: "inside", False: "outside", None: ""}[self.agrees]

    @property
    def doubt(self) -> tuple[str, ...]:
        """The interval of our value, and from how many questions it is; empty where there is none."""
        if self.interval is None or self.value is None:
            return ()
        low, high = (written(end, self.form) for end in self.interval)
        return (f"[{low}, {high}]", *([] if self.n is None else [f"n {self.n:,}"]))

    @property
    def ours(self) -> str:
        if self.value is None:
            return "" if self.form == "none" else DASH
        return self.value if isinstance(self.value, str) else written(self.value, self.form)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Our value in pieces, each with whether it is underlined."""
        cuts = [0, *(place for mark in self.marks for place in mark), len(self.ours)]
        pieces = [(self.ours[start:end], number % 2 == 1) for number, (start, end) in enumerate(pairwise(cuts))]
        return tuple(piece for piece in pieces if piece[0])

    @property
    def spread(self) -> str:
        return "" if self.deviation is None else f"± {written(self.deviation, self.form)}"

    @property
    def sign(self) -> str:
        """The sign of a number that is no test of what its split holds out."""
        return SIGN if self.asked and self.value is not None else ""

    @property
    def papers(self) -> str:
        """The paper's value as text, empty where it has none."""
        if self.paper is None:
            return ""
        if isinstance(self.paper, tuple):
            return " ± ".join(written(part, self.form, short=True) for part in self.paper)
        return self.paper if isinstance(self.paper, str) else written(self.paper, self.form, short=True)

    @property
    def bar(self) -> float:
        """The length of a generalization score's bar, 0 to 1."""
        return min(max(self.value, 0.0), 1.0) if isinstance(self.value, int | float) else 0.0


@dataclass(frozen=True)
class Row:
    """A row: its label and cells; ``note`` (``not trained``) stands in place of our values from the cell
    ``note_from`` on; ``minor`` rows are details of the one above."""

    label: str
    cells: tuple[Cell, ...]
    note: str = ""
    note_from: int = 0
    rule_above: bool = False
    minor: bool = False
    shown: bool = True  # else it is in the CSV file alone


@dataclass(frozen=True)
class Table:
    """A table ready to be written."""

    title: str
    citation: str
    head: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    stacked: bool = False  # the paper's words stand below ours, not beside
    apart: str = ""  # why the paper's numbers can't be compared with ours, if so
    whose: str = ""  # whose numbers stand in grey, if not the paper's
    doubt: str = DOUBT  # what its intervals are

    def texts(self) -> tuple[bool, ...]:
        """For each column whether it holds words."""
        return tuple(any(row.cells[i].form == "text" for row in self.rows) for i in range(len(self.columns)))

    def sides(self) -> tuple[bool, ...]:
        """For each column whether any of its cells has a value of the paper."""
        return tuple(any(row.cells[i].papers for row in self.rows) for i in range(len(self.columns)))

    def worded(self) -> bool:
        """Whether the paper's values are words."""
        return any(text and side for text, side in zip(self.texts(), self.sides(), strict=True))

    def intervals(self) -> tuple[bool, ...]:
        """For each column whether any of its cells has an interval."""
        return tuple(any(row.cells[i].interval for row in self.rows) for i in range(len(self.columns)))

    def compared(self) -> bool:
        """Whether any interval of ours decides anything about a value of the paper."""
        return any(cell.agrees is not None for row in self.rows for cell in row.cells)

    def counted(self) -> tuple[bool, ...]:
        """For each column whether any of its cells says from how many questions it is."""
        return tuple(any(row.cells[i].n is not None for row in self.rows) for i in range(len(self.columns)))

    def asked(self) -> tuple[bool, ...]:
        """For each column whether any of its cells has the sign of a split that was asked before."""
        return tuple(any(row.cells[i].sign for row in self.rows) for i in range(len(self.columns)))

    @property
    def legend(self) -> str:
        """What the sign means, if any cell has it."""
        return f"{SIGN} {LEGEND}; how many, the CSV says." if any(self.asked()) else ""

    def spreads(self) -> tuple[bool, ...]:
        """For each column whether any of its cells has a deviation."""
        return tuple(any(row.cells[i].spread for row in self.rows) for i in range(len(self.columns)))


def written(value: float, form: str, short: bool = False) -> str:
    """A number as the tables write it; ``short`` writes counts as the paper does (33.3k)."""
    if form == "count":
        if short and value >= 1000 and value % 100 == 0:
            return f"{value / 1000:.1f}k"
        return f"{value:,.0f}"
    return f"{value:z.2f}" if form in ("score", "points") else f"{value:z.1f}"  # z: no zero has a sign


def to_csv(table: Table) -> str:
    """Comma-separated values in full precision: ours, deviations, intervals, n and the paper's in columns of their own.

    A text that a spreadsheet would take for a formula has an apostrophe before it (see :mod:`compvqa.sheets`).
    """
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    shown = list(zip(table.spreads(), table.intervals(), table.counted(), table.asked(), table.sides(), strict=True))
    header = [table.head]
    for name, (spread, interval, counted, asked, side) in zip(table.columns, shown, strict=True):
        header += [name] + [f"{name} deviation"] * spread
        header += [f"{name} {end}" for end in ("low", "high")] * interval + [f"{name} n"] * counted
        header += [f"{name} asked before"] * asked + [f"{name} ({table.whose or 'paper'})"] * side
    notes = any(row.note for row in table.rows)
    own = running()  # a column, so that rows of several runs can be put together
    lines.writerow(map(as_text, header + ["note"] * notes + ["recipe"] * bool(own)))
    for row in table.rows:
        line = [row.label]
        for cell, (spread, interval, counted, asked, side) in zip(row.cells, shown, strict=True):
            line += [_plain(cell.value)] + [_plain(cell.deviation)] * spread
            line += [_plain(end) for end in cell.interval or (None, None)] * interval
            line += ["" if cell.n is None else str(cell.n)] * counted
            line += [str(cell.asked if cell.sign else "")] * asked + [cell.papers] * side
        lines.writerow(map(as_text, line + [row.note] * notes + [own] * bool(own)))
    return out.getvalue()


def _plain(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.0f}"


def to_latex(table: Table, name: str = "") -> str:
    """A float with a booktabs table, its caption, the label ``tab:<name>``, and what colours and intervals mean.

    The paper's values are gray, ours teal where their interval agrees with it and orange where it does not hold it. It
    needs the packages booktabs, graphicx and xcolor, and is made smaller where it would leave the page.
    """
    width = f"p{{{max(_TEXTWIDTH / max(sum(table.texts()), 1), _COLUMN):.2f}\\textwidth}}"
    lines = [r"\begin{tabular}{l" + "".join(width if text else "r" for text in table.texts()) + "}", r"\toprule"]
    lines += [" & ".join([_first(table.head), *map(tex, table.columns)]) + r" \\", r"\midrule"]
    for row in filter(lambda row: row.shown, table.rows):
        lines += [r"\midrule"] * row.rule_above
        cells = [_tex_cell(cell, row, number) for number, cell in enumerate(row.cells)]
        lines.append(" & ".join([(r"\quad " if row.minor else "") + _first(row.label), *cells]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    said = " ".join(f"{table.title} ({table.citation})".split())  # a comment ends with its line
    head = [f"% {said}"] + [f"% recipe {running()}"] * bool(running())
    head += [r"\begin{table}", r"\centering", rf"\caption{{{tex(said)}}}"]
    head += [rf"\label{{tab:{name}}}"] * bool(name) + [r"\sbox0{%"]
    below = [
        r"\par\smallskip\begin{minipage}{\linewidth}\footnotesize\raggedright",
        *_tex_key(table),
        r"\end{minipage}",
    ]
    return "\n".join([*head, *lines, *_FIT, *(below if below[1:-1] else []), r"\end{table}"]) + "\n"


def _first(text: str) -> str:
    """What a line begins with: a bracket or a star there is not the end of the line above's."""
    return "{}" * tex(text).startswith(("[", "*")) + tex(text)


def _tex_key(table: Table) -> list[str]:
    """What stands below a table, a paragraph each: why it stands apart, what colours and intervals mean, and notes."""
    gray = r"\textcolor{gray}{Gray}"
    found = [f"Not comparable: {tex(table.apart)}."] * bool(table.apart)
    papers = "the paper's own words" if table.worded() else "the paper's own numbers"
    grays = f"numbers of {tex(table.whose)}" if table.whose else papers
    found += [f"{gray}: {grays}."] * any(table.sides())
    if any(table.intervals()):
        found.append(tex(table.doubt))
    if table.compared():
        colors = (rf"\textcolor{{{_COLORS[look]}}}{{{_COLORS[look].title()}}}" for look in ("inside", "outside"))
        of = "the gray" if table.whose else "the paper's"
        near = f"within {NEAR['percent']:g} points (a score: {NEAR['score']}) of {of} value"
        teal, orange = colors
        found.append(
            f"{teal} where it lies {near}, {orange} where it does not hold that value; else it decides neither."
        )
    found += [tex(note) for note in (table.legend, *table.notes) if note]
    return [paragraph + r"\par" for paragraph in found]


def _tex_cell(cell: Cell, row: Row, number: int) -> str:
    ours = "".join(_underlined(text) if marked else tex(text) for text, marked in cell.pieces)
    ours = " ".join(filter(None, [ours + tex(cell.sign), tex(cell.spread)]))
    ours = rf"\textcolor{{{_COLORS[cell.look]}}}{{{ours}}}" if cell.look else ours
    if row.note and number >= row.note_from:
        ours = rf"\textit{{{tex(row.note)}}}" if number == row.note_from else ""
    papers = rf"\textcolor{{gray}}{{{tex(cell.papers)}}}" if cell.papers else ""
    both = (_TEX["\n"] if cell.form == "text" else " ").join(filter(None, [ours, papers]))
    if not cell.doubt or (row.note and number >= row.note_from):
        return both
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{both} \\ {{\scriptsize {tex(' '.join(cell.doubt))}}}\end{{tabular}}"


def _underlined(text: str) -> str:
    """A marked text, word by word, so that a line may end in it."""
    parts = filter(None, re.split(r"(\s+)", text))
    return "".join(tex(part) if part.isspace() else rf"\underline{{{tex(part)}}}" for part in parts)


def tex(text: str) -> str:
    """``text`` with LaTeX's special characters escaped, and others that its fonts lack told by their number."""
    return "".join(_TEX.get(sign) or (sign if _has(sign) else f"[U+{ord(sign):04X}]") for sign in text)


def _has(sign: str) -> bool:
    """Whether LaTeX sets a character as it is: ASCII that is printed, and letters of it with an accent."""
    parts = unicodedata.normalize("NFD", sign)
    return parts[0].isascii() and parts.isprintable() and (len(parts) == 1 or (parts[0].isalpha() and len(parts) == 2))


@cache
def environment() -> Environment:
    """The Jinja environment of the pages: everything is escaped, an undefined name is an error."""
    folder = Path(__file__).with_name("templates")
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["recipe"] = running
    return made


def to_html(table: Table) -> str:
    """A self-contained page with the table."""
    return environment().get_template("table.html.j2").render(table=table, dash=DASH, near=NEAR)


def save(table: Table, out: Path) -> list[Path]:
    """Write ``<out>.csv``, ``.html`` and ``.tex``; gives their paths."""
    texts = {".csv": to_csv(table), ".html": to_html(table), ".tex": to_latex(table, out.name)}
    return [write_text(out.with_name(out.name + suffix), text) for suffix, text in texts.items()]


def write_text(path: Path, text: str) -> Path:
    """Write ``text`` (UTF-8) to ``path`` under a temporary name first."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path
