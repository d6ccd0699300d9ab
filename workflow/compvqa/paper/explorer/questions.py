"""The page of sample questions: images, text, answer, template and program of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from compvqa.paper.explorer import pictures, programs
from compvqa.paper.explorer.pictures import Picture
from compvqa.paper.explorer.sample import Group, parts_of, sample
from compvqa.paper.render import environment, write_text
from compvqa.programs import wings
from compvqa.programs.rows import from_json
from compvqa.programs.wings import TraceModule
from compvqa.progress import track
from compvqa.questions.dataset import language_of
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.images import find_image
from compvqa.settings import Settings
from compvqa.splits.setups import CHOOSE
from compvqa.splits.setups.iid import SETUP

CHOSEN_BY = next(part.side for part in SETUP.parts if part.role == CHOOSE)


class ExplorerSettings(Settings):
    """What the page of sample questions shows."""

    questions: int = Field(40, ge=1, description="about how many questions the page shows, evenly over templates")
    part: str = Field(CHOSEN_BY, description="the part of the dataset that they are drawn from")
    max_side: int = Field(300, ge=50, description="longest side of an embedded image, in pixels")


@dataclass(frozen=True)
class Side:
    """One image set of a question, its answer, and the program's rows with what each gave on these images."""

    question_id: str
    answer: str
    pictures: tuple[Picture, ...]
    start: str | None  # the scene that the question was made from, where that is known
    run: tuple[programs.Line, ...]
    graph: programs.Drawing | None  # of the program, where that is known


@dataclass(frozen=True)
class Card:
    """A question on the page: one text, one or two sides, and the programs (one where all sides share it).

    Where each side is of ``one`` scene, its picture is shown large, the graph and what the rows gave beside it.
    """

    template: str
    text: str
    size: int | None  # of the subgraph; None where it is not known
    depth: int | None
    sides: tuple[Side, ...]
    programs: tuple[tuple[programs.Line, ...], ...]
    one: bool


def make(
    dataset: Path, scenes: Path, images: Mapping[str, Path], out: Path, settings: ExplorerSettings, seed: int
) -> dict[str, int]:
    """Write the page to ``out``.

    ``scenes``: folder of scene tables. ``images``: folder of image files by image space (``{"sprites": …}``);
    a scene without a file there is drawn as a sketch of its annotated boxes.
    """
    language = language_of(dataset)
    groups = sample(dataset, settings.part, settings.questions, seed)
    scenery = Scenery(scenes, images, settings.max_side)
    cards = [_card(group, scenery, language) for group in track(groups, "sample questions", unit="question")]
    shown = sum(len(card.sides) for card in cards)
    page = environment().get_template("questions.html.j2")
    templates = sorted({card.template for card in cards})
    told: dict[str, Any] = {
        "count": shown,
        "one": all(card.one for card in cards),
        "part": settings.part,
        "sketched": scenery.sketched,
    }
    told["others"] = [] if cards else parts_of(dataset)
    told["started"] = any(side.start for card in cards for side in card.sides)
    told["paired"] = any(len(card.sides) > 1 for card in cards)
    html = page.render(cards=cards, templates=templates, **told)
    write_text(out, html)
    return {
        "out": shown,
        "texts": len(cards),
        "templates": len(templates),
        "scenes drawn as sketches": scenery.sketched,
    }


class Scenery:
    """Gives the picture of any scene; ``sketched`` counts those that had no image file."""

    def __init__(self, scenes: Path, images: Mapping[str, Path], max_side: int):
        self.store = SceneStore(scenes)
        rows = self.store.scenes.select(["scene_id", "image", "width", "height"]).to_pydict()
        self.frames = {
            scene: frame
            for scene, *frame in zip(rows["scene_id"], rows["image"], rows["width"], rows["height"], strict=True)
        }
        self.images, self.max_side = images, max_side
        self.without: set[str] = set()

    @property
    def sketched(self) -> int:
        return len(self.without)

    def picture(self, scene_id: str, names: frozenset[str], called: Mapping[str, str] | None = None) -> Picture:
        """The scene's image if there is one, else its sketch with the objects called ``names`` marked.

        With ``called`` (labels by object id) the image is twice as large, with the objects' boxes over it.
        """
        image, width, height = self.frames.get(scene_id, ("", None, None))
        path = find_image(image, self.images)
        if path is None:
            self.without.add(scene_id)
            return pictures.sketch(self.store.graph(scene_id), width, height, names)
        if called is None:
            return Picture(scene_id, uri=pictures.embed(path, self.max_side))
        uri = pictures.embed(path, 2 * self.max_side)
        return pictures.over(uri, self.store.graph(scene_id), width, height, called)


def _card(group: Group, scenery: Scenery, language: str) -> Card:
    one = all(len(question["scene_ids"]) == 1 for question in group.questions)
    sides = [_side(question, scenery, language, one) for question in group.questions]
    told = dict.fromkeys(question["program"] for question in group.questions if question["program"])
    first = group.questions[0]
    return Card(
        group.template,
        group.text,
        first.get("size"),
        first.get("depth"),
        tuple(sorted(sides, key=lambda side: side.answer or "", reverse=True)),
        tuple(map(programs.lines, told)),
        one,
    )


def _side(question: dict, scenery: Scenery, language: str, one: bool) -> Side:
    """A question's images, answer and run; its program may not be known."""
    program, graphs = question["program"], list(scenery.store.graphs(question["scene_ids"]))
    known = program and any(graph.objects for graph in graphs)
    run = programs.run(program, graphs, language) if known else ()
    trace: TraceModule = wings.part(language, "trace")
    nouns = frozenset(trace.nouns(from_json(program)) if program else ())
    called = programs.called(graphs[0], language) if one else None
    shown = tuple(scenery.picture(scene, nouns, called) for scene in question["scene_ids"])
    graph = programs.drawn(program, run or programs.lines(program)) if program else None
    return Side(question["question_id"], question["answer"], shown, question.get("start_scene"), run, graph)
