"""What the paper concludes from its numbers, and whether the same follows from ours."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compvqa.paper.claims import VERDICTS, Claim, Plain, claim_of
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.sheets import meant

Lines = Mapping[tuple[str, str], Mapping[str, str]]  # of made tables, by table and row
MISSING = "not measured"
FEW = 5  # numbers: of fewer no share is told
POINTS = {True: VERDICTS[1], False: VERDICTS[2]}  # of what no interval decides
COLUMNS = ("First", "Second", "Here", "By the paper's numbers", "The paper's words")
DOUBT = "In brackets: the interval of our number, and its n, as in the table that it is of."
TOLD = {True: "fits", False: "does not fit", None: ""}  # of the paper's own numbers


@dataclass(frozen=True)
class Number:
    """A number of a made table: ours with its interval, and the paper's."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    paper: str | None = None
    asked: int = 0  # as of a cell
    n: int | None = None  # of how many questions, or whatever else its table counts; None: it does not say

    @property
    def ours(self) -> tuple[float, float, float] | None:
        """Value, low and high; None where any is missing."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return self.value, self.low, self.high


@dataclass(frozen=True)
class Decided:
    """Two numbers of a claim, where the first stands, and what ours say of it."""

    first: Number
    second: Number
    place: Plain
    verdict: str
    beyond: float  # how far the number is outside of the bounds, or, below 0, inside

    @property
    def printed(self) -> float | None:
        """The paper's number, or difference, where it prints what that needs; of a mean with its deviation the mean."""
        try:
            first, second = (float((one.paper or "").partition(" ± ")[0]) for one in (self.first, self.second))
        except ValueError:  # one is missing
            return None
        return round(first - second, 3)


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a claim of ``options.claims``, which are named like the facts that quote the paper.

    Its inputs are other tables of the paper as they were made (CSV), by name; one that is not shown may be missing.
    Of two numbers the interval of their difference is as wide as their intervals allow. A claim of several numbers is
    shown by the one that fits it least, and one of a share of them by how many fit. Numbers of fewer than
    ``options.least``, as their n says, decide nothing. A claim that nothing here measures is in the CSV file alone,
    unless none is measured.
    """
    lines = _read(path for name in reference.inputs for path in inputs.get(name, ()))
    rows, verdicts = [], Counter[str]()
    for name, fact in reference.facts.items():
        claim = claim_of(reference, name)
        found = [_decided(claim, lines, *places, reference.options.get("least", 0)) for places in claim.pairs()]
        if claim.share:
            rows.append(_of_several(fact.text, fact.quote, claim, claim.share, found))
            verdicts[str(rows[-1].cells[2].value)] += 1
            continue
        told = [one for one in found if one.verdict != MISSING]
        shown = max(told, key=lambda one: (VERDICTS.index(one.verdict), one.beyond), default=found[0])
        verdicts[shown.verdict] += 1
        numbers = [_cell(shown.first, claim), _cell(shown.second, claim) if claim.less else Cell(form="none")]
        words = (_here(shown, len(told), len(found)), _papers(claim, found), fact.quote)
        rows.append(Row(fact.text, (*numbers, *(Cell(text, form="text") for text in words))))
    counts = ", ".join(f"{word}: {verdicts[word]}" for word in (*VERDICTS, MISSING))
    measured = [row.cells[2].value != MISSING for row in rows]
    if any(measured):
        rows = [replace(row, shown=shown) for row, shown in zip(rows, measured, strict=True)]
    apart = ["Claims that are not measured here are in the CSV file alone."] * (0 < sum(measured) < len(rows))
    notes = (f"Of {len(rows)} claims, {counts}.", *apart, *reference.notes)
    return Table(reference.title, reference.citation, "What is said", COLUMNS, tuple(rows), notes, doubt=DOUBT)


def _of_several(text: str, quote: str, claim: Claim, share: tuple[float, float], found: Sequence[Decided]) -> Row:
    """The row of a claim about how many of its numbers lie between bounds; of fewer than :data:`FEW` it says nothing.

    Those whose interval decides nothing may all be so, or none of them.
    """
    told = [one for one in found if one.verdict != MISSING]
    printed = [one.printed for one in found if one.printed is not None]
    fitting = sum(map(claim.fits, printed))
    words = [Cell(form="none"), Cell(MISSING, form="text")]
    first = Cell(paper=f"{fitting} of {len(printed)}" if printed else None)
    if len(told) >= FEW:
        surely, perhaps = (sum(one.verdict in VERDICTS[:last] for one in told) for last in (1, 3))
        at = sum(one.verdict in VERDICTS[:2] for one in told)
        first = Cell(f"{at} of {len(told)}", paper=first.paper)
        whole = Claim(of=claim.of, at_least=share[0], at_most=share[1])
        words[1] = Cell(whole.verdict(at / len(told), surely / len(told), perhaps / len(told)), form="text")
    paper = TOLD[share[0] <= fitting / len(printed) <= share[1]] if printed else ""
    return Row(text, (first, *words, Cell(paper, form="text"), Cell(quote, form="text")))


def _decided(claim: Claim, lines: Lines, of: Plain, less: Plain | None, least: int) -> Decided:
    first = number(lines, of)
    second = number(lines, less) if less else Number(0.0, 0.0, 0.0, "0")
    value = None if first.value is None or second.value is None else first.value - second.value
    beyond = 0.0 if value is None else max(claim.at_least - value, value - claim.at_most)
    return Decided(first, second, of, verdict(claim, first, second, least), beyond)


def _here(shown: Decided, told: int, of: int) -> str:
    """What our numbers say of a claim; of several, which one is shown, and how many there are."""
    if of == 1 or not told:
        return shown.verdict
    _, row, column = shown.place
    return f"{shown.verdict} ({column}, {row}; of {told} number{'s' * (told > 1)})"


def _papers(claim: Claim, found: Iterable[Decided]) -> str:
    """Whether all that the paper prints fits what it says."""
    printed = [one.printed for one in found if one.printed is not None]
    return TOLD[all(map(claim.fits, printed)) if printed else None]


def verdict(claim: Claim, first: Number, second: Number, least: int = 0) -> str:
    """What our numbers say of a claim; of fewer than ``least`` they point one way at most."""
    if first.ours is None or second.ours is None:
        return MISSING
    (a, a_low, a_high), (b, b_low, b_high) = first.ours, second.ours
    few = any(one.n is not None and one.n < least for one in (first, second))
    return POINTS[claim.fits(a - b)] if few else claim.verdict(a - b, a_low - b_high, a_high - b_low)


def number(lines: Lines, place: Plain) -> Number:
    """What stands in a place of the made tables; nothing where there is no such place."""
    table, row, column = place
    line = lines.get((table, row), {})
    ends = (line.get(name) for name in (column, f"{column} low", f"{column} high"))
    value, low, high = map(_measured, ends)
    asked = int(line.get(f"{column} asked before") or 0)
    n = line.get(f"{column} n")
    return Number(value, low, high, line.get(f"{column} (paper)") or None, asked, int(n) if n else None)


def _measured(cell: str | None) -> float | None:
    """A cell as a number; None where it is empty, or says in words why there is none."""
    try:
        return float(cell or "")
    except ValueError:
        return None


def _read(paths: Iterable[Path]) -> Lines:
    lines = {}
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                told = {meant(name): meant(cell) for name, cell in line.items()}
                lines[path.stem, next(iter(told.values()))] = told
    return lines


def _cell(found: Number, claim: Claim) -> Cell:
    interval = found.ours and found.ours[1:]
    return Cell(found.value, paper=found.paper, form=claim.form, asked=found.asked, interval=interval, n=found.n)
