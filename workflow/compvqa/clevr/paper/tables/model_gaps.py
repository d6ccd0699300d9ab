"""The systematicity gaps of all models by diversity: of pairs in the whole vocabulary, or of cuts around them (4.4)."""

from __future__ import annotations

from compvqa.clevr.hope.gaps import GAPS, GROUPS_RIGHT, YES, Tested, grouped, having, mean_of
from compvqa.clevr.paper.held import OF_PAIRS, Model, Results, beside, bits_of, diversities, doubts, named, together
from compvqa.clevr.paper.tables.diversity_gaps import rise_of
from compvqa.paper.data import Inputs
from compvqa.paper.reference import Reference
from compvqa.paper.render import Cell, Row, Table

NAMES = {"complex": "Complex gap", "matched": "Against matched", "common": "Common test", "minimal": "Minimal gap"}
MEASURES = {title: GAPS[name] for name, title in NAMES.items()}
MEASURES |= {"Yes quarter": YES, "Groups of four": GROUPS_RIGHT}


def make(inputs: Inputs, reference: Reference) -> Table:
    """For each model, trained on the largest train set that it has, a row a diversity, the highest first, and how much
    the gaps at the highest exceed those at the lowest, which is also told of all models together: with
    ``options.controlled`` of cuts of the vocabulary, by their kind, where the draws of both ends are paired."""
    results = Results.of(inputs, reference)
    models = results.models()
    rows: list[Row] = []
    for model in models:
        for label, ours in _kinds(model):
            rows += _of_model(label, model, ours, results)
    for label, ours in _kinds(together(models)):
        rows += _risen(label, ours, results)
    notes = ["Points by which accuracy with the pair exceeds that without it; mean ± population deviation over runs."]
    notes += [f"{model.label} is {named(model.largest)}." for model in models if model.runs]
    if reference.options.get("controlled"):
        notes.append("Between diversities the same draws are compared: intervals draw these once for both.")
    notes += [*doubts(results, models), *reference.notes]
    if not rows:
        notes.insert(0, "No model was tested on such pairs here.")
    columns = ("Pairs", "Runs", "Bits", *MEASURES)
    title, citation = reference.title, reference.citation
    return Table(title, citation, "Model and diversity", columns, tuple(rows), tuple(notes), doubt=OF_PAIRS)


def _kinds(model: Model) -> list[tuple[str, list[Tested]]]:
    """The runs of a model at its largest size, in cut vocabularies by the kind of cut, with what they are called."""
    runs = model.of(model.largest)
    kinds = grouped(runs, lambda run: run.held.draw.partition(" ")[0]) or {"": runs}
    return [(": ".join(filter(None, [model.label, kind])), kinds[kind]) for kind in sorted(kinds)]


def _of_model(label: str, model: Model, ours: list[Tested], results: Results) -> list[Row]:
    papers = model.papers(model.largest)
    rows: list[Row] = []
    for many in diversities([*ours, *papers]):
        runs, paper = ([run for run in of if run.held.diversity == many] for of in (ours, papers))
        here, printed_pairs = (len(grouped(of, lambda run: run.drawn)) for of in (runs, paper))
        counts = (
            Cell(here, paper=printed_pairs or None, form="count"),
            Cell(len(runs), form="count"),
            Cell(bits_of(runs or paper), form="none"),
        )
        cells = []
        for measure in MEASURES.values():
            there = having(paper, measure)
            printed = round(mean_of(there, measure)[0], 2) if there else None
            cells.append(beside(results.estimate(runs, measure), printed, results.reference))
        rows.append(Row(f"{label}, {many}", (*counts, *cells), rule_above=not rows))
    return [*rows, *_risen(label, ours, results)]


def _risen(label: str, ours: list[Tested], results: Results) -> list[Row]:
    """The row of how much numbers at the highest diversity exceed those at the lowest; none of one diversity."""
    rise = rise_of(ours)
    if rise is None:
        return []
    name, high, low = rise
    paired = bool(results.reference.options.get("controlled"))
    found = [results.bootstrap.difference(high, low, measure, paired) for measure in MEASURES.values()]
    pairs = max((of.pairs for of in found if of), default=0)
    counts = (Cell(pairs, form="count"), Cell(len(high) + len(low), form="count"), Cell(form="none"))
    cells = [beside(of, None, results.reference) for of in found]
    return [Row(f"{label}, {name}", (*counts, *cells), minor=True)]
