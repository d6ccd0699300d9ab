"""The mode compat: the original code's questions, draw by draw."""

import json

import pytest
from pydantic import ValidationError

from compvqa import tables
from compvqa.clevr.compat import check_order
from compvqa.clevr.executor import in_words
from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.language import from_functions
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.templates import Node, Template, read_templates
from compvqa.errors import InputError
from compvqa.programs.rows import to_json
from compvqa.questions.tables import DROPPED
from compvqa.scenes.ingest import SourceSettings, ingest

SCENES = 20  # of 300; benchmarks/clevr.py makes all
DESCRIPTION = ("<Z>", "<C>", "<M>", "<S>")


def test_the_originals_questions_are_made_in_its_order(clevr, words, tmp_path):
    data = json.loads((clevr / "oracle/scenes_300.json").read_text())
    file = tmp_path / "scenes.json"
    file.write_text(json.dumps(data | {"scenes": data["scenes"][:SCENES]}))
    ingest(SourceSettings(name="clevr", reader="clevr", files={"train": file}), None, tmp_path / "scenes")
    settings = GenerateSettings(
        mode="compat",
        order=json.loads((clevr / "oracle/template_order.json").read_text()),
        relations=list(data["scenes"][0]["relationships"]),
    )
    official = read_templates(clevr / "CLEVR_1.0_templates")
    out, dropped = tmp_path / "questions.parquet", tmp_path / "dropped.parquet"
    counts = generate(tmp_path / "scenes", official, words, settings, 1, "t", out, dropped)
    found = [
        (row["scene_ids"][0].split(":")[1], row["text"], row["program"], row["answer"], row["template"])
        for row in tables.read(out, QUESTIONS).sort_by("number").to_pylist()
    ]
    expected = [
        (
            question["image"],
            question["question"],
            to_json(from_functions(question["program"])),
            in_words(question["answer"]),
            question["template_filename"].removesuffix(".json") + f"_{question['question_family_index']}",
        )
        for question in json.loads((clevr / "oracle/questions_300.json").read_text())["questions"]
        if question["image_index"] < SCENES
    ]
    assert found == expected
    assert counts["questions"] == len(found) == 10 * SCENES
    assert {row["reason"] for row in tables.read(dropped, DROPPED).to_pylist()} >= {"answers too frequent"}


def test_another_seed_gives_other_questions_and_the_same_seed_the_same(folder, templates, words, tmp_path):
    settings = GenerateSettings(mode="compat", per_scene=3)
    files = [tmp_path / f"{number}.parquet" for number in range(3)]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        generate(folder, templates, words, settings, seed, "t", file, tmp_path / "d.parquet")
    one, same, other = (file.read_bytes() for file in files)
    assert one == same != other


def test_one_stream_is_one_shard_and_is_balanced_in_blocks(folder, templates, words, tmp_path):
    outputs = tmp_path / "q.parquet", tmp_path / "d.parquet"
    with pytest.raises(InputError, match="draws all from one stream: make one shard, not 2"):
        generate(folder, templates, words, GenerateSettings(mode="compat"), 1, "t", *outputs, shard=0, shards=2)
    with pytest.raises(ValidationError, match="balances in blocks"):
        GenerateSettings(mode="compat", balance="fair")


def test_an_unknown_file_in_the_order_is_told(folder, templates, words, tmp_path):
    outputs = tmp_path / "q.parquet", tmp_path / "d.parquet"
    settings = GenerateSettings(order=["one_hop.json", "no_hop.json"])
    with pytest.raises(InputError, match=r"There is no file of templates 'no_hop' \(compare_integer, "):
        generate(folder, templates, words, settings, 1, "t", *outputs)


@pytest.mark.parametrize("kind", ["filter_unique", "relate_filter"])
def test_a_template_that_the_original_would_read_otherwise_is_refused(kind):
    slots = DESCRIPTION if kind == "filter_unique" else ("<R>", *DESCRIPTION)
    nodes = (Node("scene", ()), Node("filter_unique", (0,), DESCRIPTION), Node("scene", ()))
    template = Template("mine_0", ("",), (*nodes, Node(kind, (0 if kind == "filter_unique" else 1,), slots)), {})
    with pytest.raises(InputError, match=rf"Node 3 of the template mine_0, {kind}, does not take the node right above"):
        check_order(template)
