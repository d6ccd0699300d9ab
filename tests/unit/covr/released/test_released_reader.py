"""COVR's released files: read back, the questions are those that were written; what is no question is told."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.properties import predicate
from compvqa.covr.questions.tables import DATASET
from compvqa.covr.released.programs import convert
from compvqa.covr.released.reader import REJECTS, ReleasedQuestions, read_questions
from compvqa.errors import InputError
from compvqa.evaluation.scores import SCORES, score
from compvqa.files import read_yaml
from compvqa.models import baseline
from compvqa.programs.rows import Row, to_json
from compvqa.questions.tables import PARAPHRASES
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.tables import SCENES
from compvqa.splits.splitters import SPLITS, SplitSettings, split
from fixtures.covr_files import PATTERNS, write_lines
from unit.covr.released.released_worlds import DRAWN, as_asked, release

pytestmark = pytest.mark.xdist_group("released-reader")  # one process, so that its world is made once
WHOLE = {"COUNT", "VERIFYCOUNT", "COUNTGROUPBY", "VERIFYCOUNTGROUPBY"}  # their references are the whole subgraph


@pytest.fixture(scope="module")
def world(root, tmp_path_factory):
    return release(tmp_path_factory.mktemp("released", 1), root / "config/templates/covr")


@pytest.fixture(scope="module")
def read(world, tmp_path_factory):
    """The folder of what is read of the world's files, and the counts."""
    out = tmp_path_factory.mktemp("read")
    return out, read_questions(world.files, out, out / "scenes", "released", 1)


@pytest.fixture(scope="module")
def rows(read):
    return {row["question_id"]: row for row in tables.read(read[0] / "questions.parquet", DATASET).to_pylist()}


class TestPrograms:
    """Programs as released, and as ours."""

    def test_they_come_back_as_they_were_made(self, world):
        for question_id, line in world.lines.items():
            assert convert(line["program"]) == tuple(world.questions[question_id]["program"])
        assert {question["template"] for question in world.questions.values()} == set(PATTERNS)
        assert world.untold < len(world.questions) / 20

    @given(st.data())
    def test_the_order_of_rows_does_not_matter(self, world, data):
        line = world.lines[data.draw(st.sampled_from(sorted(world.lines)))]["program"]
        places: dict[int, int] = {}
        rows = []
        while len(rows) < len(line) - 1:
            ready = [n for n, row in enumerate(line[:-1]) if n not in places and _deps(row) <= places.keys()]
            chosen = data.draw(st.sampled_from(ready))
            places[chosen] = len(rows)
            rows.append(_moved(line[chosen], places))
        assert convert([*rows, _moved(line[-1], places)]) == convert(line)

    def test_modifiers_belong_to_the_relation_that_they_name(self):
        # a man that is riding a horse with a rope and near a dog: the authors put modifiers behind all relations
        rows = [
            {"operation": "find", "arguments": ["horse"]},
            {"operation": "find", "arguments": ["dog"]},
            {"operation": "find", "arguments": ["rope"]},
            {"operation": "find", "arguments": ["man"]},
            {"operation": "with_relation", "arguments": ["riding"], "dependencies": [3, 0]},
            {"operation": "with_relation", "arguments": ["near"], "dependencies": [4, 1]},
            {"operation": "with_relation", "arguments": ["riding:_with"], "dependencies": [5, 2]},
            {"operation": "count", "dependencies": [6]},
        ]
        assert convert(rows) == (
            *(Row("Find", ("horse",)), Row("Find", ("rope",)), Row("Find", ("dog",)), Row("Find", ("man",))),
            *(Row("WithRelation", ("riding", "with"), (3, 0, 1)), Row("WithRelation", ("near",), (4, 2))),
            Row("Count", (), (5,)),
        )

    def test_a_modifier_that_is_asked_about_is_a_relation(self):
        rows = [
            {"operation": "find", "arguments": ["man"]},
            {"operation": "assert_unique", "dependencies": [0]},
            {"operation": "scene"},
            {"operation": "with_relation_object", "arguments": ["parachuting:_to"], "dependencies": [1, 2]},
            {"operation": "unique", "dependencies": [3]},
            {"operation": "query_name", "dependencies": [4]},
        ]
        assert convert(rows)[3] == Row("WithRelationObject", ("parachuting to",), (1, 2))

    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            ([], "a list of 1 to"),
            ({"operation": "scene"}, "a list of 1 to"),
            (["scene"], "released row 0: it is no mapping"),
            ([{"operation": "sort"}], "released row 0: there is no operation 'sort'"),
            ([{"operation": ["find"]}], "there is no operation"),
            ([{"operation": "count", "dependencies": [0]}], r"depends on \[0\]"),
            ([{"operation": "count", "dependencies": "x"}], "not lists"),
            ([{"operation": "keys"}], "keys takes one dependency"),
            ([{"operation": "count"}], "Count takes 1 dependencies"),
            ([{"operation": "find", "arguments": [["cat", "dog"]]}], "takes the name of a noun"),
            ([{"operation": "find", "arguments": [7]}], "takes the name of a noun"),
            ([{"operation": "scene"}, {"operation": "all", "arguments": ["red"], "dependencies": [0]}], "a program is"),
            ([{"operation": "scene"}, {"operation": "eq", "dependencies": [0, 0]}], "eq's dependency 1 is objects"),
            ([{"operation": "with_relation", "arguments": ["on:_at"], "dependencies": []}], "takes 2 dependencies"),
        ],
    )
    def test_what_is_wrong_is_told(self, rows, words):
        with pytest.raises(ValueError, match=words):
            convert(rows)

    def test_rows_that_are_used_again_and_again_do_not_explode(self):
        rows = [{"operation": "scene"}]
        rows += [{"operation": "with_relation", "arguments": ["on"], "dependencies": [n, n]} for n in range(150)]
        with pytest.raises(ValueError, match="more than 200 rows"):
            convert(rows)


def _deps(row: dict) -> set[int]:
    return set(row.get("dependencies", []))


def _moved(row: dict, places: dict[int, int]) -> dict:
    return row | ({"dependencies": [places[n] for n in row["dependencies"]]} if "dependencies" in row else {})


def test_all_that_was_written_is_read(world, read, rows):
    out, counts = read
    assert counts["in"] == counts["out"] == len(rows) == len(world.lines)
    for question_id, row in rows.items():
        question, line = world.questions[question_id], world.lines[question_id]
        kept = ("template", "text", "answer", "scene_ids")
        assert {key: row[key] for key in kept} == {key: question[key] for key in kept}
        assert row["program"] == to_json(question["program"]) and row["properties"] == sorted(line["properties"])
        assert row["part"] == question_id.partition("_")[0]
        assert row["split"] == ("train" if row["part"] == "train" else "val") and row["tree"] is None
    paraphrases = tables.read(out / "paraphrases.parquet", PARAPHRASES).to_pylist()
    assert {row["question_id"]: row["text"] for row in paraphrases} == {
        question_id: line["rephrase"] for question_id, line in world.lines.items() if line["rephrase"]
    }
    assert not len(tables.read(out / "rejects.parquet", REJECTS))


def test_scenes_are_the_images_that_questions_name(read, rows):
    scenes = tables.read(read[0] / "scenes/scenes.parquet", SCENES).to_pylist()
    asked = {(image, row["split"]) for row in rows.values() for image in row["scene_ids"]}
    assert {(row["image"], row["split"]) for row in scenes} == asked and len(scenes) == len(asked)
    assert {row["source"] for row in scenes} == {"vg", "imsitu"}
    assert not SceneStore(read[0] / "scenes").graph(scenes[0]["scene_id"]).objects


def test_properties_are_those_of_our_own_questions(world, rows):
    names = ["HAS-QUANT", "HAS-COMPAR-MORE", "HAS-ATTR", "HAS-NUM-3 or ANS-3", "TPL-VERIFYATTR", "LEXICAL-boy"]
    for question_id, row in rows.items():
        question = world.questions[question_id]
        without, whole = (as_asked(question, tree) for tree in (False, True))
        found = replace(without, program_json=row["program"], answer=row["answer"], given=row["properties"])
        for name in names:
            assert predicate(name)(found) == predicate(name)(whole)
        for name in ("RM", "V", "C", "RM/V/C"):
            seen, known = predicate(name)(found), predicate(name)(whole)
            assert seen == known if question["template"] in WHOLE else known or not seen
    assert {name for row in rows.values() for name in row["properties"]} >= {*DRAWN, "rm_v_c", "has_quantifier"}


def test_where_files_and_definitions_differ_is_counted(world, tmp_path):
    records = [json.loads(text) for text in world.files["dev"].read_text().splitlines()]
    counting = [record for record in records if "has_count" in record["properties"]]
    counting[0]["properties"].remove("has_count")
    other = next(record for record in records if "has_logic" not in record["properties"])
    other["properties"].append("has_logic")
    files = world.files | {"dev": write_lines(tmp_path / "val.jsonl", records)}
    counts = read_questions(files, tmp_path, tmp_path / "scenes", "released", 1)
    assert {key: n for key, n in counts.items() if key.startswith("property")} == {
        "property has_count: only by the definition": 1,
        "property has_logic: only by the file": 1,
    }


GOOD = {
    "qid": "train_0",
    "utterance": "How many dogs?",
    "rephrase": None,
    "scenes": ["12", "jumping_3.jpg"],
    "answer": 2,
    "pattern_name": "count_ref",
    "program": [{"operation": "find", "arguments": ["dog"]}, {"operation": "count", "dependencies": [0]}],
    "properties": ["has_count"],
}


def taken(folder: Path, lines: list[bytes]) -> tuple[list[dict], list[dict], dict[str, int]]:
    """Questions, rejects and counts of a file with these lines."""
    path = folder / "file.jsonl"
    path.write_bytes(b"\n".join(lines))
    counts = read_questions({"train": path}, folder, folder / "scenes", "released", 1)
    read = (tables.read(folder / f"{name}.parquet").to_pylist() for name in ("questions", "rejects"))
    return *read, counts


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"qid": None}, "without a qid"),
        ({"qid": " "}, "without a qid"),
        ({"qid": "train_0"}, "qid repeated"),
        ({"utterance": 3}, "utterance is not a text"),
        ({"utterance": "\ud800"}, "utterance is not a text"),
        ({"rephrase": False}, "rephrase is not a text"),
        ({"paraphrased": ""}, "paraphrased is not a text"),
        ({"scenes": []}, "scenes are not a list of image names"),
        ({"scenes": ["1", None]}, "scenes are not a list of image names"),
        ({"answer": None}, "without an answer"),
        ({"answer": []}, "answer is no text, number or truth value"),
        ({"answer": 1.5}, "answer is no text, number or truth value"),
        ({"pattern_name": "riddle"}, "pattern_name is not known"),
        ({"pattern_name": ["count_ref"]}, "pattern_name is not known"),
        ({"program": [{"operation": "guess"}]}, "program is not one of our operators"),
        ({"program": None}, "program is not one of our operators"),
        ({"properties": "has_count"}, "properties are not a list of names"),
    ],
)
def test_a_wrong_line_is_a_reject(tmp_path, change, reason):
    wrong = GOOD | {"qid": "train_1"} | change
    lines = [json.dumps(GOOD).encode(), b"", json.dumps(wrong).encode()]
    questions, rejects, counts = taken(tmp_path, lines)
    assert [row["question_id"] for row in questions] == ["train_0"]
    assert [(row["file"], row["line"], row["reason"]) for row in rejects] == [("file.jsonl", 3, reason)]
    assert counts["in"] == 2 and counts["out"] == 1 and counts[f"rejected: {reason}"] == 1


@pytest.mark.parametrize(
    ("answer", "ours"),
    [(True, "true"), ("False", "false"), (3, "3"), ("3", "3"), (" red ", "red"), ("riding:_with", "riding with")],
)
def test_answers_are_written_as_ours(tmp_path, answer, ours):
    questions, _, _ = taken(tmp_path, [json.dumps(GOOD | {"answer": answer}).encode()])
    assert questions[0]["answer"] == ours and questions[0]["scene_ids"] == ["vg:12", "imsitu:jumping_3"]


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"[1]", b"\xff", b'{"qid"', b'{"qid": 9}', b"[" * 5000])))
def test_nothing_is_lost_silently(tmp_path_factory, noise):
    lines = [line for text in noise for line in text.split(b"\n")]
    good = json.dumps(GOOD).encode()
    questions, rejects, counts = taken(tmp_path_factory.mktemp("noise"), [*lines, good])
    blank = sum(not line.strip() for line in lines)
    assert len(questions) == 1 and len(rejects) == len(lines) - blank and counts["in"] == len(rejects) + 1
    assert {row["line"] for row in rejects} == {n for n, line in enumerate(lines, 1) if line.strip()}


@pytest.mark.parametrize("content", [b"", b"<!doctype html>\n<p>Sign in</p>\n", b"[1, 2]\n"])
def test_another_kind_of_file_is_refused(tmp_path, content):
    (tmp_path / "page.jsonl").write_bytes(content)
    with pytest.raises(InputError, match="page.jsonl has no JSON object: give a file of COVR's questions"):
        read_questions({"train": tmp_path / "page.jsonl"}, tmp_path, tmp_path / "scenes", "released", 1)


def test_a_line_without_end_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(json.dumps(GOOD).encode() + b"\n" + b" " * (1 << 22) + b"  1")
    with pytest.raises(InputError, match="has more than 4,194,304 bytes in line 2"):
        read_questions({"train": tmp_path / "a.jsonl"}, tmp_path, tmp_path / "scenes", "released", 1)


def test_what_is_read_does_not_depend_on_the_order_of_lines(world, read, tmp_path):
    turned = {}
    for part, path in world.files.items():
        turned[part] = tmp_path / path.name
        turned[part].write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    read_questions(turned, tmp_path / "out", tmp_path / "out/scenes", "released", 1)
    for name in ("questions", "paraphrases", "rejects", "scenes/scenes"):
        assert (tmp_path / f"out/{name}.parquet").read_bytes() == (read[0] / f"{name}.parquet").read_bytes()


@pytest.mark.parametrize("name", ["program-1", "lexical-1"])
def test_what_the_authors_drew_is_held_out(root, read, rows, tmp_path, name):
    definition = read_yaml(root / f"config/splits/{name}.yaml")
    scenes = read[0] / "scenes/scenes.parquet"
    out = tmp_path / "split.parquet"
    counts = split(read[0] / "questions.parquet", definition, None, out, SplitSettings(), 1, scenes)
    found = {part: set() for part in ("train", "dev_comp", "test_comp")}
    for row in tables.read(out, SPLITS).to_pylist():
        found.get(row["part"], set()).add(row["question_id"])
    drawn = {question_id for question_id, row in rows.items() if name.replace("-", "_") in row["properties"]}
    assert found["dev_comp"] | found["test_comp"] == {q for q in drawn if not q.startswith("train")}
    assert found["train"] == {q for q in rows if q.startswith("train")} - drawn
    assert counts[f"drawn as released: {name.replace('-', '_')}"] == 1


def test_files_that_say_nothing_of_a_draw_are_drawn_from(root, world, tmp_path):
    files = {}
    for part, path in world.files.items():
        records = [json.loads(text) | {"properties": None} for text in path.read_text().splitlines()]
        files[part] = write_lines(tmp_path / path.name, records)
    counts = read_questions(files, tmp_path, tmp_path / "scenes", "released", 1)
    assert not [key for key in counts if key.startswith("property")]
    definition = read_yaml(root / "config/splits/program-1.yaml")
    counts = split(tmp_path / "questions.parquet", definition, None, tmp_path / "s.parquet", SplitSettings(), 1)
    assert counts["programs held out"] == round(0.2 * counts["programs"])


def test_the_files_run_through_split_baseline_and_scores(root, read, rows, tmp_path):
    dataset, scenes = read[0] / "questions.parquet", read[0] / "scenes/scenes.parquet"
    splits = []
    for name in ("iid", "has-quant-all", "has-count-and-rm-v-c"):
        splits.append(tmp_path / f"{name}.parquet")
        split(dataset, read_yaml(root / f"config/splits/{name}.yaml"), None, splits[-1], SplitSettings(), 1, scenes)
    predictions = tmp_path / "maj.parquet"
    paraphrases = read[0] / "paraphrases.parquet"
    run = ("majtempl", "majtempl.iid.iid.1", dataset, splits[0], ["train"], ["dev", "test"], predictions, 1)
    baseline.predict(*run, paraphrases)
    score(
        [predictions], dataset, splits, tmp_path / "scores.parquet", tmp_path / "contrasts.parquet",
        paraphrases=paraphrases,
    )  # fmt: skip
    scores = tables.read(tmp_path / "scores.parquet", SCORES).to_pylist()
    overall = {
        (row["split"], row["part"], row["text"]): (row["n"], row["right"] / row["n"])
        for row in scores
        if row["facet"] == "all"
    }
    told = tables.read(predictions).to_pylist()
    answers = {row["question_id"]: row["answer"] for row in told if row["text"] == "generated"}
    comp = [q for q, row in rows.items() if row["part"] == "test" and "has_quantifier_all" in row["properties"]]
    right = sum(answers[q] == rows[q]["answer"] for q in comp)
    assert comp and overall["has-quant-all", "test_comp", "generated"] == (len(comp), pytest.approx(right / len(comp)))
    assert ("has-count-and-rm-v-c", "test_comp", "paraphrased") in overall


@pytest.mark.parametrize("key", ["paraphrased", "rephrase"])
def test_paraphrases_have_one_of_two_keys(tmp_path, key):
    record = {name: value for name, value in GOOD.items() if name != "rephrase"} | {key: "What is the number of dogs?"}
    taken(tmp_path, [json.dumps(record).encode()])
    rows = tables.read(tmp_path / "paraphrases.parquet", PARAPHRASES).to_pylist()
    assert rows == [{"question_id": "train_0", "text": "What is the number of dogs?"}]


def test_without_answers_of_test_the_texts_of_dev_are_dealt(world, tmp_path):
    files = {part: path for part, path in world.files.items() if part != "test"}
    counts = read_questions(files, tmp_path, tmp_path / "scenes", "released", 1)
    rows = tables.read(tmp_path / "questions.parquet", DATASET).to_pylist()
    parts = {part: {row["text"] for row in rows if row["part"] == part} for part in ("train", "dev", "test")}
    assert not parts["dev"] & parts["test"]
    assert counts["out: dev"] + counts["out: test"] == len(world.files["dev"].read_text().splitlines())
    assert min(counts["out: dev"], counts["out: test"]) > 0.3 * (counts["out: dev"] + counts["out: test"])
    read_questions(files, tmp_path / "other", tmp_path / "other/scenes", "released", 2)
    dealt_otherwise = tables.read(tmp_path / "other/questions.parquet", DATASET)
    assert dealt_otherwise["part"].to_pylist() != [row["part"] for row in rows]


def test_a_file_without_answers_is_refused(world, tmp_path):
    records = [json.loads(text) for text in world.files["test"].read_text().splitlines()]
    for record in records:
        del record["answer"]
    files = world.files | {"test": write_lines(tmp_path / "test.jsonl", records)}
    with pytest.raises(InputError, match="test.jsonl has no answers, as COVR's test.jsonl: leave it out"):
        read_questions(files, tmp_path, tmp_path / "scenes", "released", 1)


def test_settings_name_the_parts():
    files = ReleasedQuestions(train="train.jsonl", dev="val.jsonl")
    assert {part: path.name for part, path in files.parts.items()} == {"train": "train.jsonl", "dev": "val.jsonl"}
    assert list(ReleasedQuestions(train="a", dev="b", test="c").parts) == ["train", "dev", "test"]
