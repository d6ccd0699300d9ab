"""Sources to scene tables."""

import csv
import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from compvqa import tables
from compvqa.errors import InputError
from compvqa.paper.tables import make as make_table
from compvqa.run import validate
from compvqa.scenes import ingest as module
from compvqa.scenes import readers
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.merge import merge
from compvqa.scenes.tables import REJECTS, SCENES, TABLES
from unit.scenes.gqa_sources import column, gqa_scene, run, source


@pytest.mark.parametrize(
    ("reader", "settings", "told"),
    [
        ("gqa", {"relations": "told"}, "the reader gqa has no settings: leave them out"),
        ("clevr", {"relations": "guessed"}, "relations"),
        ("clevr", {"relation": "told"}, "relation"),
    ],
)
def test_settings_that_a_reader_does_not_have_are_refused(reader, settings, told):
    with pytest.raises(ValidationError, match=told):
        SourceSettings(reader=reader, files={"val": "scenes.json"}, settings=settings)


def test_ingest_writes_sorted_tables_and_counts(tmp_path):
    train = {"9": gqa_scene("cat", "sofa"), "10": gqa_scene("dog", attribute="tame")}
    out, counts = run(tmp_path, source(tmp_path, train=train, val={"3": gqa_scene("cow")}))
    assert column(out, "scenes", "scene_id") == ["gqa:10", "gqa:3", "gqa:9"]
    assert column(out, "scenes", "split") == ["train", "val", "train"]
    assert column(out, "scenes", "image") == ["vg:10", "vg:3", "vg:9"]
    assert column(out, "attributes", "group") == [None, "color", "color", "color"]
    graph = SceneStore(out).graph("gqa:9")
    assert graph.objects["o0"].name == "cat" and graph.relations[0].object_id == "o1"
    assert (counts["scenes in"], counts["scenes out"], counts["objects in"], counts["objects out"]) == (
        3,
        3,
        4,
        4,
    )
    assert counts["rejects"] == 0
    assert sorted(path.name for path in out.iterdir()) == sorted(f"{s.name}.parquet" for s in (*TABLES, REJECTS))


@pytest.mark.parametrize("object_id", ["\ud800", "1"])
def test_an_id_that_is_no_text_costs_its_scene_alone(tmp_path, object_id):
    bad = gqa_scene("cat")
    bad["objects"] = {object_id: bad["objects"]["o0"]}
    names = {"it's": gqa_scene("cow"), "a\nb" * 3000: gqa_scene("dog")}
    out, counts = run(tmp_path, source(tmp_path, train=names | {"7" if object_id != "1" else "\udfff": bad}))
    assert column(out, "scenes", "scene_id") == sorted(f"gqa:{name}" for name in names)
    assert column(out, "rejects", "reason") == ["an id in it is no valid text"]


@pytest.mark.parametrize("scene_id", ["", " ", " 1", "1\n", "\u00a01"])
def test_a_scene_whose_id_is_empty_or_has_spaces_at_its_ends_is_rejected(tmp_path, scene_id):
    out, counts = run(tmp_path, source(tmp_path, train={scene_id: gqa_scene("cat", "sofa"), "1": gqa_scene("dog")}))
    assert column(out, "scenes", "scene_id") == ["gqa:1"] and column(out, "objects", "name") == ["dog"]
    assert column(out, "rejects", "reason") == ["scene's or image's id is empty, or has spaces at its ends"]


def test_batches_do_not_change_a_byte(tmp_path, monkeypatch):
    settings = source(tmp_path, train={str(i): gqa_scene("cat", "sofa") for i in range(20)})
    out, _ = run(tmp_path, settings)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr(module, "BATCH", 3)
    out, _ = run(tmp_path, settings)
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}


def test_a_scene_id_on_both_sides_counts_once(tmp_path):
    out, counts = run(tmp_path, source(tmp_path, train={"1": gqa_scene("cat")}, val={"1": gqa_scene("dog")}))
    assert column(out, "objects", "name") == ["cat"] and column(out, "scenes", "split") == ["train"]
    assert column(out, "rejects", "reason") == ["scene id repeated"]
    assert column(out, "rejects", "file") == ["gqa_val.json"]
    assert counts["rejected: scene id repeated"] == 1


def test_rejects_say_file_id_and_reason(tmp_path):
    bad = gqa_scene("cat", "sofa")
    del bad["objects"]["o1"]["name"]
    out, counts = run(tmp_path, source(tmp_path, train={"1": bad}))
    rows = tables.read(out / "rejects.parquet", REJECTS).to_pylist()
    assert [(row["file"], row["scene_id"], row["record"]) for row in rows] == [
        ("gqa_train.json", "gqa:1", "object o1"),
        ("gqa_train.json", "gqa:1", "relation o0 -> o1"),
    ]
    assert counts["rejects"] == 2 and column(out, "objects", "name") == ["cat"]


def test_the_side_of_a_file_that_holds_both(tmp_path):
    scenes = {str(i): gqa_scene("cat") for i in range(300)}
    settings = source(tmp_path, all=scenes).model_copy(update={"val_share": 0.3})
    first = column(run(tmp_path, settings)[0], "scenes", "split")
    assert 0.2 < first.count("val") / 300 < 0.4
    (tmp_path / "val.txt").write_text("7\n9\n")
    listed = settings.model_copy(update={"files": {**settings.files, "val_ids": tmp_path / "val.txt"}})
    rows = tables.read(run(tmp_path, listed)[0] / "scenes.parquet", SCENES).to_pylist()
    assert {row["scene_id"] for row in rows if row["split"] == "val"} == {"gqa:7", "gqa:9"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reader": "nonsense"}, "no reader 'nonsense'"),
        ({"reader": "../gqa"}, r"no reader '\.\./gqa'"),
        ({"reader": "tables"}, "no reader 'tables'"),
        ({"files": {}}, "names no scene file"),
        ({"files": {"train": Path("missing.json")}}, r"missing\.json.* does not exist"),
    ],
)
def test_bad_settings_are_one_sentence(tmp_path, change, words):
    settings = source(tmp_path, train={}).model_copy(update=change)
    with pytest.raises(InputError, match=words):
        ingest(settings, None, tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"files": {"tarin": "a"}}, "the reader gqa has no file 'tarin', did you mean 'train'"),
        (
            {"files": {"train": "a", "space": "b"}},
            "the reader gqa has no file 'space' .known: train, val, all, val_ids",
        ),
        ({"files": {"train": "a", "templets": "b"}, "reader": "imsitu"}, "did you mean 'templates'"),
        ({"files": {"space": "a"}, "reader": "imsitu"}, "no scene file is named: give 'train', 'val' or 'all'"),
        ({"files": {"train": "a", "val_ids": "b"}}, "of the file 'all' are val: name that file as well"),
        ({"files": {"train": "a"}, "reader": "visualgenome"}, "no reader 'visualgenome', did you mean 'visual_genome'"),
    ],
)
def test_files_and_readers_are_checked_with_the_config(given, words):
    with pytest.raises(InputError, match=words) as error:
        validate(SourceSettings, given, "sources")
    assert "\n" not in str(error.value)


def rough(n_bad: int, n_good: int, **bad) -> dict:
    """A scene with objects of which the first ``n_bad`` have these values."""
    scene = gqa_scene(*["cat"] * (n_bad + n_good))
    for number in range(n_bad):
        scene["objects"][f"o{number}"] |= bad
    scene["objects"]["o0"]["relations"] = []
    return scene


def test_a_run_stops_where_more_is_rejected_than_may_be(tmp_path):
    settings = source(tmp_path, train={"1": rough(6, 94, name="papers are here.")})
    with pytest.raises(InputError) as error:
        run(tmp_path, settings, 0.05)
    kept = tmp_path / "sources/gqa/stopped.rejects.parquet"
    assert str(error.value) == (
        'Source gqa: 6 of 100 objects were rejected (6.0%), mostly because of "object: name is a sentence" (first: '
        f"object o0 of scene '1'), and {kept} lists all rejects: correct the file, or raise the source's most_rejected "
        "(0.05)."
    )
    assert list(kept.parent.iterdir()) == [kept]
    assert tables.read(kept, REJECTS).num_rows == 6
    _, counts = run(tmp_path, settings, 0.06)
    assert counts["objects out"] == 94 and not kept.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nmae": "cat"}, "5 of 5 objects .* did you mean 'name'"),
        ({"attribute": ["red"]}, "5 of 5 objects .*unknown key 'attribute', did you mean 'attributes'"),
        ({"attributes": "red"}, "5 of 5 attributes .*attributes are not a list. .first: attributes of object o0"),
        ({"attributes": ["<b>"]}, "5 of 5 attributes .*attribute: strange name"),
        ({"relations": {"name": "on"}}, "5 of 5 relations .*relations are not a list"),
        ({"relations": [{"name": "on", "object": "o9"}]}, "5 of 5 relations .*relation to a missing object"),
        ({"x": 0.1, "y": 0.5, "w": 0.2, "h": 0.5}, "5 of 5 objects .*where pixels are wanted"),
        ({"x": 101}, "5 of 5 objects .*box outside the picture"),
        ({"h": float("inf")}, "5 of 5 objects .*box is not four numbers"),
    ],
)
def test_a_mistake_in_all_of_a_file_stops_the_run(tmp_path, change, words):
    scene = gqa_scene(*["cat"] * 5)
    for item in scene["objects"].values():
        item["relations"] = []
        for key in ("name",) * ("nmae" in change) + ("attributes",) * ("attribute" in change):
            del item[key]
        item |= change
    with pytest.raises(InputError, match=words):
        run(tmp_path, source(tmp_path, train={"1": scene}), 0.05)


def test_what_a_rule_drops_and_what_is_only_unknown_stops_nothing(tmp_path):
    scene = gqa_scene("cat", "sofa")
    scene["objects"]["o0"] |= {"score": 0.9, "relations": [{"name": "to the left of", "object": "o1"}]}
    scene["objects"]["o1"] |= {"score": 0.8, "w": 500}
    _, counts = run(tmp_path, source(tmp_path, train={"1": scene}), 0)
    assert counts["relations dropped: to the left or right of"] == 1
    assert counts["objects with the unknown key 'score'"] == 2
    assert counts["boxes partly outside the picture"] == 1
    assert counts["objects out"] == 2 and counts["rejects"] == 0


def test_what_came_in_is_the_same_number_in_the_record_and_in_the_table_of_sources(root, tmp_path):
    """Of a scene that is rejected the scene alone counts, in both: its two objects and their relation do not."""
    rough = gqa_scene("cat", "sofa", "--")
    rough["objects"]["o1"]["relations"] = {"name": "on"}
    rough["objects"]["o0"]["relations"].append({"name": "to the left of", "object": "o1"})
    out, counts = run(tmp_path, source(tmp_path, train={"1": rough, " 2": gqa_scene("cow", "hay")}))
    merge([out], tmp_path / "scenes")
    inputs = {"sources": [out], "scenes": [tmp_path / "scenes"]}
    make_table(root / "config/paper/covr/sources.yaml", inputs, tmp_path / "table")
    with (tmp_path / "table.csv").open(encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    told = {kind: counts[f"{kind} in"] for kind in ("scenes", "objects", "relations")}
    assert told == {"scenes": 2, "objects": 3, "relations": 3}
    told["relations"] -= counts["relations dropped: to the left or right of"]
    assert told == {kind: int(row[f"{kind.capitalize()} in"]) for kind in told}
    assert [counts[f"{kind} rejected"] for kind in told] == [1, 1, 1]


def test_a_source_without_a_scene_is_refused(tmp_path):
    with pytest.raises(InputError, match="no scene came of its files"):
        run(tmp_path, source(tmp_path, train={}))


VG = [{"image_id": 1, "objects": [{"object_id": 1, "names": ["cat"]}], "relationships": []}]
IMSITU = {"a.jpg": {"verb": "riding", "frames": [{"agent": "n1"}]}}
CLEVR = {"info": {"split": "train", "version": "1.0"}, "scenes": []}


@pytest.mark.parametrize(
    ("reader", "data", "words"),
    [
        ("gqa", VG, "looks like Visual Genome's format, not GQA's: set reader: visual_genome"),
        ("gqa", IMSITU, "looks like imSitu's format, not GQA's: set reader: imsitu"),
        ("gqa", CLEVR, "looks like CLEVR's format, not GQA's: set reader: clevr"),
        ("visual_genome", {"1": gqa_scene("cat")}, "looks like GQA's format, not Visual Genome's: set reader: gqa"),
        ("imsitu", {"1": gqa_scene("cat")}, "looks like GQA's format, not imSitu's: set reader: gqa"),
        ("imsitu", VG, "looks like Visual Genome's format, not imSitu's: set reader: visual_genome"),
    ],
)
def test_the_right_reader_is_suggested(tmp_path, reader, data, words):
    settings = source(tmp_path, train=data).model_copy(update={"reader": reader})
    with pytest.raises(InputError, match=f"gqa_train.json {words}"):
        run(tmp_path, settings)


@pytest.fixture
def of_ones_own(tmp_path, root, monkeypatch):
    """The settings of a source of the reader that the documentation shows, with these lines."""
    code = re.search(r"```python\n(.*?)```", (root / "docs/readers.md").read_text(), re.S).group(1)
    (tmp_path / "tabs.py").write_text(code)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])
    (tmp_path / "colors.txt").write_text("black Red")

    def settings(*lines):
        (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        files = {"train": tmp_path / "train.tsv", "colors": tmp_path / "colors.txt"}
        return validate(SourceSettings, {"name": "mine", "reader": "tabs", "files": files})

    return settings


def test_a_reader_of_ones_own_is_the_file_that_the_docs_show(tmp_path, of_ones_own):
    out, counts = run(tmp_path, of_ones_own("7\tBlack cat\tOn\t Sofa", "8\tred striped Red  cat\tnear\tmat"))
    assert column(out, "objects", "name") == ["cat", "sofa", "cat", "mat"]
    assert column(out, "attributes", "name") == ["black", "red"] and column(out, "relations", "name") == ["on", "near"]
    assert counts["attributes dropped: no color"] == counts["attributes dropped: repeated"] == 1
    assert (counts["attributes in"], counts["scenes in"], counts["rejects"]) == (4, 2, 0)
    settings = of_ones_own("7\tcat\ton\tsofa")
    with pytest.raises(InputError, match="name their file as 'colors' under the source's files"):
        run(tmp_path, settings.model_copy(update={"files": {"train": tmp_path / "train.tsv"}}))
    with pytest.raises(InputError, match="the reader tabs has no file 'colours', did you mean 'colors'"):
        validate(SourceSettings, {"reader": "tabs", "files": {"train": "a", "colours": "b"}})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("8\ttwo words", "not three columns"),
        ("", "not three columns"),
        ("8\ta big cat\ton\t<b>", "strange name"),
        ("8\tcat\tOn(\tsofa", "strange name"),
        ("8\tcat\t\tsofa", "without a name"),
        ("8\t \ton\tsofa", "without a name"),
        ("8\tcat\tis on it.\tsofa", "name is a sentence"),
        ("\tcat\ton\tsofa", "scene's or image's id is empty, or has spaces at its ends"),
        ("7\tcat\ton\tsofa", "scene id repeated"),
    ],
)
def test_a_bad_line_is_rejected_by_the_reader_that_the_docs_show(tmp_path, of_ones_own, line, reason):
    settings = of_ones_own("7\tcat\ton\tsofa", line)
    out, counts = run(tmp_path, settings)
    assert column(out, "rejects", "reason") == [reason] and column(out, "relations", "name") == ["on"]
    assert (counts["scenes in"], counts["scenes rejected"], counts["scenes out"]) == (2, 1, 1)
    with pytest.raises(InputError, match="1 of 2 scenes were rejected"):
        run(tmp_path, settings, 0.05)


def test_settings_refuse_unknown_keys_and_wrong_types():
    for wrong in ({"nmae": "gqa"}, {"name": "a:b"}, {"val_share": 2}, {"files": 3}):
        with pytest.raises(ValidationError):
            SourceSettings(**wrong)


def test_a_truncated_file_leaves_no_tables(tmp_path):
    settings = source(tmp_path, train=json.dumps({"1": gqa_scene("cat")})[:-9])
    with pytest.raises(InputError, match="gqa_train.json ends too early"):
        run(tmp_path, settings)
    assert not list((tmp_path / "sources" / "gqa").iterdir())
