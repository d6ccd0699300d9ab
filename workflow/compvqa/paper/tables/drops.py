"""Questions by template: generated, left after balancing, and what was dropped, by reason."""

from __future__ import annotations

from collections import Counter

from compvqa.paper.data import PARTS, Inputs, frame, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a template, one for all, and below it one a reason, the most frequent first."""
    generated = Counter(frame(one(inputs, "questions"), ["template"])["template"])
    balanced = frame(one(inputs, "dataset"), ["template", "part"])
    kept = Counter(zip(balanced["template"], balanced["part"], strict=True))
    dropped: dict[str, Counter[str]] = {}
    for row in frame(one(inputs, "dropped"), ["template", "reason", "n"]).itertuples():
        dropped.setdefault(row.template, Counter())[row.reason] += row.n
    templates = sorted({*generated, *dropped})
    reasons = sum(dropped.values(), Counter())

    def row(label: str, names: list[str], **look: bool) -> Row:
        of = [sum(generated[name] for name in names)]
        of += [sum(kept[name, part] for name in names) for part in PARTS]
        of += [sum(dropped[name].total() for name in names if name in dropped)]
        return Row(label, tuple(Cell(value, form="count") for value in of), **look)

    rows = [row(template, [template]) for template in templates]
    rows.append(row("all", templates, rule_above=bool(templates)))
    blank = (Cell(form="none"),) * (1 + len(PARTS))
    rows += [Row(why, (*blank, Cell(reasons[why], form="count")), minor=True) for why in _ranked(reasons)]
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
