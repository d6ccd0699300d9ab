"""Questions for scenes: in each scene some of the templates, so that templates and answers stay even (CLEVR, 3.2).

Scenes come in blocks, within which counts of templates and answers are kept. In each scene templates are tried in the
order of how many questions they have so far, until there are enough; an answer that its template has given too often is
refused. In the mode ``keyed`` every draw is keyed by seed, scene and template, and blocks don't know of each other, so
that shards change nothing; ``compat`` takes all draws from one stream, as the original code does, in one shard. With
``balance: fair`` a template is asked for a question of each answer that the scene allows, of which
:mod:`compvqa.clevr.gather` keeps one when all shards are there.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, model_validator

from compvqa import query, tables
from compvqa.clevr.compat import InOrder, SceneChoices, check_order
from compvqa.clevr.executor import Value, in_words
from compvqa.clevr.language import OPERATORS, VALUES
from compvqa.clevr.options import SceneOptions
from compvqa.clevr.pairs import PairRules, Searching
from compvqa.clevr.scene import Known, Scene, chosen_scenes, known_scenes, read_scenes
from compvqa.clevr.search import Plan, Search
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.templates import Template
from compvqa.clevr.words import Words, cut, text
from compvqa.errors import InputError
from compvqa.programs.language import TRUTH
from compvqa.programs.rows import to_json
from compvqa.progress import track
from compvqa.questions.tables import DROPPED
from compvqa.scenes.pairs import Occurrence, Pair
from compvqa.seeds import generator, stable_hash
from compvqa.settings import Settings

NOTHING_FITS, FREQUENT, DEGENERATE = "nothing in the scene fits", "answers too frequent", "degenerate"
FORBIDDEN = "a pair that is forbidden"
TOO_FEW = "scenes with fewer questions than wanted"
OF_GROUP = {kind: group for group, kind in VALUES.items()}
Sided = TypeVar("Sided", Scene, Known)
Start = Callable[[Plan, set[Value]], Searching]  # begins a search whose answer is one of the given ones


class GenerateSettings(Settings):
    """How questions are made of templates."""

    mode: Literal["keyed", "compat"] = Field(
        "keyed",
        description="keyed: draws keyed by scene and template, in any number of shards; compat: the original code's "
        "order of draws from one stream (Python's random), in one shard, some ten times slower",
    )
    balance: Literal["blocks", "fair"] = Field(
        "blocks",
        description="answers kept even within blocks, as in the original code, or (fair) as flat as the scenes allow "
        "over the whole run",
    )
    per_scene: int = Field(10, ge=1, description="questions in a scene, each of a template of its own")
    block: int = Field(250, ge=1, description="scenes over which templates and answers are kept even")
    most_counted: int = Field(10, ge=0, description="the largest number that may be an answer")
    distinct: Literal["sets", "outputs"] | None = Field(
        None,
        description="what it means that two counts must differ: that other objects are counted (sets), or that the "
        "numbers differ (outputs), as in the original code, where compare_integer's first family then only answers no; "
        "null: sets, and outputs in the mode compat",
    )
    only: tuple[str, ...] = Field((), description="names of the template files that are used; empty: all")
    order: tuple[str, ...] = Field(
        (),
        description="names of template files in the order of trying them, others after them by name; the original code "
        "has that of its folder, which is no order",
    )
    relations: tuple[str, ...] = Field(
        (),
        description="in the mode compat, relations in the order of the scenes file's; empty: by name",
    )
    values: dict[str, tuple[str, ...]] = Field(
        {}, description="by a group of attributes, those that there are; of a group that is not named, all words"
    )
    forbidden: tuple[Pair, ...] = Field((), description="pairs of attribute values that no question has")
    required: tuple[Pair, ...] = Field(
        (),
        description="pairs of attribute values of which each question has one in one of its descriptions, one that an "
        "object of its scene has; empty: nothing is required",
    )
    occurrence: Occurrence = Field(
        "released",
        description="what it means that a question has a pair: one description has both values (released), also where "
        "a description of what a union gives goes on with those on its sides (strict)",
    )

    @model_validator(mode="after")
    def _one_stream(self) -> GenerateSettings:
        if self.mode == "compat" and self.balance == "fair":
            raise ValueError("the mode compat is the original's, which balances in blocks: take balance blocks")
        if self.mode == "compat" and (self.values or self.forbidden or self.required):
            raise ValueError("the mode compat is the original's, which has all values and pairs: take the mode keyed")
        return self

    @property
    def sets(self) -> bool:
        """Whether counts that must differ do so as sets."""
        return (self.distinct or ("sets" if self.mode == "keyed" else "outputs")) == "sets"


def generate(
    scenes: Path,
    templates: Sequence[Template],
    words: Words,
    settings: GenerateSettings,
    seed: int,
    testbed: str,
    out: Path,
    dropped: Path,
    shard: int = 0,
    shards: int = 1,
    memory: str = "256MB",
    chosen: Sequence[str] | None = None,
    part: str = "",
) -> dict[str, int]:
    """Write the questions of one shard's blocks for the scenes in a folder of scene tables to ``out``.

    With ``chosen`` these scenes alone, in this order, as the side ``part``, whatever sides they are of.

    ``dropped`` gets the number of scenes in which a template was tried in vain, by reason. Gives counts. The mode
    compat takes one shard; of each side (train, val) its stream begins anew. ``memory`` bounds what questions take
    before they go to disk.
    """
    plans, words = plans_of(templates, settings), cut(words, settings.values)
    pairs = rules_of(words, settings)
    if settings.mode == "compat" and shards > 1:
        raise InputError(f"The mode compat draws all from one stream: make one shard, not {shards}, or use mode keyed.")
    known = known_scenes(scenes) if chosen is None else chosen_scenes(scenes, chosen)
    if part:
        known = [Known(scene_id, part) for scene_id, _ in known]
    own = list(islice(numbered(blocks(known, settings.block)), shard, None, shards))
    found = read_scenes(scenes, [one for _, block in own for one in block])
    reasons, counts = Counter[tuple[str, str]](), Counter[str]()
    streams: dict[str, random.Random] = {}
    with query.connect(out.parent, memory) as connection:
        intake = query.Intake(connection, QUESTIONS)
        for number, of in track(own, "questions", unit="block"):
            block = list(islice(found, len(of)))
            rng = streams.setdefault(of[0].split, random.Random(seed)) if settings.mode == "compat" else None
            for row in of_block(block, plans, words, settings, seed, reasons, rng, pairs):
                if part:  # the same question may be in another
                    row["question_id"] = identity(row["question_id"], part)
                first = number * settings.block * settings.per_scene
                intake.add((QUESTIONS, row | {"testbed": testbed, "number": first + row["number"]}))
                counts["questions"] += 1
            counts["scenes"] += len(block)
        intake.write(QUESTIONS, out)
    rows = [{"template": name, "reason": reason, "n": n} for (name, reason), n in reasons.items()]
    tables.write(dropped, DROPPED, rows)
    return {"scenes": counts["scenes"], "questions": counts["questions"]} | {
        f"dropped: {reason}": sum(n for (_, why), n in reasons.items() if why == reason)
        for reason in (NOTHING_FITS, FREQUENT, DEGENERATE, *([FORBIDDEN] if settings.forbidden else []), TOO_FEW)
    }


def plans_of(templates: Sequence[Template], settings: GenerateSettings) -> list[Plan]:
    """The templates ready for searching, in the settings' order; InputError where one cannot be used in their mode."""
    if not templates:
        raise InputError("There are no templates to make questions of: name a folder that holds some.")
    order, only = ([name.removesuffix(".json") for name in names] for names in (settings.order, settings.only))
    files = dict.fromkeys(template.file for template in templates)
    for key, names in (("order", order), ("only", only)):
        if unknown := [name for name in names if name not in files]:
            raise InputError(f"There is no file of templates {unknown[0]!r} ({', '.join(files)}): correct `{key}`.")
    templates = [template for template in templates if template.file in (only or files)]
    place = {name: number for number, name in enumerate([*order, *(name for name in files if name not in order)])}
    if settings.mode == "compat":
        for template in templates:
            check_order(template)
    return [Plan.of(template, settings.sets) for template in sorted(templates, key=lambda t: place[t.file])]


def rules_of(words: Words, settings: GenerateSettings) -> PairRules:
    """The pairs that the settings forbid and require, for words that are cut already."""
    return PairRules(words, settings.forbidden, settings.required, settings.occurrence, settings.sets)


def blocks(scenes: Iterable[Sided], size: int) -> Iterator[list[Sided]]:
    """The scenes in blocks of ``size``, each of one side (train or val), in their order."""
    waiting: dict[str, list[Sided]] = {}
    for scene in scenes:
        block = waiting.setdefault(scene.split, [])
        block.append(scene)
        if len(block) == size:
            yield waiting.pop(scene.split)
    yield from (waiting[split] for split in sorted(waiting))


def numbered(found: Iterable[list[Sided]]) -> Iterator[tuple[int, list[Sided]]]:
    """Blocks, each with its number among those of its side."""
    before = Counter[str]()
    for block in found:
        yield before[block[0].split], block
        before[block[0].split] += 1


def of_block(
    block: Sequence[Scene],
    plans: Sequence[Plan],
    words: Words,
    settings: GenerateSettings,
    seed: int,
    dropped: Counter[tuple[str, str]],
    rng: random.Random | None = None,
    pairs: PairRules | None = None,
) -> Iterator[dict]:
    """The questions of a block's scenes, as rows without a test-bed; reasons are added to ``dropped``.

    ``number`` counts questions from the block's first; those that are offered for one to be chosen share theirs.
    ``rng`` is the stream of the mode compat; ``pairs`` are the settings', which many blocks may share.
    """
    used = [0] * len(plans)
    answers = [dict.fromkeys(possible(plan.template, words, settings.most_counted), 0) for plan in plans]
    rules = pairs or rules_of(words, settings)
    number = 0
    for scene in block:
        start = in_order(scene, words, settings, rng) if rng else keyed(scene, words, seed, rules)
        made = 0
        for place in sorted(range(len(plans)), key=used.__getitem__):
            plan, counts = plans[place], answers[place]
            wanted = _each(start, plan, counts) if settings.balance == "fair" else [acceptable(counts)]
            searches = [start(plan, accepted) for accepted in wanted]
            found = [row for search in searches if (row := _asked(scene, search, plan.template, words, counts))]
            if not found:
                dropped[plan.template.name, _why(searches, settings.balance)] += 1
                continue
            yield from (row | {"number": number} for row in found)
            used[place] += 1
            number += 1
            made += 1
            if made == settings.per_scene:
                break
        if made < settings.per_scene:
            dropped["", TOO_FEW] += 1


def keyed(scene: Scene, words: Words, seed: int, pairs: PairRules) -> Start:
    """Searches in a scene whose draws are keyed by seed, scene and template, and by the answer if it is given."""
    options = SceneOptions(scene, words, seed, pairs.forbidden)
    pair = pairs.one_of(scene, seed)

    def start(plan: Plan, accepted: set[Value]) -> Searching:
        asked = sorted(map(str, accepted)) if len(accepted) == 1 else []
        rng = generator(seed, "question", scene.scene_id, plan.template.name, *asked)
        return pairs.searching(plan, pair, lambda other: Search(other, options, accepted, rng), rng)

    return start


def in_order(scene: Scene, words: Words, settings: GenerateSettings, rng: random.Random) -> Start:
    """Searches in a scene that draw from one stream in the original's order."""
    options = SceneChoices(scene, words, settings.relations)
    return lambda plan, accepted: InOrder(plan, options, accepted, rng)


class _Noted(set):
    """Answers that are asked for, all of which are refused."""

    def __contains__(self, answer: object) -> bool:
        self.add(answer)
        return False


def _each(start: Start, plan: Plan, counts: Mapping[Value, int]) -> list[set[Value]]:
    """For each answer that the scene may allow, the set of it alone."""
    noted = _Noted()
    start(plan.unchecked, noted).run()
    found = {answer: None for answer in noted}
    return [{answer} for answer in counts if answer in found]


def _why(searches: Sequence[Searching], balance: str) -> str:
    """Why nothing was found; where each search is for one answer, none is refused for being frequent."""
    if balance == "blocks" and searches[0].frequent:
        return FREQUENT
    if any(getattr(search, "forbidden", False) for search in searches):
        return FORBIDDEN
    return DEGENERATE if any(search.degenerate for search in searches) else NOTHING_FITS


def _asked(scene: Scene, search: Searching, template: Template, words: Words, counts: dict[Value, int]) -> dict | None:
    """The question that a search finds, as a row; its answer is counted. None where there is none."""
    found = search.run()
    if found is None:
        return None
    program, answer, filled = found
    counts[answer] += 1
    question = text(template, filled, words, search.rng)
    return _row(scene, template.name, question, to_json(program), in_words(answer))


def _row(scene: Scene, template: str, question: str, program: str, answer: str | None) -> dict:
    return {
        "question_id": identity(question, scene.scene_id, template, answer),
        "split": scene.split,
        "part": scene.split,
        "template": template,
        "text": question,
        "program": program,
        "answer": answer,
        "scene_ids": [scene.scene_id],
        "properties": None,
    }


def identity(*content: object) -> str:
    """A question's id: a hash of its content."""
    return f"{stable_hash(*content) & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def possible(template: Template, words: Words, most_counted: int) -> list[Value]:
    """The answers that a template may have."""
    kind = OPERATORS[template.last].output
    if kind == TRUTH:
        return [True, False]
    return list(words.values[OF_GROUP[kind]]) if kind in OF_GROUP else list(range(most_counted + 1))


def acceptable(counts: Mapping[Value, int]) -> set[Value]:
    """The answers that a template has not given too often: over 1.1 times the second most frequent one's number, or
    five times the median, which counts as 5 at least."""
    ordered = sorted(counts.values())
    second, median = ordered[-2:][0], max(ordered[len(ordered) // 2], 5)
    return {answer for answer, n in counts.items() if n <= 1.1 * second and n <= 5.0 * median}
