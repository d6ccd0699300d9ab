"""What COVR's authors released of their own word filters: read, used as a method, and compared with."""

import pytest

from compvqa import tables
from compvqa.covr.filters.words.overlap import OVERLAP, SHARES, OverlapSettings, overlap
from compvqa.covr.filters.words.released import PAIRS, predictions, read_released
from compvqa.errors import InputError
from unit.covr.filters.words.test_words_overlap import write

LISTS = """
contradicting_attributes:
- red,old
entailing_attributes:
- striped,plaid
contradicting_predicted_attributes:
- red,blue
- small,large
- one name
- a,b,c
- twin,twin
entailing_predicted_nouns:
- man,person
- jug,cup
disjoint_predicted_relations:
- riding,near
not_disjoint_relations:
- near,on
"""


@pytest.fixture
def released(tmp_path):
    (tmp_path / "groups.yaml").write_text(LISTS)
    counts = read_released(tmp_path / "groups.yaml", tmp_path / "released.parquet")
    return tmp_path / "released.parquet", counts


def test_lists_of_people_and_of_the_model_are_told_apart(released):
    path, counts = released
    rows = [tuple(row.values()) for row in tables.read(path, PAIRS).to_pylist()]
    assert rows == [
        ("attribute", "blue", "red", "model", "exclusive"),
        ("attribute", "large", "small", "model", "exclusive"),
        ("attribute", "old", "red", "people", "exclusive"),
        ("attribute", "plaid", "striped", "people", "overlapping"),
        ("noun", "cup", "jug", "model", "overlapping"),
        ("noun", "man", "person", "model", "overlapping"),
        ("relation", "near", "on", "people", "overlapping"),
        ("relation", "riding", "near", "model", "exclusive"),
    ]
    assert counts["in"] == 11 and counts["dropped: no pair of names"] == 3 and counts["out"] == 8


def test_pairs_that_no_list_has_are_the_other_label_if_both_names_are_known(released):
    path, _ = released
    of = {kind: predictions(path, kind) for kind in ("attribute", "noun", "relation")}
    assert of["attribute"](["red", "red", "old", "red"], ["blue", "large", "plaid", "pink"]) == [1, 0, 0, None]
    assert of["noun"](["person", "man", "man"], ["man", "jug", "dog"]) == [0, 1, None]
    assert of["relation"](["riding", "near", "on"], ["near", "riding", "riding"]) == [1, 0, 0]  # directed


def test_a_pair_of_both_labels_is_left_out_and_leaves_unlisted_pairs_open(tmp_path):
    (tmp_path / "g.yaml").write_text(
        "contradicting_predicted_nouns: ['a,b', 'b,c']\nentailing_predicted_nouns: ['b,a', 'c,d']\n"
    )
    counts = read_released(tmp_path / "g.yaml", tmp_path / "t.parquet")
    assert counts["dropped: in lists of both labels"] == 1
    assert predictions(tmp_path / "t.parquet", "noun")(["b", "c", "b"], ["c", "d", "d"]) == [1, 0, None]


def test_a_file_without_predictions_is_one_sentence(tmp_path):
    (tmp_path / "g.yaml").write_text("contradicting_nouns: ['a,b']\n")
    with pytest.raises(InputError, match="has no list of predictions: give COVR's adversarial_groups.yaml"):
        read_released(tmp_path / "g.yaml", tmp_path / "t.parquet")


def test_it_is_a_method_whose_unknown_names_are_the_lexicons_and_stands_beside_others(tmp_path, released):
    path, _ = released
    write(tmp_path, [("1", "a", "jug", ["red", "blue"]), ("2", "a", "jug", ["old", "wet"])])
    files = tmp_path, tmp_path / "lexicon.json", tmp_path / "o.parquet"
    settings = OverlapSettings(methods={"attribute": "released"})
    overlap(*files, settings, shares=tmp_path / "shares.parquet", released=path)
    rows = tables.read(files[-1], OVERLAP).to_pylist()
    m = {(row["x"], row["y"]): row["m"] for row in rows if row["x"] < row["y"]}
    assert m == {
        ("blue", "red"): 1, ("old", "red"): 0, ("blue", "old"): 0,  # told by the lists
        ("blue", "wet"): 0, ("old", "wet"): 0, ("red", "wet"): 0,  # the lists lack wet, and so does the lexicon
    }  # fmt: skip
    assert {row["model"] for row in rows} == {"released"}
    overlap(*files, OverlapSettings(method="none"), shares=tmp_path / "shares.parquet", released=path)
    shares = {(row["kind"], row["beside"]): row for row in tables.read(tmp_path / "shares.parquet", SHARES).to_pylist()}
    told = shares["attribute", "released"]
    assert [told[name] for name in ("pairs", "exclusive", "exclusive_beside", "alike")] == [3, 3, 1, 1]
    with pytest.raises(InputError, match="name it as overlap.released"):
        overlap(*files, settings)
