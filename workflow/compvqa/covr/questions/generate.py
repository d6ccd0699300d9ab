"""The question stage: templates × seeds → checked questions (COVR, section 3.3), one shard at a time."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq
from pydantic import Field

from compvqa import tables
from compvqa.covr import inflection
from compvqa.covr.executor import ProgramError, Value, answer_text, execute
from compvqa.covr.questions.easy import Draws
from compvqa.covr.questions.gather import DUPLICATE, sorted_unique
from compvqa.covr.questions.inputs import Start, read_others, read_seeds
from compvqa.covr.questions.readings import Readings
from compvqa.covr.questions.seed import FEWEST_IMAGES, MOST_IMAGES, Draft, Dropped, Seed
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.covr.questions.templates import Template, Wording, load, module_of
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.errors import InputError
from compvqa.progress import track
from compvqa.questions.tables import DROPPED
from compvqa.scenes.graph import SceneGraph, SceneStore
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import generator, stable_hash
from compvqa.settings import Settings

BATCH = 20_000  # questions held before they are written
LARGEST_ANSWER = 5
YOUNG = 100_000  # objects made before garbage in cycles is looked for
# What nobody counts in pictures: those of COVR's released code, and others that annotators found
NOT_COUNTABLE = (
    *("broccoli", "bush", "cable", "cloud", "curtain", "feather", "fence", "floor", "food", "graffiti", "hair", "leaf"),
    *("leg", "letter", "meat", "mountain", "sauce", "stick", "topping", "tree", "vegetable", "water", "window", "wire"),
    "word",
)

Row = dict[str, object]


class QuestionsSettings(Settings):
    """How questions are generated."""

    templates: tuple[str, ...] = Field(
        (), description="Names of the templates to use, as in the paper; empty: all in config/templates/covr."
    )
    not_countable: tuple[str, ...] = Field(
        NOT_COUNTABLE,
        description="Nouns that nobody can count, alone or before another word ('tree branch'), besides those that the "
        "lexicon says so of.",
    )
    attribute_groups: tuple[str, ...] = Field(
        ("brand", "color", "company", "material", "pattern", "shape"),
        description="Groups of attributes that are asked for (COVR's; 'company' is GQA's word for brand); empty: all.",
    )
    others_threshold: float = Field(
        0.5, ge=0, le=1, description="An image holds more than is annotated if the masked p is above this."
    )
    seed_share: float = Field(
        1, gt=0, le=1, description="Share of the seeds that questions are asked about, drawn by stable rank."
    )
    every_reading: bool = Field(
        True,
        description="Ask only what has its answer however the names are read that the lexicon knows.",
    )
    distractors: Literal["related", "random"] = Field(
        "related",
        description="What accompanies the images that make the answer: related ones, or random ones (the easy "
        "distractors of VBEasyDistractors).",
    )
    cache: int = Field(20_000, ge=1, description="Scene graphs kept in memory.")


def generate(
    seeds: Path,
    related: Path,
    scenes: Path,
    lexicon: Path | None,
    templates: Sequence[Path],
    out: Path,
    dropped: Path,
    settings: QuestionsSettings,
    seed: int,
    testbed: str,
    presence: Path | None = None,
) -> dict[str, int]:
    """Write a shard's questions to ``out`` and the counts of what was dropped, and why, to ``dropped``.

    ``seeds`` and ``related`` are sorted by seed and read side by side in batches. ``presence`` is read for
    the "others exist" check alone (rows with ``masked``); without it, or where it has no row, that passes.
    Raises InputError for a wrong template file. Gives the counts of seeds in, questions out and dropped.
    """
    chosen = _chosen(load(*templates), settings)
    knowledge = Lexicon.load(lexicon) if lexicon else None
    store = SceneStore(scenes, settings.cache)
    readings = Readings.of(knowledge, Path(scenes)) if knowledge and settings.every_reading else None
    maker = _Maker(chosen, settings, knowledge, store, seed, testbed, readings)
    others = read_others(presence, settings.others_threshold)
    draws = Draws(store, knowledge, seed) if settings.distractors == "random" else None
    unsorted = Path(out).with_name(f".{Path(out).name}.unsorted")
    unsorted.parent.mkdir(parents=True, exist_ok=True)
    n_seeds = 0
    try:
        with _seldom_collected(), pq.ParquetWriter(unsorted, QUESTIONS.fields, compression="lz4") as writer:
            batch: list[Row] = []
            for item in track(
                read_seeds(seeds, related, store.graph, others, draws, readings), "questions", unit="seed"
            ):
                if not maker.asks(item[0]):
                    continue
                n_seeds += 1
                batch.extend(maker.questions(*item))
                if len(batch) >= BATCH:
                    writer.write_table(QUESTIONS.from_rows(batch))
                    batch = []
            writer.write_table(QUESTIONS.from_rows(batch))
        rows, duplicates, _ = sorted_unique([unsorted], out)
    finally:
        unsorted.unlink(missing_ok=True)
    maker.dropped.update({(template, DUPLICATE): n for template, n in duplicates.items()})
    tables.write(
        dropped,
        DROPPED,
        [{"template": t, "reason": reason, "n": n} for (t, reason), n in sorted(maker.dropped.items())],
    )
    counts = Counter({"in": n_seeds, "out": rows})
    for (_, reason), n in sorted(maker.dropped.items()):
        counts[f"dropped: {reason}"] += n
    return dict(counts)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Python looks for garbage in cycles less often: what is made here dies by its count of references, or is kept, and
    looking through all that is kept took a quarter of the time."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def asked_of_others(
    seeds: Path,
    related: Path,
    scenes: Path,
    lexicon: Path | None,
    templates: Sequence[Path],
    settings: QuestionsSettings,
    seed: int,
) -> Iterator[tuple[str, Subgraph]]:
    """What the "others exist" check may be asked: a scene's id and a simple subgraph; some come more than once.

    All that :func:`generate` asks is among them, whatever the answers are: with all scenes refused, each template asks
    about all references that it may try.
    """
    asked: list[tuple[str, Subgraph]] = []

    def refuse(scene_id: str, part: Subgraph) -> bool:
        asked.append((scene_id, part))
        return True

    knowledge = Lexicon.load(lexicon) if lexicon else None
    store = SceneStore(scenes, settings.cache)
    chosen = [_only_others(template) for template in _chosen(load(*templates), settings)]
    maker = _Maker(chosen, settings, knowledge, store, seed, "")
    draws = Draws(store, knowledge, seed) if settings.distractors == "random" else None
    for item in track(read_seeds(seeds, related, store.graph, refuse, draws), "others asked", unit="seed"):
        for _ in maker.questions(*item):
            pass
        yield from asked
        asked.clear()


def _only_others(template: Template) -> Template:
    """The template with those of its variants that ask for the "others exist" check."""
    kept = {name: variant for name, variant in template.variants.items() if variant.others_exist}
    return template.model_copy(update={"variants": kept})


def _chosen(templates: list[Template], settings: QuestionsSettings) -> list[Template]:
    names = {template.name for template in templates}
    for name in settings.templates:
        if name not in names:
            known = ", ".join(sorted(names))
            raise InputError(f"questions.templates: there is no template {name}; there are {known}.")
    wanted = settings.templates or names
    return [template for template in templates if template.name in wanted]


class _Maker:
    """Makes the questions of one seed after the other and counts what it drops."""

    def __init__(
        self,
        templates: list[Template],
        settings: QuestionsSettings,
        lexicon: Lexicon | None,
        store: SceneStore,
        seed: int,
        testbed: str,
        readings: Readings | None = None,
    ):
        self.templates = [(template, module_of(template).drafts) for template in templates]
        self.settings, self.lexicon, self.store = settings, lexicon, store
        self.checks = {template.name: self.checks_of(template) for template in templates}
        self.countable = cache(self._countable)
        self.seed, self.testbed = seed, testbed
        self.readings = readings
        self.dropped: Counter[tuple[str, str]] = Counter()

    def asks(self, item: Seed) -> bool:
        """Whether the seed is in the share that is asked about."""
        share = self.settings.seed_share
        return share == 1 or generator(self.seed, "asked", item.number).random() < share

    def questions(self, item: Seed, start: Start) -> Iterator[Row]:
        """The questions about one seed, in the order of the templates."""
        for template, drafts in self.templates:
            reason = self.unmet(template, item)
            if reason is not None:
                self.dropped[template.name, reason] += 1
                continue
            for name, variant in template.variants.items():
                rng = generator(self.seed, "questions", template.name, name, item.number)
                for draft in drafts(template, variant, item, rng):
                    row = self.question(template, item, start, draft)
                    if isinstance(row, Dropped):
                        self.dropped[template.name, row.reason] += 1
                    else:
                        yield row

    def unmet(self, template: Template, item: Seed) -> str | None:
        """The first precondition of the template that the seed does not fulfil."""
        if item.unclear:
            return f"precondition: {item.unclear}"
        for reason, good in self.checks[template.name]:
            if not good(item):
                return f"precondition: {reason}"
        return None

    def checks_of(self, template: Template) -> list[tuple[str, Callable[[Seed], bool]]]:
        """What the template asks of a seed, in order, with the reason for its drop."""
        needs = template.needs
        checks: list[tuple[bool, str, Callable[[Seed], bool]]] = [
            (needs.relation, "needs a relation", lambda item: bool(item.graph.edges)),
            (needs.attribute or needs.group, "needs an attribute", lambda item: item.graph.attribute is not None),
            (needs.group, "needs an attribute with a group", lambda item: self.may_ask_for(item.group)),
            (needs.multi, "needs several instances", lambda item: item.multi),
            (needs.countable, "noun can't be counted", lambda item: self.countable(item.graph.name)),
            (needs.plural, "noun has no plural", lambda item: not inflection.is_mass(item.graph.name)),
            (bool(needs.keys), "needs other distractors", lambda item: item.has_keys(needs.keys)),
            (bool(template.exclude), "excluded noun", lambda item: not template.excludes(item.graph.name, item.group)),
        ]
        return [(reason, good) for asked, reason, good in checks if asked]

    def may_ask_for(self, group: str | None) -> bool:
        """Whether the attributes of a group may be asked for."""
        return group is not None and group in (self.settings.attribute_groups or (group,))

    def _countable(self, noun: str) -> bool:
        """Whether "two …s" makes sense and can be counted in a picture."""
        if any(noun == other or noun.startswith(f"{other} ") for other in self.settings.not_countable):
            return False
        if inflection.is_mass(noun) or inflection.is_plural(noun):
            return False
        return self.lexicon is None or self.lexicon.countable(noun)

    def question(self, template: Template, item: Seed, start: Start, draft: Draft | Dropped) -> Row | Dropped:
        """The row of a draft whose program answers as wanted on its scenes; else why it is dropped."""
        if isinstance(draft, Dropped):
            return draft
        if not FEWEST_IMAGES <= len(set(draft.scenes)) == len(draft.scenes) <= MOST_IMAGES:
            return Dropped("not 2-5 distinct images")
        try:
            scenes = [self.store.graph(scene_id) for scene_id in draft.scenes]
            value = execute(draft.wording.program, scenes)
        except ProgramError as error:
            return Dropped(f"program: {error.reason}")
        if draft.wanted is not None and (type(value), value) != (type(draft.wanted), draft.wanted):
            return Dropped("another answer than wanted")
        if isinstance(value, int) and value > LARGEST_ANSWER:
            return Dropped("number above 5")
        if not self.holds(draft.wording, scenes, value):
            return Dropped("another answer if a name is read otherwise")
        return self.row(template, item, start, draft, value)

    def holds(self, wording: Wording, scenes: Sequence[SceneGraph], value: Value) -> bool:
        """Whether the program gives the value too where its names stand for all that may be called so."""
        if self.readings is None or not self.readings.matter(wording.names, scenes):
            return True
        try:
            return execute(wording.program, scenes, self.readings) == value
        except ProgramError:
            return False

    def row(self, template: Template, item: Seed, start: Start, draft: Draft, value: Value) -> Row:
        text, answer = draft.wording.text, answer_text(value)
        identity = stable_hash("question", text, tuple(sorted(draft.scenes)), answer)
        return {
            "question_id": f"{identity & 0xFFFF_FFFF_FFFF_FFFF:016x}",
            "testbed": self.testbed,
            "split": start.split,
            "template": template.name,
            "text": text,
            "annotator_text": draft.wording.annotator_text,
            "program": draft.wording.program_json,
            "answer": answer,
            "scene_ids": draft.scenes,
            "seed": item.number,
            "subgraph_key": start.subgraph_key,
            "tree": start.tree,
            "start_scene": item.scene_id,
            "size": item.graph.size,
            "depth": item.graph.depth,
        }
