"""Properties of the questions of random small worlds, made by the real search and all templates.

Each is checked from the tables alone, on the scenes as they were drawn. ``COMPVQA_WORLDS=100`` tries more worlds.
"""

import json
import os
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import pytest

from compvqa import tables
from compvqa.covr.executor import answer_text, execute, trace
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.language import QUANTIFIERS
from compvqa.covr.questions.generate import QuestionsSettings, asked_of_others, generate
from compvqa.covr.questions.seed import fits
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.covr.questions.templates import load
from compvqa.covr.subgraphs.related import RelatedSettings, relate
from compvqa.covr.subgraphs.subgraph import make, parse
from compvqa.covr.subgraphs.tables import RELATED
from compvqa.programs.rows import Row, from_json
from compvqa.scenes.entries import LexiconData
from compvqa.scenes.graph import SceneGraph
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import stable_hash
from unit.covr.questions.leaf_oracle import Asked
from unit.covr.questions.question_worlds import ATTRIBUTES, NOUNS, RELATIONS, scene
from unit.covr.subgraphs.graph_store import Pairs, Store, split_of
from unit.covr.subgraphs.related_oracle import World

pytestmark = pytest.mark.xdist_group("question-worlds")  # one process, so that they are made once
WORLDS = int(os.environ.get("COMPVQA_WORLDS", "4"))
SCENES = 30
DEFINITE = {"Unique", "AssertUnique"}
SCOPED = {*QUANTIFIERS, "AllSame"}


@dataclass(frozen=True)
class Made:
    """A world's scenes, its seeds by number, their related rows, and its questions."""

    distractors: str
    scenes: dict[str, SceneGraph]
    overlap: Pairs
    seeds: dict[int, dict]
    related: list[dict]
    questions: list[dict]


def drawn_overlap(number: int) -> Pairs:
    """Most nouns, attributes and relations exclude each other, some overlap, in one direction or both."""
    rng = random.Random(f"overlap {number}")
    vocabulary = {"noun": NOUNS, "attribute": ATTRIBUTES, "relation": RELATIONS}
    pairs = [(kind, x, y) for kind, names in vocabulary.items() for x in names for y in names if x != y]
    return {pair: rng.choice([0.1, 0.9, 0.9, 0.9, 0.9]) for pair in pairs}


def stated(overlap: Pairs) -> tuple[LexiconData, Pairs]:
    """A lexicon that states the overlap, which is then the same in both directions."""
    both = {(kind, x, y): overlap[kind, min(x, y), max(x, y)] for kind, x, y in overlap}
    entries = {"noun": {}, "attribute": {}, "relation": {}}
    for (kind, x, y), m in both.items():
        entry = entries[kind].setdefault(x, {"overlaps": [], "excludes": []})
        entry["excludes" if m > 0.5 else "overlaps"].append(y)
    return LexiconData.model_validate({f"{kind}s": found for kind, found in entries.items()}), both


def made(number: int, templates: Path, folder: Path, distractors: str) -> Made:
    """The ``number``-th world, from its scenes to its questions."""
    graphs = [replace(scene(1000 * number + i), scene_id=f"w:{number}:{i:02}") for i in range(SCENES)]
    overlap, lexicon = drawn_overlap(number), None
    if distractors == "random":
        data, overlap = stated(overlap)
        lexicon = folder / "lexicon.json"
        Lexicon(data).dump(lexicon)
    store = Store(folder, graphs, overlap)
    seeds, _, _ = store.search(seed=number)
    seed_file, candidates, presence, related = (
        folder / f"{name}.parquet" for name in ("seeds0", "candidates0", "presence", "related")
    )
    tables.write(presence, PRESENCE, [])
    relate(seed_file, candidates, presence, related, RelatedSettings())
    out = folder / "questions.parquet"
    settings = QuestionsSettings(distractors=distractors)
    dropped = folder / "dropped.parquet"
    generate(seed_file, related, store.scenes, lexicon, [templates], out, dropped, settings, number, "world")
    return Made(
        distractors,
        {graph.scene_id: graph for graph in graphs},
        overlap,
        {row["seed"]: row for row in seeds},
        tables.read(related, RELATED).to_pylist(),
        tables.read(out, QUESTIONS).to_pylist(),
    )


@pytest.fixture(scope="module", params=["related", "random"])
def worlds(request, templates, tmp_path_factory):
    folders = (tmp_path_factory.mktemp("world") for _ in range(WORLDS))
    return [made(number, templates, folder, request.param) for number, folder in enumerate(folders)]


@pytest.fixture(scope="module")
def asked(worlds):
    """Each question with its program and its scenes."""
    return [
        (question, from_json(question["program"]), [world.scenes[scene_id] for scene_id in question["scene_ids"]])
        for world in worlds
        for question in world.questions
    ]


@pytest.fixture(scope="module")
def second(templates, tmp_path_factory):
    """The folder of the second world."""
    folder = tmp_path_factory.mktemp("second")
    made(1, templates, folder, "related")
    return folder


@pytest.mark.parametrize("answers", range(3))
def test_whatever_the_answers_the_others_exist_check_asks_what_was_told_before(
    second, templates, tmp_path, answers, monkeypatch
):
    given = [second / "seeds0.parquet", second / "related.parquet", second / "scenes", None, [templates]]
    told = {(scene_id, part.key) for scene_id, part in asked_of_others(*given, QuestionsSettings(), 1)}
    asked = set()

    def others(scene_id, part):
        asked.add((scene_id, part.key))
        return stable_hash(answers, scene_id, part.key) % 3 == 0

    monkeypatch.setattr("compvqa.covr.questions.generate.read_others", lambda *_: others)
    generate(*given, tmp_path / "q.parquet", tmp_path / "d.parquet", QuestionsSettings(), 1, "world")
    assert asked and asked <= told


def test_every_template_asks_whose_distractors_there_are(worlds, asked, templates):
    keys = {row["key"] for world in worlds for row in world.related}
    can = {t.name for t in load(templates) if not t.needs.keys or any(fits(key, t.needs.keys) for key in keys)}
    assert {question["template"] for question, _, _ in asked} == can
    assert len(can) >= 6


def test_programs_give_the_stored_answers_on_the_drawn_scenes(asked):
    for question, program, scenes in asked:
        assert answer_text(execute(program, scenes)) == question["answer"], question["text"]


def sizes(program: list[Row], scenes: list[SceneGraph], operations: set[str]) -> list[int]:
    """How many objects, over all scenes, the rows of these operators are given."""
    values = trace(program, scenes)
    return [sum(map(len, values[row.dependencies[0]])) for row in program if row.operation in operations]


def test_what_the_questions_call_the_one_is_one_object_of_all_images(asked):
    found = [(question["text"], sizes(program, scenes, DEFINITE)) for question, program, scenes in asked]
    assert any(numbers for _, numbers in found)
    assert [(text, numbers) for text, numbers in found if set(numbers) > {1}] == []


def test_scopes_are_never_empty(asked):
    found = [(question["text"], sizes(program, scenes, SCOPED)) for question, program, scenes in asked]
    assert any(numbers for _, numbers in found)
    assert [(text, numbers) for text, numbers in found if 0 in numbers] == []


def test_distractors_do_not_contain_the_subgraph_in_any_reading(worlds):
    keys = Counter()
    for made in worlds:
        world = World(made.scenes.values(), split_of, made.overlap)
        for row in made.related:
            if row["nodes"]:
                keys[row["key"]] += 1
                seed = made.seeds[row["seed"]]
                assert not world.reads(made.scenes[row["scene_id"]], parse(seed["tree"])), (seed["tree"], row)
    assert all(keys[key] > 20 for key in ("0_name", "0_attr", "1_relation", "2_name"))


def test_two_answers_to_one_text_come_from_two_image_sets(worlds):
    pairs = 0
    for made in worlds:
        images = defaultdict(lambda: defaultdict(set))
        for question in made.questions:
            images[question["text"], question["seed"]][question["answer"]].add(frozenset(question["scene_ids"]))
        for text, answers in images.items():
            for one, other in combinations(answers.values(), 2):
                pairs += 1
                assert not one & other, text
    assert pairs > 100


def test_two_to_five_images_of_one_split(asked):
    splits = Counter()
    for question, _, _ in asked:
        scene_ids = question["scene_ids"]
        assert 2 <= len(scene_ids) == len(set(scene_ids)) <= 5
        assert {split_of(scene_id) for scene_id in scene_ids} == {question["split"]}
        splits[question["split"]] += 1
    assert set(splits) == {"train", "val"}


LEAF_TEXTS = {  # of each form, how its text begins
    "a relation": r"(All|Some|No) (\w+ )+(is|are) (wearing|near|on) ",
    "of what others have a relation to": r"(All|Some|No) (\w+ )+with (\w+ )+(them|it)( with \w+)* are ",
    "its attribute": r"(All|Some|No) (\w+ )*with (\w+ )+(them|it)( with (a )?\w+)* are (red|blue|old|young)$",
    "of one with two": r"(All|Some|No) (\w+ )+and have (\w+ )+(them|it)( with (a )?\w+)* are ",
    "a modifier": r"(All|Some|No) (\w+ )+(are) (wearing|near|on) (it|them|him|her) with ",
    "choice of what such a one has": r"The \w+ with (\w+ )+(is|are) (wearing|near|on) (a )?\w+ or ",
    "what such a one has": r"What (is|are) the \w+ with (\w+ )+(wearing|on)\?",
    "choice of its relations": r"(Is|Are) the \w+ with (\w+ )+or (wearing|near|on) (it|them|him)\?",
    "choice of a modifier": r"The (\w+ )+(is|are) (wearing|near|on) (it|them|him) with (a )?\w+ or ",
}


def test_each_leaf_triplet_is_a_condition_or_an_answer_that_holds(asked):
    """An oracle that shares no code with the generator or the executor gives each question's answer."""
    told = defaultdict(set)
    for question, _, scenes in asked:
        if question["template"] in ("VERIFYQUANT", "CHOOSEOBJECT", "QUERYOBJECT", "CHOOSEREL"):
            assert Asked(json.loads(question["program"]), scenes).answer() == question["answer"], question["text"]
            for form, pattern in LEAF_TEXTS.items():
                if re.match(pattern, question["text"]):
                    told[form].add(question["answer"])
    assert set(LEAF_TEXTS) - set(told) == set()


REFERRING = {"Find", "Filter", "WithRelation"}  # the rows of references
REFERRED = DEFINITE | SCOPED | {"Count", "Exists", "UniqueImages", "GroupByImages"}  # the rows about what they find
WITHOUT_ATTRIBUTE = {"VERIFYATTR", "CHOOSEATTR", "QUERYATTR", "VERIFYQUANTATTR", "VERIFYSAMEATTR"}


def holds_something_asked_about(program: list[Row], scene: SceneGraph) -> bool:
    """Whether a reference of the question refers to something in the scene."""
    refers = [row.operation in REFERRING or turned_round(program, row) for row in program]
    values = trace([row if there else Row("Scene") for row, there in zip(program, refers, strict=True)], [scene])
    sets = [row.dependencies[0] for row in program if row.operation in REFERRED]
    return any(any(values[at]) for at in sets if refers[at])


def turned_round(program: list[Row], row: Row) -> bool:
    """Whether the row refers by a relation of something else to it, and does not ask what that relation leads to."""
    return row.operation == "WithRelationObject" and program[row.dependencies[0]].operation in REFERRING


def test_random_scenes_stand_for_all_distractors_but_those_that_the_answer_needs(worlds):
    kinds = Counter()
    for made in worlds:
        world = World(made.scenes.values(), split_of, made.overlap)
        related = defaultdict(set)
        for row in made.related:
            related[row["seed"]].add(row["scene_id"])
        for question in made.questions:
            program, g = from_json(question["program"]), parse(question["tree"])
            for scene_id in question["scene_ids"]:
                scene, of_seed = made.scenes[scene_id], related[question["seed"]] | {question["start_scene"]}
                asked = holds_something_asked_about(program, scene)
                kinds[made.distractors, asked, scene_id in of_seed] += 1
                if scene_id not in of_seed:
                    assert not world.reads(scene, g), (question["text"], scene_id)
                    if question["template"] in WITHOUT_ATTRIBUTE:
                        assert not world.reads(scene, make(g.name, None, g.edges)), (question["text"], scene_id)
    (distractors,) = {made.distractors for made in worlds}
    fillers = (False, distractors == "related")  # hold nothing asked about, and come from the seed or not
    assert kinds.keys() == {(distractors, True, True), (distractors, *fillers)}
    assert min(kinds.values()) > 1000
