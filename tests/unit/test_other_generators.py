"""Records of other generators, as these write them, put as questions that are judged; none of their code is needed."""

import csv
import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compvqa.covr.judging.outside import AMBIGUOUS, TRUE, WRONG, World, judge_file
from compvqa.covr.released.lines import Refused
from compvqa.files import write_json
from compvqa.programs.rows import Row, to_json
from compvqa.scenes.graph import Object, Relation, SceneGraph, SceneStore
from compvqa.scenes.lexicon import Lexicon
from unit.covr.subgraphs.graph_worlds import write_scenes


def scene(name: str, things: dict[str, str], *relations: tuple) -> SceneGraph:
    """A scene of things, each by its words: attributes and then the noun."""
    objects = {key: Object(key, said.split()[-1], dict.fromkeys(said.split()[:-1])) for key, said in things.items()}
    return SceneGraph(name, objects, tuple(Relation(how, one, *rest) for one, how, *rest in relations))


TRUTH = [
    scene("p1", {"a": "old red dog", "b": "man", "c": "cup"}, ("b", "holding", "c")),
    scene("p2", {"a": "black old dog", "b": "man", "c": "cup", "d": "dog"}, ("b", "lifting", "c")),
    scene("p3", {"a": "tree", "b": "woman", "c": "saw"}, ("b", "cutting", "a", (("with", "c"),))),
]
# one of the two dogs of p2 was overlooked, and that the other one is old
SEEN = [TRUTH[0], scene("p2", {"a": "black dog", "b": "man", "c": "cup"}, ("b", "lifting", "c")), TRUTH[2]]
LEXICON = {
    "nouns": {"man": {"hypernyms": ["person"]}, "person": {}, "dog": {"synonyms": ["hound"]}, "hound": {}},
    "attributes": {},
    "relations": {},
}
CHECKOUT = os.environ.get("COMPVQA_PROVISION", "")
BOTH, ALL = ["p1", "p2"], ["p1", "p2", "p3"]


def record(kind: str, images: list[str], response: str, **rest: object) -> dict:
    """A record of ProVision's: what its generator gives, with a text and the answer in words."""
    return {"generator": f"{kind}MultiGenerator", "data_path": images, "prompt": "?", "response": response, **rest}


def which(kind: str, images: list[str], number: int, **rest: object) -> dict:
    return record(kind, images, f"Image {number}", answer=f"Image {number}", answer_id=0, **rest)


HOLDING = {"object1": "man", "relation": "holding", "object2": "cup"}
RECORDS = [
    (which("HasObject", ["p2", "p3"], 0, object="man"), TRUE, ""),
    (which("HasNotObject", ["p2", "p3"], 1, object="man"), TRUE, ""),
    (which("HasAttributedObject", BOTH, 1, object="dog", attribute="black"), TRUE, ""),
    (which("HasAttributedObject", BOTH, 0, object="dog", attribute="old"), AMBIGUOUS, "not unique"),
    (which("HasNotAttributedObject", BOTH, 1, object="dog", attribute="old"), WRONG, "missing"),
    (which("HasNotAttributedObject", ALL, 0, object="dog", attribute="black"), AMBIGUOUS, "not unique"),
    (which("HasRelation", BOTH, 0, **HOLDING), TRUE, ""),
    (which("HasNotRelation", BOTH, 0, **HOLDING), WRONG, "not by the annotations"),
    (which("HasMostObject", BOTH, 1, object="dog"), TRUE, ""),
    (which("HasLeastObject", BOTH, 1, object="dog"), WRONG, "not by the annotations"),
    (record("CountObject", BOTH, "2", object="dog", answer="2"), WRONG, "other instances"),
    (record("CountAttributeObject", BOTH, "1", object="dog", attribute="red", answer="1"), TRUE, ""),
    (record("CommonObject", BOTH, "dog, cup, and man", objects=["dog", "cup", "man"]), TRUE, ""),
    (record("CommonObject", BOTH, "dog and cup", objects=["dog", "cup"]), WRONG, "not by the annotations"),
    (record("CommonAttribute", BOTH, "old", object="dog", attributes=["old"]), TRUE, ""),
    (record("CommonAttribute", BOTH, "black", object="dog", attributes=["black"]), WRONG, "not by the annotations"),
    (
        record("CompareAttribute", BOTH, "", object="dog",
               answer="dog is red in Image 0, dog is black in Image 1."),
        AMBIGUOUS,
        "not unique",
    ),
    (
        record(
            "CompareRelation", BOTH, "", object1="man", object2="cup",
            answer="man is holding cup in Image 0, man is lifting cup in Image 1.",
        ),
        TRUE,
        "",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def benchmark(root):
    """Modules of benchmarks/, which is no package, by their names."""

    def load(name: str):
        spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", root / f"benchmarks/{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="module")
def provisions(benchmark):
    return benchmark("provisions")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("others")
    write_scenes(folder / "scenes", SEEN)
    for name in ("complete", "missing_only"):
        write_scenes(folder / f"truth/{name}", TRUTH if name == "complete" else SEEN)
    write_json(folder / "lexicon.json", LEXICON)
    return folder


def judged(folder: Path, questions: list[dict]) -> list[tuple[str, str]]:
    file = folder / "theirs.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in questions))
    world = World.load(folder / "scenes", folder / "truth", folder / "lexicon.json")
    return [(row["verdict"], row["cause"]) for row in judge_file(file, world)]


def words(provisions, folder: Path):
    graphs = SceneStore(folder / "scenes").graphs(ALL)
    return provisions.Words.of(graphs, Lexicon.load(folder / "lexicon.json"))


def test_each_kind_of_provisions_questions_is_judged_as_a_reader_would(provisions, folder):
    known = words(provisions, folder)
    questions = [provisions.claimed(given, known) for given, *_ in RECORDS]
    assert judged(folder, questions) == [tuple(told) for _, *told in RECORDS]
    kinds = {question["template"] for question in questions}
    assert kinds == {*provisions.WHICH, *provisions.COUNTS, *provisions.LISTED} and len(kinds) == 14


def test_common_objects_are_no_synonyms_of_listed_ones_nor_whole_kinds(provisions, folder):
    known = words(provisions, folder)
    assert known.others("noun", ["dog", "man"]) == ["cup", "saw", "tree", "woman"]
    general = provisions.Words({"noun": frozenset({"man", "person", "dog", "hound"})}, known.lexicon)
    assert general.others("noun", ["man"]) == ["dog", "hound"] and general.others("noun", ["dog"]) == ["man"]


def test_answers_that_compare_images_are_taken_apart(provisions):
    said = "dog is old, red, and big in Image 0, dog is black and big in Image 1, dog is red in Image 2."
    assert provisions.described(said, "dog") == [["old", "red", "big"], ["black", "big"], ["red"]]
    said = "man is sitting on and near bench in Image 0, man is behind bench in Image 1."
    assert provisions.described(said, "man", "bench") == [["sitting on", "near"], ["behind"]]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (which("HasObject", BOTH, 0, object="unicorn"), "no noun of the annotators is called unicorn"),
        (which("HasAttributedObject", BOTH, 0, object="dog", attribute="gray"), "no attribute .* called gray"),
        (record("Caption", BOTH, "two pictures"), "the generator is not known"),
    ],
)
def test_what_cannot_be_claimed_is_refused_with_its_reason(provisions, folder, given, reason):
    with pytest.raises(provisions.Unclaimed, match=reason):
        provisions.claimed(given, words(provisions, folder))


def test_scenes_are_written_with_relations_between_places(provisions, folder):
    provisions.write_annotations(SceneStore(folder / "scenes"), ["p1"], folder / "scenes.json")
    [scene] = json.loads((folder / "scenes.json").read_text()).values()
    annotation = scene["annotation"]
    assert annotation["labels"] == ["dog", "man", "cup"] and annotation["relations"] == [[1, "holding", 2]]
    assert sorted(annotation["attributes"][0]) == ["old", "red"]


@pytest.mark.skipif(
    not CHECKOUT, reason="needs a checkout of github.com/JieyuZ2/ProVision: name it in COMPVQA_PROVISION"
)
def test_of_what_is_annotated_truly_each_question_is_true(provisions, tmp_path):
    graphs = [some_scene(f"s{number}", Random(number)) for number in range(40)]
    for name in ("scenes", "truth/complete", "truth/missing_only"):
        write_scenes(tmp_path / name, graphs)
    write_json(tmp_path / "lexicon.json", {"nouns": {}, "attributes": {}, "relations": {}})
    known = provisions.Words.of(graphs, Lexicon.load(tmp_path / "lexicon.json"))
    store, file = SceneStore(tmp_path / "scenes"), tmp_path / "scenes.json"
    provisions.write_annotations(store, [graph.scene_id for graph in graphs], file)
    theirs = provisions.ProVision(Path(CHECKOUT), file)
    for images in (2, 4):
        made = [record for kind in theirs.kinds for record in theirs.records(kind, images, 8, seed=1)]
        assert made == [record for kind in theirs.kinds for record in theirs.records(kind, images, 8, seed=1)]
        questions = [provisions.claimed(record, known) for record in made]
        assert len({question["template"] for question in questions}) >= 12
        told = zip(questions, judged(tmp_path, questions), strict=True)
        untrue = {question["template"]: verdict for question, verdict in told if verdict != (TRUE, "")}
        # which of four images has no red dog, if two have no dog at all?
        several = {"HasNotAttributedObject": (AMBIGUOUS, "not unique")}
        assert untrue == ({} if images == 2 else several)


def some_scene(name: str, rng: Random) -> SceneGraph:
    """A scene of a few things of few names, two of which are related."""
    looks, nouns = ("red", "small", "wooden"), ("dog", "cat", "ball")
    things = {str(number): f"{rng.choice(looks)} {rng.choice(nouns)}" for number in range(4)}
    return scene(name, things, ("0", rng.choice(("on", "near", "under", "behind")), "1"))


def row(operation: str, *arguments: object, of: tuple[int, ...] = ()) -> dict:
    return {"operation": operation, "arguments": list(arguments), "dependencies": list(of)}


COVRS = {
    "qid": "s0-1", "utterance": "How many dogs?", "scenes": ["s0", "s1"], "answer": 2, "pattern_name": "count_ref",
    "program": [row("find", "dog"), row("count", of=(0,))],
}  # fmt: skip


def test_covr_s_records_are_judged_by_their_programs(benchmark, folder):
    released, images = benchmark("released"), {"s0": "p1", "s1": "p2", "s_2": "p3"}
    chosen = [
        row("find", "dog"),
        row("filter", "black", of=(0,)),
        row("unique", of=(1,)),
        row("verify_attr", "old", of=(2,)),
    ]
    verify = COVRS | {"pattern_name": "verify_attr", "program": chosen, "answer": False, "scenes": ["s1", "s_2"]}
    using = [row("find", "saw"), row("find", "woman"), row("with_relation", "cutting:_with", of=(1, 0))]
    tool = COVRS | {"program": [*using, row("count", of=(2,))], "answer": 1, "scenes": ["s1", "s_2"]}
    questions = [released.converted(given, images) for given in (COVRS, COVRS | {"answer": 3}, verify, tool)]
    assert [question["images"] for question in questions] == [BOTH, BOTH, ["p2", "p3"], ["p2", "p3"]]
    assert Counter(question["template"] for question in questions) == {"COUNT": 3, "VERIFYATTR": 1}
    assert judged(folder, questions) == [(WRONG, "other instances"), (TRUE, ""), (WRONG, "missing"), (TRUE, "")]
    with pytest.raises(Refused, match="without an answer"):
        released.converted(COVRS | {"answer": None}, images)


def run(root: Path, *arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, root / "benchmarks/judged.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_one_command_writes_a_table_and_a_figure(root, folder, tmp_path):
    program = to_json([Row("Find", ("dog",)), Row("Count", (), (0,))])
    shared = {"template": "COUNT", "text": "How many dogs?", "scene_ids": BOTH, "program": program}
    rows = [
        shared | {"split": side, "answer": answer} for side, answer in [("train", "3"), ("train", "2"), ("val", "9")]
    ]
    (folder / "dataset").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "dataset/questions.parquet")
    done = run(root, tmp_path, "--testbed", folder, "--truth", folder / "truth")
    assert done.returncode == 0, done.stderr
    assert "ours: 2 questions; 2 judged" in done.stdout
    found = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    counts = {(row["verdict"], row["cause"]): (int(row["questions"]), int(row["of"])) for row in found}
    assert counts == {
        (TRUE, ""): (1, 2),
        (WRONG, ""): (1, 2),
        (WRONG, "other instances"): (1, 2),
        (AMBIGUOUS, ""): (0, 2),
    }
    assert "| ours | 2 | 50.0 (9.5 to 90.5) |" in (tmp_path / "table.md").read_text()
    assert (tmp_path / "judged.png").stat().st_size > 1000
    assert len((tmp_path / "ours.jsonl").read_text().splitlines()) == 2
