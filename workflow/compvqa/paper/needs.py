"""Which runs the numbers of a page need, so that a page that can have none of ours is refused before anything runs.

Only pages of scores are known here, by the module that makes them; what its columns show (``shows``) says which model a
cell is of, and what that was trained on. How many questions a split or a template has is no such number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from compvqa.evaluation import contrasts
from compvqa.evaluation.answers import IID
from compvqa.evaluation.facets import ALL, PROPERTY, TEMPLATE
from compvqa.models.baseline import GENERATED
from compvqa.paper.claims import claim_of
from compvqa.paper.data import plain
from compvqa.paper.panels import above_of, columns_of, panels, places
from compvqa.paper.reference import Reference, Shown
from compvqa.paper.scores import model_shown, of_any_size

Place = tuple[str, str]  # row and column
ON_THE_SPLIT = ("comp", "size")  # variants that are trained on the split itself, not on all of train


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
    shown, as ``<paper>/<page>``. ``facets``: what scores are told by, beside template and property.
    """

    runs: frozenset[tuple[str, str, str]]
    trained: tuple[str, ...]
    splits: Mapping[str, str]
    setups: Mapping[str, str]
    sizes: tuple[int, ...]
    paraphrased: bool
    pages: Mapping[str, Reference]
    facets: tuple[str, ...] = ()

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
    make = _MAKERS.get(reference.make.rpartition(".")[2], _nothing)  # whichever engine's
    return {place: frozenset(needed) for place, needed in make(reference, plan)}


def filled(reference: Reference, plan: Plan) -> dict[Place, bool]:
    """Whether the run will have each number of a page of scores."""
    return {place: bool(of) and all(map(plan.has, of)) for place, of in cells(reference, plan).items()}


def lacking(reference: Reference, plan: Plan) -> str:
    """Why a page of scores can have no number of ours, and what to do; empty if it can have one, or is another page."""
    if why := _untold(reference, plan):
        return why
    numbers = filled(reference, plan)
    if not numbers or any(numbers.values()) or _has_own_row(reference, plan):
        return ""
    if reference.make == "panels":
        named = f"{above_of(reference)} and one" if above_of(reference) else "one"
        return f"of {', '.join(reference.columns)} it needs {named}: name them in models.trained and models.baselines"
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


def _untold(reference: Reference, plan: Plan) -> str:
    """What the scores of a page of panels lack of what it shows; empty if nothing."""
    shown = panels(reference) if reference.make == "panels" else []
    told = {ALL, TEMPLATE, PROPERTY, *plan.facets}
    if facets := [panel.facet for panel in shown if panel.facet not in told]:
        return f"it tells accuracy by {facets[0]}: name that in scores.facets"
    if splits := [panel.split for panel in shown if panel.split not in {IID, *plan.splits}]:
        return f"it shows the split {splits[0]}: name that in splits.names"
    return ""


def _has_own_row(reference: Reference, plan: Plan) -> bool:
    """Whether a page of splits has a row of ours: for any split of its setup that is made here, and a model for it."""
    if reference.make != "compositional" or _model(reference, plan) not in plan.trained:
        return False
    return reference.options["setup"] in plan.setups.values() and plan.asks(reference.options.get("text", GENERATED))


Cells = Iterator[tuple[Place, Iterable[Answers]]]


def _answers(shown: Shown, splits: Iterable[str], text: str, model: str) -> Iterator[Answers]:
    """What a cell shows of splits; nothing for one that no run of ours is of."""
    variants = contrasts.find(shown.contrast).VARIANTS if shown.contrast else [shown.variant] if shown.variant else []
    for split in splits:
        if shown.baseline:
            yield Answers(shown.baseline, IID, IID, text)
        elif shown.model:
            yield from (Answers(shown.model, IID, v, text) for v in variants)
        else:
            yield from (Answers(model, split if v in ON_THE_SPLIT else IID, v, text) for v in variants)


def _model(reference: Reference, plan: Plan) -> str:
    return model_shown(plan.trained, reference.options, plan.trained)


def _nothing(reference: Reference, plan: Plan) -> Cells:
    return iter(())


def _iid(reference: Reference, plan: Plan) -> Cells:
    for row in reference.rows:
        for column in reference.columns:
            shown = reference.shown(column, row)
            yield (row, column), _answers(shown, [IID], shown.text or GENERATED, _model(reference, plan))


def _by_group(reference: Reference, plan: Plan) -> Cells:
    """Of templates or properties; the latter are not listed, since all have the same runs."""
    text = reference.options.get("text", GENERATED)
    for row in reference.rows or [""]:
        for column in reference.columns:
            yield (row, column), _answers(reference.shown(column), [IID], text, _model(reference, plan))


def _compositional(reference: Reference, plan: Plan) -> Cells:
    text = reference.options.get("text", GENERATED)
    for row in reference.rows:
        for column in reference.columns:
            shown = reference.shown(column)
            if not shown.left_out:
                yield (row, column), _answers(shown, plan.named(row), text, _model(reference, plan))


def _panels(reference: Reference, plan: Plan) -> Cells:
    """Whatever is asked, runs of the split iid answer it."""
    asked = {}
    for column in reference.columns:
        shown = reference.shown(column)
        if shown.model:
            shown = shown.model_copy(update={"model": of_any_size(shown.model, plan.trained)})
        asked[column] = set(_answers(shown, [IID], shown.text or GENERATED, ""))
    with_it = asked.get(above_of(reference), set())
    for column in columns_of(reference):
        for panel in panels(reference):
            for place in places(panel, reference):
                yield (place, column), asked[column] and asked[column] | with_it


def _few_shot(reference: Reference, plan: Plan) -> Cells:
    """A number for each M, and one for each gain over steps from one M to another."""
    columns = {f"M = {m:,}": [m] for m in plan.sizes}
    for name, steps in reference.options.get("gains", {}).items():
        ends = [(start, max(plan.sizes, default=0) if end is None else end) for start, end in steps]
        columns[name] = [m for step in ends for m in step] if all(start < end for start, end in ends) else []
    for title in reference.options["splits"]:
        for column, sizes in columns.items():
            runs = [Answers(_model(reference, plan), name, f"m{m}") for m in sizes for name in plan.named(title)]
            yield (title, column), runs


def _held_pairs(reference: Reference, plan: Plan) -> Cells:
    """Of one model, on whatever pairs its runs held out; its rows are pairs, or what these have in common."""
    model = of_any_size(reference.options["model"], plan.trained)
    for column in reference.columns:
        variant = reference.shown(column).variant
        runs = sorted(run for run in plan.runs if (run[0], run[2]) == (model, variant))
        for row in reference.rows or [""]:
            yield (row, column), [Answers(*run) for run in runs[:1]]


def _findings(reference: Reference, plan: Plan) -> Cells:
    """A claim needs what its numbers need; one of several numbers is checked by those that there are. Of a page that is
    not known here, any run will do."""
    of = {name: cells(page, plan) for name, page in plan.pages.items() if f"{name}.csv" in reference.inputs}
    some = frozenset(Answers(*run) for run in sorted(plan.runs)[:1])
    for name in reference.options.get("claims", {}):
        choices = []
        for pair in claim_of(reference, name).pairs():
            pages = [(of.get(place[0]), place[1:]) for place in pair if place]
            needed = [some if page == {} else (page or {}).get(place, frozenset()) for page, place in pages]
            choices.append(frozenset().union(*needed) if all(needed) else frozenset())
        there = (needed for needed in choices if needed and all(map(plan.has, needed)))
        yield (name, "Here"), next(there, choices[0])


_MAKERS: dict[str, Callable[[Reference, Plan], Cells]] = {
    "iid": _iid,
    "templates": _by_group,
    "accuracy": _by_group,
    "by_property": _by_group,
    "compositional": _compositional,
    "panels": _panels,
    "few_shot": _few_shot,
    "pair_accuracies": _held_pairs,
    "diversity_gaps": _held_pairs,
    "findings": _findings,
}
