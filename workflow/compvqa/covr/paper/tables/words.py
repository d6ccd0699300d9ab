"""How often the word filter is right, on held-out pairs and on words that it never saw (App. A)."""

from __future__ import annotations

import pandas as pd

from compvqa.covr.filters.words.labels import LEXICON
from compvqa.paper.data import Inputs, frame, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.scenes.lexicon import KINDS

METHODS = ("learned", "lexicon", "cosine", "majority")
PROTOCOLS = {"pairs": "held-out pairs", "words": "held-out words"}
COLUMNS = ["kind", "protocol", "method", "annotators", "trained_on", "n", "accuracy", "low", "high", "balanced"]


def make(inputs: Inputs, reference: Reference) -> Table:
    """Two rows a kind; the paper's accuracy stands beside ours on held-out pairs."""
    scores = frame(one(inputs, "word_scores"), COLUMNS)
    rows = []
    for kind in KINDS:
        for protocol, words in PROTOCOLS.items():
            found = scores[(scores["kind"] == kind) & (scores["protocol"] == protocol)].set_index("method")
            if len(found):
                paper = reference.facts[kind].value if protocol == "pairs" else None
                rows.append(_row(f"{kind.capitalize()}s: {words}", found, paper, rule_above=protocol == "pairs"))
    columns: tuple[str, ...] = ("Trained on", "Pairs", "Word filter (%)", "95 % interval", "Both labels alike (%)")
    columns += tuple(f"{method.capitalize()} (%)" for method in METHODS[1:])
    notes = ["Both labels alike: the mean of the accuracies on exclusive and on overlapping pairs."]
    if set(scores["annotators"]) == {LEXICON}:
        notes.append("The labels are the lexicon's own, which is why it is always right here.")
    notes += [f"{reference.facts[kind].text[0].upper()}{reference.facts[kind].text[1:]}." for kind in KINDS]
    return Table(reference.title, reference.citation, "Names", columns, tuple(rows), (*notes, *reference.notes))


def _row(label: str, found: pd.DataFrame, paper: float | None, rule_above: bool) -> Row:
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
    ]
    return Row(label, tuple(cells), rule_above=rule_above)
