"""GQA's scene graphs: what is read, what a rule drops, what is refused, and broken files."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.errors import InputError
from compvqa.scenes import stream
from compvqa.scenes.raw import Report
from compvqa.scenes.readers import gqa

BOX = {"x": 1, "y": 2, "w": 30, "h": 40}


def thing(name, *relations, attributes=(), **box):
    return {"name": name, "attributes": list(attributes), "relations": list(relations), **(BOX | box)}


def to(target, name="on"):
    return {"name": name, "object": target}


def scene(**objects):
    return {"width": 500, "height": 375, "objects": objects}


def read(tmp_path, data, name="train_sceneGraphs.json"):
    path = tmp_path / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    report = Report()
    return list(gqa.read({"train": path}, lambda _: "train", report)), report


def reasons(report):
    return [(row["scene_id"], row["record"], row["reason"]) for row in report.rejects]


def test_a_scene_as_annotated(tmp_path):
    cat = thing("cat", to("b"), to("b", "to the left of"), attributes=["black", "black", "small"])
    [found], report = read(tmp_path, {"7": scene(a=cat, b=thing("sofa"))})
    assert (found.raw_id, found.split, found.image_id, found.width, found.height) == (
        "7",
        "train",
        "7",
        500,
        375,
    )
    assert [(o.object_id, o.name, o.attributes, o.box) for o in found.objects] == [
        ("a", "cat", ["black", "small"], (1, 2, 30, 40)),
        ("b", "sofa", [], (1, 2, 30, 40)),
    ]
    assert [(r.subject_id, r.name, r.object_id) for r in found.relations] == [("a", "on", "b")]
    assert report.counts["relations dropped: to the left or right of"] == 1
    assert report.counts["attributes dropped: repeated"] == 1
    assert not report.rejects


def test_names_that_differ_in_case_or_spaces_are_one(tmp_path):
    cat = thing(" Big  Mug", to("b", "On"), to("b", " on"), to("b", "To the  Left of"), attributes=["Red", "red "])
    [found], report = read(tmp_path, {"7": scene(a=cat, b=thing("big mug"))})
    assert [(o.name, o.attributes) for o in found.objects] == [("big mug", ["red"]), ("big mug", [])]
    assert [r.name for r in found.relations] == ["on"]
    assert report.counts["attributes dropped: repeated"] == report.counts["relations dropped: repeated"] == 1
    assert report.counts["relations dropped: to the left or right of"] == 1 and not report.rejects


def test_a_repeated_relation_counts_once(tmp_path):
    cat = thing("cat", to("b"), to("b"), to("b", "near"))
    [found], report = read(tmp_path, {"7": scene(a=cat, b=thing("sofa"))})
    assert [r.name for r in found.relations] == ["on", "near"]
    assert report.counts["relations dropped: repeated"] == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"attributes": [], "relations": [], **BOX}, "object: without a name"),
        (thing("  "), "object: without a name"),
        (thing(5), "object: name is not a text"),
        (thing("a (broken"), "object: strange name"),
        (thing("dog\ud800"), "object: strange name"),
        (thing("x" * 61), "object: strange name"),
        (thing("dog", w=-3), "box without a positive size"),
        (thing("dog", h=0), "box without a positive size"),
        (thing("dog", x=-1), "box with a negative corner"),
        (thing("dog", x="1"), "box is not four numbers"),
        (thing("dog", x=True), "box is not four numbers"),
        (thing("dog", y=float("nan")), "box is not four numbers"),
        ("dog", "object is not a table"),
    ],
)
def test_a_bad_object_is_refused_and_the_scene_survives(tmp_path, bad, reason):
    [found], report = read(tmp_path, {"7": scene(a=thing("cat", to("b")), b=bad, c=thing("sofa"))})
    assert [o.name for o in found.objects] == ["cat", "sofa"]
    assert not found.relations
    assert reasons(report) == [
        ("7", "object b", reason),
        ("7", "relation a -> b", "relation to a missing object"),
    ]


def test_a_relation_to_a_missing_object(tmp_path):
    [found], report = read(tmp_path, {"7": scene(a=thing("cat", to("z"), {"name": "on"}, "on"))})
    assert not found.relations and len(found.objects) == 1
    assert [reason for _, _, reason in reasons(report)] == [
        "relation to a missing object",
        "relation is not a table",
        "relation to a missing object",
    ]


def test_repeated_object_ids(tmp_path):
    one, two = json.dumps(thing("cat")), json.dumps(thing("dog"))
    [found], report = read(tmp_path, f'{{"7": {{"objects": {{"a": {one}, "a": {two}}}}}}}')
    assert [o.name for o in found.objects] == ["cat"]
    assert reasons(report) == [("7", "object a", "object id repeated")]


@pytest.mark.parametrize("bad", [None, 5, [], {}, {"objects": []}])
def test_a_scene_without_objects_is_refused(tmp_path, bad):
    found, report = read(tmp_path, {"7": bad, "8": scene(a=thing("cat"))})
    assert [s.raw_id for s in found] == ["8"]
    assert reasons(report) == [("7", "scene", "scene without a table of objects")]


GOOD = json.dumps({"7": scene(a=thing("cat")), "8": scene(a=thing("dog"))})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD[:-1], "ends too early"),
        (GOOD[: GOOD.index('"8"') + 20], "ends too early"),
        (GOOD[: len(GOOD) // 4], "ends too early"),
        ("", "holds no JSON object at the top"),
        ("[]", "holds no JSON object at the top"),
        (GOOD + "x", "goes on after the end"),
        (GOOD.replace('"8":', '"8"'), "not valid JSON"),
        (GOOD.replace('"cat"', "cat"), "not valid JSON"),
        (GOOD.replace('"cat"', "1" * 5000), "a number of too many digits"),
    ],
)
def test_a_broken_file_is_one_sentence_naming_file_and_place(tmp_path, text, words):
    with pytest.raises(InputError, match=words) as error:
        read(tmp_path, text, "broken.json")
    assert "broken.json" in str(error.value) and "byte" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_truncated_file_names_the_record(tmp_path):
    with pytest.raises(InputError, match="record '8'"):
        read(tmp_path, GOOD[:-20])


def test_a_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.json"
    path.write_bytes(GOOD.replace("cat", "caf\xe9").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.json is not UTF-8 text \(near byte \d+"):
        list(gqa.read({"train": path}, lambda _: "train", Report()))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(
    data=st.dictionaries(st.text(max_size=5), json_values, max_size=5),
    ascii=st.booleans(),
    indent=st.booleans(),
)
def test_streaming_gives_what_the_whole_file_holds(tmp_path_factory, data, ascii, indent):
    path = tmp_path_factory.mktemp("stream") / "file.json"
    text = json.dumps(data, ensure_ascii=ascii, indent=2 if indent else None)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    chunk, stream.CHUNK = stream.CHUNK, 3  # a window that is always too short
    try:
        assert list(stream.members(path)) == list(data.items())
        path.write_text(json.dumps(list(data.values())), encoding="utf-8")
        assert list(stream.elements(path)) == list(data.values())
    finally:
        stream.CHUNK = chunk
