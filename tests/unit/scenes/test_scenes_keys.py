"""Keys of raw records: a misspelt one is refused with the right suggestion, one that is only unknown is counted."""

import json
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa.scenes.keys import COUNTED, Keys
from compvqa.scenes.raw import Report
from compvqa.scenes.readers import gqa, imsitu, visual_genome

FORMATS = (gqa.SCENE, gqa.OBJECT, gqa.RELATION, visual_genome.SCENE, visual_genome.OBJECT, visual_genome.RELATION)
LONG = [(keys, key) for keys in (*FORMATS, imsitu.SCENE) for key in keys.read if len(key) > 1]


@st.composite
def misspelt(draw, key: str) -> str:
    """The key with a letter changed, left out, added or doubled, or two neighbours in the other order."""
    at, letter = draw(st.integers(0, len(key) - 1)), draw(st.sampled_from(ascii_lowercase + "_"))
    swapped = key[:at] + key[at + 1 : at + 2] + key[at] + key[at + 2 :]
    changes = (key[:at] + letter + key[at + 1 :], key[:at] + key[at + 1 :], key[:at] + letter + key[at:], swapped)
    return draw(st.sampled_from([*changes, key.capitalize()]).filter(lambda text: text != key))


@given(st.data(), st.sampled_from(LONG))
def test_a_typo_in_any_key_is_refused_and_the_key_suggested(data, chosen):
    keys, key = chosen
    typo = data.draw(misspelt(key).filter(lambda text: text not in keys.known))
    report = Report()
    wrong = keys.wrong({typo: 1} | {name: 1 for name in keys.read if name != key}, report)
    assert wrong == f"{keys.kind}: unknown key {typo!r}, did you mean {key!r}?"


@given(st.data(), st.sampled_from(LONG))
def test_no_key_of_a_format_and_no_key_beside_all_of_them_is_refused(data, chosen):
    keys, key = chosen
    more = data.draw(st.sets(st.sampled_from(sorted(keys.known)) | st.text(max_size=8)), label="keys")
    report = Report()
    assert keys.wrong(dict.fromkeys((*keys.read, *more)), report) == ""
    assert report.counts.total() == len(more - keys.known)


@pytest.mark.parametrize(
    ("twice", "reason"),
    [
        ('"name": "cat", "name": "dog", ', "object: key 'name' repeated"),
        ('"relations": [{"name": "on", "name": "under", "object": "b"}], ', "relation: key 'name' repeated"),
    ],
)
def test_a_record_with_a_key_twice_is_rejected_and_left_out(tmp_path, twice, reason):
    first = twice + '"x": 1, "y": 2, "w": 3, "h": 4' + ', "name": "cat"' * ("cat" not in twice)
    (tmp_path / "scenes.json").write_text(f'{{"7": {{"objects": {{"a": {{{first}}}, "b": {json.dumps(CAT)}}}}}}}')
    report = Report()
    [scene] = gqa.read({"train": tmp_path / "scenes.json"}, str, report)
    assert reason in [row["reason"] for row in report.rejects]
    assert [item.object_id for item in scene.objects] == ["a", "b"][reason.startswith("object") :]
    assert all(relation.subject_id == "b" for relation in scene.relations)


def test_many_unknown_keys_are_not_counted_one_by_one():
    keys, report = Keys("object", ("name",)), Report()
    for number in range(10 * COUNTED):
        assert keys.wrong({"name": "cat", f"feature {number}": 1}, report) == ""
    assert report.counts["objects with the unknown key 'feature 0'"] == 1
    assert len(report.counts) == COUNTED + 1 and report.counts.total() == 10 * COUNTED


BOX = {"x": 1, "y": 2, "w": 3, "h": 4}
CAT = {"name": "cat", "attributes": ["black"], "relations": [{"name": "on", "object": "b"}], **BOX}
GQA = {"7": {"width": 50, "height": 40, "objects": {"a": CAT, "b": CAT}}}
VG_CAT = {"names": ["cat"], "attributes": ["black"], **BOX}
VG = [
    {
        "image_id": 7,
        "width": 50,
        "height": 40,
        "objects": [VG_CAT | {"object_id": number} for number in (1, 2)],
        "relationships": [{"subject_id": 1, "predicate": "on", "object_id": 2}],
    }
]


@pytest.mark.parametrize(
    ("reader", "data", "key"),
    [(gqa, GQA, key) for key in ("objects", "name", "attributes", "relations", "object", "width", "x", "h")]
    + [(visual_genome, VG, key) for key in ("image_id", "objects", "names", "attributes", "relationships")]
    + [(visual_genome, VG, key) for key in ("object_id", "subject_id", "predicate", "w")],
)
def test_nothing_is_lost_silently_where_a_key_is_misspelt_in_a_whole_file(tmp_path, reader, data, key):
    path = tmp_path / "scenes.json"
    path.write_text(json.dumps(data))
    report = Report()
    assert list(reader.read({"train": path}, str, report)) and not report.rejects
    path.write_text(json.dumps(data).replace(f'"{key}":', f'"{key}z":'))
    scenes = list(reader.read({"train": path}, str, report))
    assert report.rejects and not any(scene.objects and scene.relations for scene in scenes)
    assert len(key) == 1 or f"unknown key '{key}z', did you mean '{key}'?" in report.rejects[0]["reason"]
