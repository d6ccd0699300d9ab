"""CLEVR's question files: all dialects are read, the release's is written, what is malformed is a counted reject."""

import json

import pytest
from PIL import Image

from compvqa import tables
from compvqa.clevr.families import Families
from compvqa.clevr.gather import gather
from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.official import read_questions, write_questions
from compvqa.clevr.settings import ClevrReleased
from compvqa.clevr.tables import ORIGINS, QUESTIONS, REJECTS
from compvqa.clevr.templates import read_templates
from compvqa.errors import InputError
from compvqa.questions.dataset import language_of
from compvqa.scenes.images import pictures_of
from compvqa.scenes.ingest import SourceSettings, ingest
from fixtures.clevr_scenes import record

RELEASED = {
    "question_index": 3,
    "image_index": 0,
    "image_filename": "CLEVR_train_000000.png",
    "split": "train",
    "question": "How many red things are there?",
    "answer": "2",
    "question_family_index": 84,
    "program": [
        {"function": "scene", "inputs": [], "value_inputs": []},
        {"function": "filter_color", "inputs": [0], "value_inputs": ["red"]},
        {"function": "count", "inputs": [1], "value_inputs": []},
    ],
}
GENERATED = {
    **{key: RELEASED[key] for key in ("image_index", "image_filename", "split", "question")},
    "image": "CLEVR_train_000000",
    "question_index": 0,
    "template_filename": "zero_hop.json",
    "question_family_index": 0,
    "answer": True,
    "program": [
        {"type": "scene", "inputs": [], "value_inputs": [], "_output": [0, 1]},
        {"type": "filter_color", "inputs": [0], "side_inputs": ["red"], "value_inputs": ["red"]},
        {"type": "exist", "inputs": [1], "value_inputs": [], "_output": True},
    ],
}
TEST = {key: RELEASED[key] for key in ("question_index", "image_index", "image_filename", "question")} | {
    "split": "test"
}


@pytest.fixture(scope="module")
def families(templates, words):
    return Families(templates, words)


def write(tmp_path, *questions, info=None):
    path = tmp_path / "CLEVR_train_questions.json"
    path.write_text(json.dumps({"info": info or {"split": "train"}, "questions": list(questions)}))
    return path


def read(tmp_path, families, *questions):
    counts = read_questions({"train": write(tmp_path, *questions)}, families, tmp_path / "out", "t")
    rows = [tables.read(tmp_path / f"out/{name}.parquet", schema).to_pylist() for name, schema in TABLES.items()]
    return counts, *rows


TABLES = {"questions": QUESTIONS, "origins": ORIGINS, "rejects": REJECTS}


def test_a_released_question_becomes_a_row_of_the_dataset(tmp_path, families):
    counts, [row], [origin], rejects = read(tmp_path, families, RELEASED)
    assert (row["text"], row["answer"], row["template"]) == (RELEASED["question"], "2", "zero_hop_0")
    assert (row["split"], row["part"], row["scene_ids"]) == ("train", "train", ["clevr:CLEVR_train_000000"])
    assert json.loads(row["program"]) == [["scene", [], []], ["filter_color", ["red"], [0]], ["count", [], [1]]]
    assert (origin["question_id"], origin["question_index"], origin["family"]) == (row["question_id"], 3, 84)
    assert (counts["out"], rejects) == (1, [])
    assert language_of(tmp_path / "out/questions.parquet") == "clevr"


def test_the_generators_dialect_is_read_and_written_as_the_release_has_it(tmp_path, families):
    counts, [row], _, _ = read(tmp_path, families, GENERATED)
    assert (row["answer"], row["template"]) == ("yes", "zero_hop_1")
    assert counts["family program fits another than the number's"] == 1  # zero_hop_0 counts
    write_questions(tmp_path / "out/questions.parquet", tmp_path / "released.json", "train", families)
    [written] = json.loads((tmp_path / "released.json").read_text())["questions"]
    assert (written["answer"], written["question_family_index"]) == ("yes", 85)
    assert written["program"][1] == {"function": "filter_color", "inputs": [0], "value_inputs": ["red"]}


def test_what_is_read_is_written_again_equal_of_each_part(tmp_path, families):
    files = {}
    for part, question in (("train", RELEASED), ("test", TEST)):
        files[part] = tmp_path / f"{part}.json"
        data = {"info": {"split": part, "license": "CC BY 4.0"}, "questions": [question, question | {"image_index": 7}]}
        files[part].write_text(json.dumps(data))
    read_questions(files, families, tmp_path, "t")
    for part, file in files.items():
        inputs = families, tmp_path / "origins.parquet", tmp_path / "info.json"
        write_questions(tmp_path / "questions.parquet", tmp_path / "again.json", part, *inputs)
        assert json.loads((tmp_path / "again.json").read_text()) == json.loads(file.read_text())


def test_questions_of_our_own_are_written_in_their_order_and_read_again(folder, templates, words, families, tmp_path):
    made, out = tmp_path / "made.parquet", tmp_path / "CLEVR_val_questions.json"
    generate(folder, templates, words, GenerateSettings(per_scene=9), 1, "t", made, tmp_path / "dropped.parquet")
    write_questions(made, out, "val", families)
    written = json.loads(out.read_text())["questions"]
    assert [question["question_index"] for question in written] == list(range(27))
    assert [question["image_index"] for question in written] == sorted([10, 11, 12] * 9)
    assert written[0]["image_filename"] == "CLEVR_train_000010.png"  # as its scene is called
    counts = read_questions({"val": out}, families, tmp_path, "t")
    assert (counts["out"], counts["family told"]) == (27, 27)
    told = [
        tables.read(path, QUESTIONS).sort_by("number").select(["text", "program", "answer", "template"])
        for path in (tmp_path / "questions.parquet", made)
    ]
    val = tables.read(made, QUESTIONS).sort_by("number")
    assert told[0].to_pylist() == [
        row for row, side in zip(told[1].to_pylist(), val["part"].to_pylist(), strict=True) if side == "val"
    ]


def test_all_questions_of_the_original_code_are_read_with_their_families(clevr, words, tmp_path):
    official = Families(read_templates(clevr / "CLEVR_1.0_templates"), words)
    counts = read_questions({"train": clevr / "oracle/questions_300.json"}, official, tmp_path, "t")
    assert counts == {"in": 3000, "out": 3000, "out: train": 3000, "family told": 3000}
    counts = read_questions({"val": clevr / "dataset_gen/CLEVR_questions.json"}, official, tmp_path, "t")
    assert counts == {"in": 1000, "out": 1000, "out: val": 1000, "family told": 1000}


def with_row(number, **changes):
    program = [dict(row) for row in RELEASED["program"]]
    program[number] |= changes
    return RELEASED | {"program": program}


@pytest.mark.parametrize(
    ("record", "reason", "detail"),
    [
        ("what?", "question is no table", '"what?"'),
        (RELEASED | {"question": None}, "without a text", None),
        (RELEASED | {"question": "\ud800?"}, "half of a character in it", None),
        (RELEASED | {"image_filename": 7}, "without the name of its picture", None),
        (RELEASED | {"question_index": "3"}, "question_index is no number", '"3"'),
        (RELEASED | {"template_filename": 3}, "template_filename is no text", "3"),
        (RELEASED | {"answer": [2]}, "answer of no known kind", "[2]"),
        (RELEASED | {"answer": "red"}, "answer that its program cannot give", "red of count"),
        (RELEASED | {"answer": True}, "answer that its program cannot give", "yes of count"),
        (RELEASED | {"program": {}}, "program is no list of functions", "{}"),
        (RELEASED | {"program": ["scene"]}, "program is malformed", 'entry 1 is no function with inputs: "scene"'),
        (with_row(1, value_inputs=7), "program is malformed", "entry 2 is no function"),
        (with_row(1, function="filter_colour"), "program is ill-typed", "row 2: there is no operator 'filter_colour'"),
        (with_row(1, inputs=[2]), "program is ill-typed", "row 2: filter_color depends on row 2, which is not above"),
        (with_row(1, inputs=[9]), "program is ill-typed", "row 2: filter_color depends on row 9, which is not above"),
        (with_row(1, inputs=[-1]), "program is ill-typed", "row 2: filter_color depends on row -1, which is not above"),
        (with_row(2, function="unique"), "program gives objects and no answer", "unique"),
    ],
)
def test_a_malformed_question_is_a_counted_reject(tmp_path, families, record, reason, detail):
    counts, [row], _, [reject] = read(tmp_path, families, RELEASED, record)
    assert (counts["in"], counts["out"], counts[f"rejected: {reason}"]) == (2, 1, 1)
    assert row["number"] == 0
    assert (reject["file"], reject["number"], reject["reason"]) == ("CLEVR_train_questions.json", 1, reason)
    assert (reject["detail"] is None) == (detail is None) and (reject["detail"] or "").startswith(detail or "")
    assert reject["question"] == (None if record == "what?" else "3")


@pytest.fixture
def release(tmp_path):
    """A folder as CLEVR_v1.0.zip unpacks: scenes and questions as released, and pictures by their sides."""
    of_scene = ("image_index", "objects", "relationships", "image_filename", "split", "directions")
    for split, numbers in (("train", range(4)), ("val", range(2)), ("test", range(2))):
        info = {"split": split, "license": "Creative Commons Attribution (CC BY 4.0)", "version": "1.0"}
        scenes, questions = [], []
        for number in numbers:
            name = {"image_index": number, "image_filename": f"CLEVR_{split}_{number:06d}.png", "split": split}
            made = record(number) | name
            scenes.append({key: made[key] for key in of_scene})
            questions.append((RELEASED if split != "test" else TEST) | name | {"question_index": number})
            picture = tmp_path / "CLEVR_v1.0/images" / split / name["image_filename"]
            picture.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (480, 320)).save(picture)
        for kind, records in (("scenes", scenes), ("questions", questions)):
            if (kind, split) != ("scenes", "test"):  # never released
                file = tmp_path / "CLEVR_v1.0" / kind / f"CLEVR_{split}_{kind}.json"
                file.parent.mkdir(exist_ok=True)
                file.write_text(json.dumps({"info": info, kind: records}))
    return tmp_path / "CLEVR_v1.0"


def test_the_release_is_read_as_it_is_downloaded_and_its_test_has_no_answers(release, families, tmp_path):
    scenes = {side: release / f"scenes/CLEVR_{side}_scenes.json" for side in ("train", "val")}
    counts = ingest(SourceSettings(name="clevr", reader="clevr", files=scenes), None, tmp_path / "scenes")
    assert (counts["scenes out"], counts["rejects"]) == (6, 0)
    files = {side: release / f"questions/CLEVR_{side}_questions.json" for side in ("train", "val", "test")}
    counts = read_questions(files, families, tmp_path, "t")
    assert (counts["out"], counts["out: test"], counts["family told"]) == (8, 2, 6)
    parts = ClevrReleased(kind="clevr_released", files=files).parts
    dataset, dropped = tmp_path / "dataset.parquet", tmp_path / "dropped.parquet"
    counts = gather([tmp_path / "questions.parquet"], [], dataset, dropped, 1, parts)
    assert counts["dropped: without a program or an answer"] == 2
    rows = tables.read(dataset, QUESTIONS).to_pylist()
    assert {(row["part"], row["scene_ids"][0].split("_")[1]) for row in rows} == {("train", "train"), ("test", "val")}
    shown = pictures_of(tmp_path / "scenes", {"clevr": release / "images"})
    assert [one.path.parent.name for one in shown] == 4 * ["train"] + 2 * ["val"]


def test_a_file_without_answers_alone_leaves_no_question_and_says_so(release, families, tmp_path):
    read_questions({"val": release / "questions/CLEVR_test_questions.json"}, families, tmp_path, "t")
    with pytest.raises(InputError, match="No question is left of 2, 2 of them without a program or an answer"):
        gather([tmp_path / "questions.parquet"], [], tmp_path / "dataset.parquet", tmp_path / "dropped.parquet", 1)


@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf"])
def test_texts_beyond_ascii_are_kept_as_they_are_escaped_or_not(tmp_path, families, begin):
    texts = ["How many r\u00e9d things are there?", "How many \U0001f534 things?"]
    path = tmp_path / "questions.json"
    for escaped in (True, False):
        told = json.dumps({"questions": [RELEASED | {"question": text} for text in texts]}, ensure_ascii=escaped)
        path.write_bytes(begin + told.encode())
        read_questions({"train": path}, families, tmp_path, "t")
        found = tables.read(tmp_path / "questions.parquet", QUESTIONS).sort_by("number")
        assert found["text"].to_pylist() == texts


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"info": {}, "questions": [{"question": "Wh', "ends too early .*: download or write it again"),
        ("", "holds no JSON object at the top"),
        ('{"info": {}}', "has no key 'questions'"),
        ("[]", "holds no JSON object at the top"),
        ('{"questions": {}}', "holds no JSON array there"),
    ],
)
def test_a_file_that_is_none_is_told_in_one_sentence(tmp_path, families, text, sentence):
    path = tmp_path / "questions.json"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_questions({"train": path}, families, tmp_path, "t")


def test_a_part_without_questions_is_told(tmp_path, families):
    read(tmp_path, families, RELEASED)
    with pytest.raises(InputError, match="has no question of the part 'val'"):
        write_questions(tmp_path / "out/questions.parquet", tmp_path / "val.json", "val", families)
    assert not (tmp_path / "val.json").exists()
