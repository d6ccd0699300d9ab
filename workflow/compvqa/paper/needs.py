"""Which runs the numbers of a page need, so that a page that can have none of ours is refused before anything runs.

Only pages of scores are known here, by the module that makes them; a cell's column says which model it is of, and what
that was trained on (:mod:`compvqa.paper.scores`). How many questions a split or a template has is no such number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from compvqa.evaluation.answers import IID
from compvqa.models.baseline import GENERATED
from compvqa.paper.data import plain
from compvqa.paper.reference import Reference
from compvqa.paper.scores import BASELINES, KEPT, VARIANTS, model_shown, variant_of
from compvqa.paper.tables.iid import COLUMNS

Place = tuple[str, str]  # row and column
ON_THE_SPLIT = (KEPT, VARIANTS["iid-size"])  # variants that are trained on the split itself, not on all of train
COMPARED = ("VBText", "VB", "VBiid-size")  # what a generalization score is made of
OTHER = ("Filtered",)  # columns that need no run


@dataclass(frozen=True)
class Answers:
    """What a number is made of: the answers of a model that was trained in a variant on a split, to a text."""

    model: str
    split: str
    variant: str
    text: str = GENERATED


@dataclass(frozen=True)
class Plan:
    """What a run of the workflow will have.

    ``runs`` and ``trained``: model, split and variant of each run, and the trained models among them. ``splits`` and
    ``setups``: the titles of those made, and their setups, by name. ``sizes``: the M of Figure 13. ``pages``: what is
    shown, as ``<paper>/<page>``.
    """

    runs: frozenset[tuple[str, str, str]]
    trained: tuple[str, ...]
    splits: Mapping[str, str]
    setups: Mapping[str, str]
    sizes: tuple[int, ...]
    paraphrased: bool
    pages: Mapping[str, Reference]

    def asks(self, text: str) -> bool:
        """Whether the models answer a kind of text."""
        return self.paraphrased or text == GENERATED

    def has(self, answers: Answers) -> bool:
        """Whether some run gives these answers."""
        return self.asks(answers.text) and (answers.model, answers.split, answers.variant) in self.runs

    def within(self, paper: str) -> Plan:
        """The same with the pages of one paper alone, by the names that they have for each other."""
        start = f"{paper}/"
        own = {name.removeprefix(start): page for name, page in self.pages.items() if name.startswith(start)}
        return replace(self, pages=own)

    def named(self, title: str) -> list[str]:
        """The splits made of a title."""
        return [name for name, other in self.splits.items() if plain(other) == plain(title)]


def cells(reference: Reference, plan: Plan) -> dict[Place, frozenset[Answers]]:
    """The answers that each number of a page of scores needs, all of them; none: no run gives it. Empty for others."""
    return {place: frozenset(needed) for place, needed in _MAKERS.get(reference.make, _nothing)(reference, plan)}


def filled(reference: Reference, plan: Plan) -> dict[Place, bool]:
    """Whether the run will have each number of a page of scores."""
    return {place: bool(of) and all(map(plan.has, of)) for place, of in cells(reference, plan).items()}


def lacking(reference: Reference, plan: Plan) -> str:
    """Why a page of scores can have no number of ours, and what to do; empty if it can have one, or is another page."""
    numbers = filled(reference, plan)
    if not numbers or any(numbers.values()) or _has_own_row(reference, plan):
        return ""
    if _model(reference, plan) not in plan.trained:
        start = reference.options.get("model")
        named = f"one whose name starts with {start}" if start else "one"
        return f"no model is trained for it: name {named} in models.trained"
    if not plan.asks(reference.options.get("text", GENERATED)):
        return "the questions have no paraphrases: name a file of them as paraphrases"
    if reference.make == "findings":
        tables = ", ".join(name.removesuffix(".csv") for name in reference.inputs)
        return f"no table that it compares is shown with a number of ours: show {tables}"
    if reference.make == "few_shot":
        titles = " or ".join(reference.options["splits"])
        return f"no model is trained with several M on {titles}: name such a split in models.curve.splits"
    return "no model is trained on a split of it: name its splits in splits.names and models.splits"


def _has_own_row(reference: Reference, plan: Plan) -> bool:
    """Whether a page of splits has a row of ours: for any split of its setup that is made here, and a model for it."""
    if reference.make != "compositional" or _model(reference, plan) not in plan.trained:
        return False
    return reference.options["setup"] in plan.setups.values() and plan.asks(reference.options.get("text", GENERATED))


Cells = Iterator[tuple[Place, Iterable[Answers]]]


def _answers(column: str, splits: Iterable[str], text: str, model: str) -> Iterator[Answers]:
    """What a column of a page shows of splits; nothing for one that no run of ours is of."""
    variant = variant_of(column)
    for split in splits:
        if column in BASELINES:
            yield Answers(BASELINES[column], IID, IID, text)
        elif variant:
            yield Answers(model, split if variant in ON_THE_SPLIT else IID, variant, text)


def _model(reference: Reference, plan: Plan) -> str:
    return model_shown(plan.trained, reference.options.get("model"))


def _nothing(reference: Reference, plan: Plan) -> Cells:
    return iter(())


def _iid(reference: Reference, plan: Plan) -> Cells:
    for row in reference.rows:
        for column in reference.columns:
            yield (row, column), _answers(row, [IID], COLUMNS[column][1], _model(reference, plan))


def _by_group(reference: Reference, plan: Plan) -> Cells:
    """Of templates or properties; the latter are not listed, since all have the same runs."""
    text = reference.options.get("text", GENERATED)
    for row in reference.rows or [""]:
        for column in reference.columns:
            yield (row, column), _answers(column, [IID], text, _model(reference, plan))


def _compositional(reference: Reference, plan: Plan) -> Cells:
    text = reference.options.get("text", GENERATED)
    for row in reference.rows:
        for column in [column for column in reference.columns if column not in OTHER]:
            shown = COMPARED if column == "Gen. Score" else (column,)
            splits, model = plan.named(row), _model(reference, plan)
            yield (row, column), [one for of in shown for one in _answers(of, splits, text, model)]


def _few_shot(reference: Reference, plan: Plan) -> Cells:
    for title in reference.options["splits"]:
        for m in plan.sizes:
            yield (title, f"M = {m}"), [Answers(_model(reference, plan), name, f"m{m}") for name in plan.named(title)]


def _findings(reference: Reference, plan: Plan) -> Cells:
    """A claim needs what its numbers need."""
    of = {name: cells(page, plan) for name, page in plan.pages.items() if f"{name}.csv" in reference.inputs}
    for name, claim in reference.options.get("claims", {}).items():
        places = [claim[side] for side in ("of", "less") if side in claim]
        needed = [of.get(table, {}).get((row, column), frozenset()) for table, row, column in places]
        yield (name, "Here"), frozenset().union(*needed) if all(needed) else ()


_MAKERS: dict[str, Callable[[Reference, Plan], Cells]] = {
    "iid": _iid,
    "templates": _by_group,
    "accuracy": _by_group,
    "by_property": _by_group,
    "compositional": _compositional,
    "few_shot": _few_shot,
    "findings": _findings,
}
