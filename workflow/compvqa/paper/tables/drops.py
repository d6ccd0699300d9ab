"""Questions by template: generated, left after balancing, and what was dropped, by reason."""

from __future__ import annotations

from collections import Counter

from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.splits.setups.iid import SETUP

PARTS = tuple(part.side for part in SETUP.parts)  # the dataset's own


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a template and one for all, below each one a reason, the most frequent first."""
    generated = Counter(frame(one(inputs, "questions"), ["template"])["template"])
    balanced = frame(one(inputs, "dataset"), ["template", "part"])
    kept = Counter(zip(balanced["template"], balanced["part"], strict=True))
    dropped: dict[str, Counter[str]] = {}
    for row in frame(one(inputs, "dropped"), ["template", "reason", "n"]).itertuples():
        dropped.setdefault(row.template, Counter())[row.reason] += row.n
    templates = sorted({*generated, *dropped})
    blank = (Cell(form="none"),) * (1 + len(PARTS))

    def rows_of(label: str, names: list[str], rule_above: bool = False) -> list[Row]:
        of = [sum(generated[name] for name in names)]
        of += [sum(kept[name, part] for name in names) for part in PARTS]
        reasons = sum((dropped[name] for name in names if name in dropped), Counter())
        cells = [Cell(value, form="count") for value in (*of, reasons.total())]
        why = [(f"{label}: {reason}", Cell(reasons[reason], form="count")) for reason in _ranked(reasons)]
        return [
            Row(label, tuple(cells), rule_above=rule_above),
            *(Row(name, (*blank, cell), minor=True) for name, cell in why),
        ]

    rows = [row for template in templates for row in rows_of(template, [template])]
    rows += rows_of("all", templates, rule_above=bool(templates))
    notes = ["Dropped: tries that gave no question. Balanced: what is kept of the generated questions."]
    notes += [
        f"{template} has no questions: {_why(dropped[template])}." for template in templates if not generated[template]
    ]
    columns = ("Generated", *(f"Balanced: {part}" for part in PARTS), "Dropped")
    notes += reference.notes
    return Table(reference.title, reference.citation, "Template", columns, tuple(rows), tuple(notes))


def _ranked(reasons: Counter[str]) -> list[str]:
    return sorted(reasons, key=lambda reason: (-reasons[reason], reason))


def _why(reasons: Counter[str]) -> str:
    """The reasons why a template gave nothing, the most frequent first."""
    return ", ".join(f"{reason} ({reasons[reason]:,})" for reason in _ranked(reasons))
