"""Related images: what passes the image filter, and how many of it are kept."""

import pytest

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.subgraphs.related import RelatedSettings, relate
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.subgraph import Edge, Modifier, make
from compvqa.covr.subgraphs.tables import CANDIDATES, RELATED, SEEDS

MAN_ON_CUP = make("man", "old", (Edge("on", make("cup")),))


def candidate(key: str, scene: int, rank: int, seed: int = 1) -> dict:
    differs = key not in ("pos", "no_mult")
    found = {"nodes": [0] if differs else [], "names": ["dog"] if differs else []}
    return {"seed": seed, "key": key, "scene_id": f"s:{scene:02}", "rank": rank} | found


def related(folder, rows, presence=(), seeds=(1,), **options):
    """The related rows, and the counts."""
    of_seed = {"subgraph_key": MAN_ON_CUP.key, "split": "train", "tree": MAN_ON_CUP.json(), "n_instances": 1}
    paths = [folder / f"{name}.parquet" for name in ("seeds", "candidates", "presence", "related")]
    tables.write(paths[0], SEEDS, [of_seed | {"seed": s, "scene_id": f"s:{s:02}"} for s in seeds])
    tables.write(paths[1], CANDIDATES, rows)
    tables.write(paths[2], PRESENCE, presence)
    counts = relate(*paths, RelatedSettings(**options))
    return tables.read(paths[3], RELATED).to_pylist(), counts


def seen(scene: int, p: float, graph=MAN_ON_CUP, masked: bool = False) -> list[dict]:
    """Every simple part of ``graph`` is in the scene's image with probability ``p``."""
    row = {"scene_id": f"s:{scene:02}", "masked": masked, "p": p, "fold": 0}
    return [row | {"subgraph_key": part.key} for part in simple_subgraphs(graph)]


def test_simple_subgraphs_have_two_objects_one_relation_and_one_attribute_at_most():
    hat = make("hat", "red", (Edge("near", make("dog")),))
    g = make("man", "old", (Edge("wearing", hat, (Modifier("with", "hand"),)),))
    expected = [make(name) for name in ("man", "hat", "dog", "hand")]
    expected += [make("man", "old"), make("hat", "red"), make("hat", None, (Edge("near", make("dog")),))]
    expected += [make("hat", "red", (Edge("near", make("dog")),))]
    expected += [
        make("man", a, (Edge("wearing", make("hat", b)),)) for a, b in [("old", None), (None, "red"), (None, None)]
    ]
    assert {part.key for part in simple_subgraphs(g)} == {part.key for part in expected}


def test_without_scores_the_first_by_rank_pass(tmp_path):
    rows = [candidate("pos", 1, 0)] + [candidate("0_name", 20 - i, i) for i in range(15)]
    kept, counts = related(tmp_path, rows)
    assert [(r["scene_id"], r["rank"]) for r in kept if r["key"] == "0_name"] == [
        (f"s:{20 - i:02}", i) for i in reversed(range(10))
    ]
    assert counts["in"] == 16 and counts["out"] == 11 and counts["dropped: more than tried or kept"] == 5


@pytest.mark.parametrize(
    ("key", "tau"), [("0_name", 0.05), ("1_relation", 0.1), ("0_attr", 0.5), ("4_name_neg_attr_root", 0.5)]
)
def test_a_candidate_fails_above_the_threshold_of_its_kind(tmp_path, key, tau):
    rows = [candidate("pos", 1, 0), candidate(key, 2, 0), candidate(key, 3, 1), candidate(key, 4, 2)]
    presence = seen(2, tau + 0.01) + seen(3, tau - 0.01)
    kept, counts = related(tmp_path, rows, presence)
    assert [(r["scene_id"], r["rank"]) for r in kept if r["key"] == key] == [("s:03", 0), ("s:04", 1)]
    assert counts["dropped: subgraph seen in the image"] == 1


def test_one_simple_part_that_is_not_seen_is_enough(tmp_path):
    rows = [candidate("pos", 1, 0), candidate("0_name", 2, 0)]
    presence = seen(2, 0.9)
    kept, _ = related(tmp_path, rows, presence[1:])
    assert len(kept) == 2
    kept, _ = related(tmp_path, rows, [*presence[1:], presence[0] | {"p": 0.01}])
    assert len(kept) == 2
    kept, _ = related(tmp_path, rows, presence)
    assert not kept
    kept, _ = related(tmp_path, rows, seen(2, 0.9, masked=True))
    assert len(kept) == 2


def test_after_thirty_tries_it_gives_up(tmp_path):
    rows = [candidate("pos", 1, 0)] + [candidate("0_name", 10 + i, i) for i in range(8)]
    presence = [row for i in range(4) for row in seen(10 + i, 0.9)]
    kept, _ = related(tmp_path, rows, presence, tried=5, per_key=3)
    assert [r["scene_id"] for r in kept if r["key"] == "0_name"] == ["s:14"]


def test_positives_and_single_instances_are_not_asked_about(tmp_path):
    rows = [candidate("pos", 1, 0), candidate("pos", 2, 1), candidate("no_mult", 3, 0)]
    kept, _ = related(tmp_path, rows, seen(2, 0.9) + seen(3, 0.9))
    assert len(kept) == 3


def test_seeds_without_a_negative_are_left_out_and_counted(tmp_path):
    rows = [candidate("pos", 1, 0), candidate("pos", 2, 0, seed=2), candidate("0_name", 3, 0, seed=2)]
    kept, counts = related(tmp_path, rows, seeds=(1, 2))
    assert {row["seed"] for row in kept} == {2}
    assert counts["seeds in"] == 2 and counts["seeds out"] == 1
    assert counts["in"] == counts["out"] + counts["dropped: seed has no negative"]
