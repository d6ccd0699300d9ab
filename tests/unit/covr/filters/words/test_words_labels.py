"""People's labels of pairs: read, checked, put together; and pairs exported for them."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.filters.words.labels import LABELS, LabelSettings, PairLabel, agree, export, gather, read, write_rows
from compvqa.covr.filters.words.pairs import PairSettings
from compvqa.errors import InputError
from compvqa.scenes.entries import LexiconData
from compvqa.scenes.lexicon import Lexicon
from compvqa.scenes.tables import ATTRIBUTES, MODIFIERS, OBJECTS, RELATIONS

HEADER = "kind,x,y,label,annotator"


def file(folder, *lines, name="pairs.csv", header=HEADER):
    (folder / name).write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return folder / name


def said_by(*rows):
    return [PairLabel(*row, f"line {number}") for number, row in enumerate(rows, 2)]


@pytest.fixture
def scenes(tmp_path):
    """A man on a horse, another riding one; a red and a blue hat."""
    nouns = ("man", "horse", "man", "horse", "hat", "hat")
    objects = [
        {"scene_id": "1", "object_id": str(n), "name": name, **dict.fromkeys(("x", "y", "w", "h"))}
        for n, name in enumerate(nouns)
    ]
    related = [("0", "on", "1"), ("2", "riding", "3")]
    rows = {
        OBJECTS: objects,
        ATTRIBUTES: [
            {"scene_id": "1", "object_id": n, "name": name, "group": None} for n, name in (("4", "red"), ("5", "blue"))
        ],
        RELATIONS: [
            {"scene_id": "1", "relation_id": a, "subject_id": a, "object_id": b, "name": name} for a, name, b in related
        ],
        MODIFIERS: [],
    }
    for schema, found in rows.items():
        tables.write(tmp_path / f"{schema.name}.parquet", schema, found)
    entries = {"relations": {"riding": {"entails": ["on"]}, "on": {}}}
    entries["attributes"] = {name: {"group": "color"} for name in ("red", "blue")}
    Lexicon(LexiconData.model_validate(entries)).dump(tmp_path / "lexicon.json")
    return tmp_path


def labels(scenes, **changes):
    counts = gather(scenes, scenes / "lexicon.json", scenes / "labels.parquet", LabelSettings(**changes))
    rows = tables.read(scenes / "labels.parquet", LABELS).to_pylist()
    return [tuple(row.values()) for row in rows], counts


def test_a_file_of_three_columns_tells_the_kind_by_its_name(tmp_path):
    found, unlabelled = read([file(tmp_path, "a,b,exclusive", "a,c,", name="nouns.csv", header="x,y,label")])
    assert [(one.kind, one.pair, one.label, one.annotator) for one in found] == [
        ("noun", ("noun", "a", "b"), "exclusive", "nouns")
    ]
    assert unlabelled == 1


def test_the_lists_that_covr_released_are_read_without_what_its_model_predicted(tmp_path):
    path = tmp_path / "adversarial_groups.yaml"
    path.write_text(
        "contradicting_nouns:\n- man,woman\n- Girl, male child\n"
        "disjoint_relations:\n- on,near\nnot_disjoint_relations:\n- near,on\n"
        "entailing_attributes:\n- dark,black\n"
        "disjoint_predicted_relations:\n- near,on\nentailing_predicted_nouns: {}\n"
    )
    found, unlabelled = read([path])
    assert [(one.pair, one.label) for one in found] == [
        (("noun", "man", "woman"), "exclusive"),
        (("noun", "girl", "male child"), "exclusive"),
        (("relation", "on", "near"), "exclusive"),
        (("attribute", "black", "dark"), "overlapping"),
        (("relation", "near", "on"), "overlapping"),
    ]
    assert unlabelled == 0 and {one.annotator for one in found} == {"adversarial_groups"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contradicting_nouns:\n- man,woman\n- man\n", "pair 2 of contradicting_nouns: 'man' is no pair of names"),
        ("entailing_nouns: ['salt, pepper, oil,x']\n", "pair 1 of entailing_nouns: .* write two with a comma between"),
        ("entailing_nouns: [[a, b]]\n", "pair 1 of entailing_nouns: .* is no pair of names"),
        ("disjoint_relations: ['on, on']\n", "pair 1 of disjoint_relations: a pair has two different names"),
        ("disjoint_relations: {on: near}\n", "disjoint_relations is no list"),
        ("nouns: ['a,b']\ncontradicting_nouns: []\n", "has the unknown list nouns: give COVR's"),
        ("entailing_predicted_nouns: ['a,b']\n", "has no list of labelled pairs"),
        ("- a,b\n", "holds no mapping"),
        ("contradicting_nouns: [\n", "is not valid YAML"),
    ],
)
def test_a_list_that_is_none_is_told_in_one_sentence(tmp_path, text, message):
    (tmp_path / "pairs.yaml").write_text(text)
    with pytest.raises(InputError, match=message) as told:
        read([tmp_path / "pairs.yaml"])
    assert "\n" not in str(told.value) and "pairs.yaml" in str(told.value)


def test_symmetric_pairs_are_stored_by_alphabet_and_relations_as_they_are(scenes):
    path = file(scenes, "attribute,red,blue,exclusive,Ann", "relation,riding,on,exclusive,Ann", "noun,man,hat,,")
    found, counts = labels(scenes, files=[path])
    assert found == [
        ("attribute", "blue", "red", "exclusive", "Ann"),
        ("relation", "riding", "on", "exclusive", "Ann"),
    ]
    assert counts == {
        "in": 2,
        "not labelled yet": 1,
        "dropped: as many say one thing as the other": 0,
        "derived from the lexicon": 0,
        "noun pairs": 0,
        "attribute pairs": 1,
        "relation pairs": 1,
        "names that no scene has": 0,
        "relations labelled one way only": 1,
        "out": 2,
    }


def test_unknown_names_are_counted_and_kept(scenes):
    found, counts = labels(scenes, files=[file(scenes, "noun,man,unicorn,exclusive,Ann", "noun,elf,man,exclusive,Bo")])
    assert len(found) == 2
    assert counts["names that no scene has"] == 2


def attributes_seen(folder):
    """Hats with two colours, a material and a word that the lexicon lacks, all seen on one noun."""
    rows = [
        {"scene_id": "1", "object_id": str(n), "name": name, "group": None}
        for n, name in enumerate(("red", "blue", "wooden", "shiny"))
    ]
    objects = [
        {"scene_id": "1", "object_id": str(n), "name": "hat", **dict.fromkeys(("x", "y", "w", "h"))} for n in range(4)
    ]
    tables.write(folder / "attributes.parquet", ATTRIBUTES, rows)
    tables.write(folder / "objects.parquet", OBJECTS, objects)
    tables.write(folder / "relations.parquet", RELATIONS, [])
    groups = {"red": "color", "blue": "color", "wooden": "material"}
    entries = {"attributes": {name: {"group": group} for name, group in groups.items()}}
    Lexicon(LexiconData.model_validate(entries)).dump(folder / "lexicon.json")


def test_the_rarer_label_is_filled_up_by_what_the_lexicon_surely_says(scenes):
    """Of red, blue and wooden; shiny has no entry, so that nothing is sure of it."""
    attributes_seen(scenes)
    people = file(scenes, "blue,red,exclusive", "old,new,exclusive", name="attributes.csv", header="x,y,label")
    rows, counts = labels(scenes, files=[people], least_share=0.5)
    derived = [row[1:] for row in rows if row[4] == "rule:lexicon"]
    assert derived == [
        ("blue", "wooden", "overlapping", "rule:lexicon"),
        ("red", "wooden", "overlapping", "rule:lexicon"),
    ]
    assert counts["derived from the lexicon"] == 2 and len(rows) == 4
    assert labels(scenes, files=[people], least_share=0)[1]["derived from the lexicon"] == 0


def test_no_more_is_derived_than_the_share_asks_for(scenes):
    attributes_seen(scenes)
    lines = [f"a{n},b,exclusive" for n in range(3)]
    rows, _ = labels(scenes, files=[file(scenes, *lines, name="attributes.csv", header="x,y,label")], least_share=0.25)
    assert sorted(row[3] for row in rows) == ["exclusive"] * 3 + ["overlapping"]


def test_without_files_the_lexicon_labels_pairs_in_context_both_ways_where_directed(scenes):
    found, counts = labels(scenes)
    assert found == [
        ("attribute", "blue", "red", "exclusive", "lexicon"),
        ("relation", "on", "riding", "overlapping", "lexicon"),
        ("relation", "riding", "on", "overlapping", "lexicon"),
    ]
    assert counts["relations labelled one way only"] == 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["verb,a,b,exclusive,A"], "line 2: 'verb' is no kind of name"),
        (["noun,a,b,exclusive,A", "noun,a,c,maybe,A"], "line 3: the label 'maybe' is unknown"),
        (["noun,a,a,exclusive,A"], "line 2: a pair has two different names"),
        (["noun,a,,exclusive,A"], "line 2: a pair has two different names"),
        (["noun,a, b, c,exclusive,A"], "line 2: too many fields"),
        (["", "", "noun,a,a,exclusive,A"], "line 4: a pair has two different names"),
        (['noun,a,"b,exclusive,A', "noun,a,c,exclusive,A"], "line 2: this is no CSV"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        read([file(tmp_path, *lines)])


def test_a_missing_column_file_or_encoding_is_named(tmp_path):
    with pytest.raises(InputError, match="lacks the column label"):
        read([file(tmp_path, header="x,y")])
    with pytest.raises(InputError, match="cannot be opened"):
        read([tmp_path / "none.csv"])
    (tmp_path / "latin.csv").write_bytes("x,y,label\ncafé,b,exclusive\n".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        read([tmp_path / "latin.csv"])


def test_annotators_who_disagree_are_named_or_outvoted():
    said = said_by(
        ("noun", "a", "b", "exclusive", "Ann"),
        ("noun", "b", "a", "overlapping", "Bo"),
        ("noun", "a", "b", "overlapping", "Cy"),
        ("noun", "c", "d", "overlapping", "Ann"),
        ("noun", "c", "d", "exclusive", "Bo"),
    )
    with pytest.raises(InputError, match=r"line 2 calls .* exclusive, and line 3 calls them overlapping"):
        agree(said, "refuse")
    rows, ties = agree(said, "majority")
    assert [tuple(row.values()) for row in rows] == [("noun", "a", "b", "overlapping", "Bo, Cy")]
    assert ties == 1


def test_who_says_a_thing_twice_is_one_voice():
    said = said_by(
        ("noun", "a", "b", "exclusive", "Ann"),
        ("noun", "b", "a", "exclusive", "Ann"),
        ("noun", "a", "b", "overlapping", "Bo"),
    )
    assert agree(said, "majority") == ([], 1)


def test_the_two_directions_of_a_relation_may_differ():
    said = said_by(("relation", "on", "in", "exclusive", "Ann"), ("relation", "in", "on", "overlapping", "Ann"))
    assert [row["label"] for row in agree(said, "refuse")[0]] == ["overlapping", "exclusive"]


def test_a_persons_label_goes_over_a_derived_one():
    said = said_by(("noun", "a", "b", "overlapping", "rule:heads"), ("noun", "a", "b", "exclusive", "Ann"))
    assert [(row["label"], row["annotator"]) for row in agree(said, "refuse")[0]] == [("exclusive", "Ann")]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("noun", "relation")),
            st.sampled_from("ab"),
            st.sampled_from("cd"),
            st.sampled_from(("exclusive", "overlapping")),
            st.sampled_from(("Ann", "Bo")),
        )
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_labels_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert agree(said_by(*rows), "majority") == agree(said_by(*shuffled), "majority")


def test_exported_pairs_are_read_back_once_they_are_labelled(scenes):
    out = scenes / "out.csv"
    assert export(scenes, out, PairSettings(), 5)["out"] == 3
    rows = list(csv.DictReader(out.open()))
    assert [(row["kind"], row["x"], row["y"], row["label"]) for row in rows] == [
        ("attribute", "blue", "red", ""),
        ("relation", "on", "riding", ""),
        ("relation", "riding", "on", ""),
    ]
    assert read([out]) == ([], 3)
    out.write_text(out.read_text().replace("attribute,blue,red,,", "attribute,blue,red,exclusive,Ann"))
    assert [one.pair for one in read([out])[0]] == [("attribute", "blue", "red")]
    again = export(scenes, scenes / "again.csv", PairSettings(), 5, [out])
    assert (again["labelled already"], again["out"]) == (1, 2)


@given(st.lists(st.tuples(*[st.text("'=+-@ab1", min_size=1, max_size=4)] * 2).filter(lambda pair: len(set(pair)) == 2)))
def test_names_that_a_spreadsheet_would_run_are_written_as_text_and_read_as_they_are(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    rows = [{"kind": "noun", "x": x, "y": y, "label": "exclusive", "annotator": "a"} for x, y in pairs]
    write_rows(path, HEADER.split(","), rows)
    assert [(one.x, one.y) for one in read([path])[0]] == pairs
    cells = [cell for row in csv.reader(path.read_text().splitlines()) for cell in row]
    assert not [cell for cell in cells if cell[0] in "=+-@" and not cell[1:].isdigit()]
