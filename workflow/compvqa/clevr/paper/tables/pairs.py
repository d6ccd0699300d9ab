"""CLEVR-HOPE's Table 1: the held-out pairs, with how many combinations their types have."""

from __future__ import annotations

from compvqa.clevr.hope.sets import vocabulary_of
from compvqa.clevr.paper.held import held_out
from compvqa.clevr.words import read_words
from compvqa.files import read_yaml
from compvqa.paper.data import Inputs, many, one
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table
from compvqa.paper.splits import files_of

COLUMNS = ("Attribute types", "Diversity", "Bits", "Split")


def make(inputs: Inputs, reference: Reference) -> Table:
    """A row a pair: the paper's in its order, then those of further files; of vocabularies that are not cut. A split is
    named where it was made here."""
    names = {read_yaml(path).get("name", path.stem) for path in files_of(many(inputs, "definitions"))}
    held = held_out(many(inputs, "definitions"), names, vocabulary_of(read_words(one(inputs, "words"))))
    pairs = {frozenset(of.pair): of for of in held.values() if not of.draw}
    labels = {frozenset(label.split()): label for label in reference.rows}
    labels |= {pair: of.label for pair, of in pairs.items() if pair not in labels}
    made = {path.stem for path in inputs.get("splits", ())}
    rows = []
    for pair, label in labels.items():
        kinds, many_of = (reference.value(label, column) for column in COLUMNS[:2])
        cells = [Cell(paper=kinds), Cell(paper=many_of, form="count"), Cell(form="none"), Cell(form="none")]
        if of := pairs.get(pair):
            cells = [
                Cell(of.kinds, paper=kinds),
                Cell(of.diversity, paper=many_of, form="count"),
                Cell(of.bits, form="points"),
                Cell(of.split) if of.split in made else Cell(form="none"),
            ]
        rows.append(Row(label, tuple(cells)))
    notes = [
        "Diversity: combinations of the pair's types, the pair itself counted; train has all others.",
        "Split: the one of this test-bed that holds the pair out of the whole vocabulary, if there is one.",
        "Bits: what one value tells of the other where the pair is missing, and its rival.",
    ]
    title, citation = reference.title, reference.citation
    return Table(title, citation, "Pair", COLUMNS, tuple(rows), (*notes, *reference.notes))
