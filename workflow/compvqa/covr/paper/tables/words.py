"""How often the word filter is right, on held-out pairs and on words that it never saw (App. A)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from compvqa.covr.filters.words.labels import LEXICON
from compvqa.covr.filters.words.overlap import RELEASED
from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.scenes.lexicon import KINDS

METHODS = ("learned", "lexicon", "cosine", "majority")
PROTOCOLS = {"pairs": "held-out pairs", "words": "held-out words"}
SHARES = ["kind", "beside", "model", "pairs", "exclusive", "exclusive_beside", "alike"]
COLUMNS = ["kind", "protocol", "method", "annotators", "trained_on", "n", "accuracy", "low", "high", "balanced"]


def make(inputs: Inputs, reference: Reference) -> Table:
    """Two rows a kind; the paper's accuracy stands beside ours on held-out pairs, where people labelled them."""
    scores = frame(one(inputs, "word_scores"), COLUMNS)
    compared = frame(one(inputs, "word_shares"), SHARES)
    shares = compared[compared["beside"] == LEXICON].set_index("kind")
    rows = []
    for kind in KINDS:
        for protocol, words in PROTOCOLS.items():
            found = scores[(scores["kind"] == kind) & (scores["protocol"] == protocol)].set_index("method")
            if len(found):
                by_people = protocol == "pairs" and set(found["annotators"]) != {LEXICON}
                paper = reference.facts[kind].value if by_people else None
                told = _exclusive(shares.loc[kind] if protocol == "pairs" and kind in shares.index else None)
                rows.append(_row(f"{kind.capitalize()}s: {words}", found, paper, told, rule_above=protocol == "pairs"))
    columns: tuple[str, ...] = ("Trained on", "Pairs", "Word filter (%)", "95 % interval", "Both labels alike (%)")
    columns += tuple(f"{method.capitalize()} (%)" for method in METHODS[1:])
    columns += ("In context", "Exclusive (%)", "By the lexicon (%)")
    notes = ["Both labels alike: the mean of the accuracies on exclusive and on overlapping pairs."]
    methods = ", ".join(f"{kind}s {shares.loc[kind]['model']}" for kind in KINDS if kind in shares.index)
    notes.append(f"In context: all pairs seen in one context, and what is exclusive of them by the chain: {methods}.")
    notes += [_released(row) for row in compared[compared["beside"] == RELEASED].itertuples() if row.pairs]
    circular = [f"{kind}s" for kind in KINDS if set(scores[scores["kind"] == kind]["annotators"]) == {LEXICON}]
    if circular:
        notes.append(
            f"The labels of {' and '.join(circular)} are the lexicon's own, which is why it is always right on them;"
            " what the paper has of people's labels does not stand beside these."
        )
    notes += [f"{reference.facts[kind].text[0].upper()}{reference.facts[kind].text[1:]}." for kind in KINDS]
    return Table(reference.title, reference.citation, "Names", columns, tuple(rows), (*notes, *reference.notes))


def _released(row: Any) -> str:
    """How far the chain agrees with what the authors released."""
    ours, theirs, alike = (100 * n / row.pairs for n in (row.exclusive, row.exclusive_beside, row.alike))
    return (
        f"COVR's released predictions, of {row.pairs:,} pairs of {row.kind}s in context whose names they know:"
        f" {alike:.1f} % are called the same; the chain calls {ours:.1f} % exclusive, they {theirs:.1f} %."
    )


def _exclusive(share: pd.Series | None) -> tuple[Cell, ...]:
    """How many pairs are seen in one context, and what is exclusive of them by the chain and by the lexicon."""
    if share is None or not share["pairs"]:
        return (Cell(), Cell(), Cell())
    by = (Cell(100 * share[name] / share["pairs"]) for name in ("exclusive", "exclusive_beside"))
    return (Cell(int(share["pairs"]), form="count"), *by)


def _row(label: str, found: pd.DataFrame, paper: float | None, told: tuple[Cell, ...], rule_above: bool) -> Row:
    learned = found.loc["learned"]
    interval = f"{100 * learned['low']:.1f} – {100 * learned['high']:.1f}"
    balanced = None if pd.isna(learned["balanced"]) else 100 * learned["balanced"]
    cells = [
        Cell(int(learned["trained_on"]), form="count"),
        Cell(int(learned["n"]), form="count"),
        Cell(100 * learned["accuracy"], paper=paper),
        Cell(interval, form="none"),
        Cell(balanced),
        *(Cell(100 * found.loc[method]["accuracy"]) for method in METHODS[1:]),
        *told,
    ]
    return Row(label, tuple(cells), rule_above=rule_above)
