"""Questions hold by every reading of their names: in a world where a cat is also a boy, and what is near is also on."""

import pytest

from compvqa import tables
from compvqa.covr.executor import ProgramError, answer_text, execute
from compvqa.covr.questions.generate import QuestionsSettings, generate
from compvqa.covr.questions.readings import Readings
from compvqa.covr.questions.references import matches
from compvqa.covr.questions.seed import Memory
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.covr.subgraphs.subgraph import Edge, make
from compvqa.programs.rows import from_json
from compvqa.questions.tables import DROPPED
from compvqa.scenes.entries import LexiconData
from compvqa.scenes.graph import Object, Relation, SceneGraph, SceneStore
from compvqa.scenes.lexicon import Lexicon
from unit.covr.questions.question_worlds import subgraphs, write_world

LEXICON = Lexicon(
    LexiconData.model_validate({"nouns": {"cat": {"hypernyms": ["boy"]}}, "relations": {"near": {"entails": ["on"]}}})
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    write_world(folder, scenes=16, most_seeds=40)
    LEXICON.dump(folder / "lexicon.json")
    return folder


def made(world, root, out, **settings):
    """The questions, and how many were dropped for their readings."""
    names = ("seeds", "related")
    generate(
        *(world / f"{name}.parquet" for name in names),
        world / "scenes",
        world / "lexicon.json",
        [root / "config/templates/covr"],
        out / "questions.parquet",
        out / "dropped.parquet",
        QuestionsSettings(**settings),
        1,
        "world",
    )
    dropped = tables.read(out / "dropped.parquet", DROPPED).to_pylist()
    return tables.read(out / "questions.parquet", QUESTIONS).to_pylist(), {
        row["template"]: row["n"] for row in dropped if row["reason"] == "another answer if a name is read otherwise"
    }


def changed(questions, store):
    """The questions whose answer is another, or none, if a cat may be meant by "boy"."""
    for question in questions:
        try:
            value = execute(from_json(question["program"]), list(store.graphs(question["scene_ids"])), LEXICON)
        except ProgramError:
            value = None
        if value is None or answer_text(value) != question["answer"]:
            yield question


def test_no_answer_changes_if_names_are_read_otherwise(world, root, tmp_path):
    store = SceneStore(world / "scenes")
    kept, dropped = made(world, root, tmp_path)
    assert kept and not list(changed(kept, store))
    assert sum(dropped.values()) > 0
    free, none = made(world, root, tmp_path, every_reading=False)
    assert not none and len(list(changed(free, store))) > 0.02 * len(free)
    assert {question["template"] for question in kept} >= {question["template"] for question in free} - {
        "VERIFYSAMEATTR"
    }


def test_a_reference_may_refer_to_what_is_called_otherwise(world):
    readings = Readings.of(LEXICON, world / "scenes")
    scene = SceneGraph(
        "s", {"1": Object("1", "cat"), "2": Object("2", "boy"), "3": Object("3", "hat")}, (Relation("near", "1", "3"),)
    )
    on_a_hat = make("boy", None, (Edge("on", make("hat")),))
    assert matches(scene, on_a_hat) == [] and matches(scene, on_a_hat, readings) == ["1"]
    assert readings.read_as(on_a_hat) == {"cat", "near"} and not readings.read_as(make("hat"))


def test_a_scene_is_clear_where_a_reference_refers_to_as_much_in_any_reading(world):
    store, readings = SceneStore(world / "scenes"), Readings.of(LEXICON, world / "scenes")
    memory, verdicts = Memory(store.graph, readings), set()
    graphs = list(store.graphs(store.scenes["scene_id"].to_pylist()))
    for g in {g for graph in graphs for g in subgraphs(graph)}:
        clear = memory.clarity(g)
        for scene in graphs:
            same = len(matches(scene, g)) == len(matches(scene, g, readings))
            assert same if clear is None else clear[scene.scene_id] == same
            verdicts.add((clear is None, same))
    assert verdicts == {(True, True), (False, True), (False, False)}


def test_readings_matter_where_a_scene_holds_another_name(world):
    readings = Readings.of(LEXICON, world / "scenes")
    names = sorted(readings.others)
    general, special = names[0], sorted(readings.others[names[0]])[0]
    plain = SceneGraph("s", {"1": Object("1", general)})
    assert not readings.matter([general, "nothing annotated"], [plain])
    assert readings.matter([general], [plain, SceneGraph("t", {"1": Object("1", special)})])
    assert readings.matter([general], [SceneGraph("t", {"1": Object("1", "thing", {special: None})})])
