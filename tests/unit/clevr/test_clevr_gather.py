"""Questions of shards put together, and answers made flat over the whole run."""

from collections import Counter
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.clevr import executor
from compvqa.clevr.gather import RARER, UNANSWERED, UNKNOWN, fair, gather
from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.scene import read_scenes
from compvqa.clevr.tables import QUESTIONS
from compvqa.programs.rows import from_json
from compvqa.questions.tables import DROPPED


@pytest.fixture(scope="module")
def gathered(folder, templates, words, tmp_path_factory):
    """Makes the questions in a number of shards, and puts them together; gives the folder of the tables."""

    def make(balance, shards):
        out = tmp_path_factory.mktemp("gathered")
        settings = GenerateSettings(balance=balance, per_scene=12, block=2)
        made, dropped = ([out / f"{name}{k}.parquet" for k in range(shards)] for name in "qd")
        for k in range(shards):
            generate(folder, templates, words, settings, 1, "t", made[k], dropped[k], shard=k, shards=shards)
        counts = gather(made[::-1], dropped[::-1], out / "questions.parquet", out / "dropped.parquet", 1)
        return out, counts

    return make


def entropy(rows):
    """Of answers, in bits: the mean over templates, each weighed by its questions."""
    by_template = {}
    for row in rows:
        by_template.setdefault(row["template"], Counter())[row["answer"]] += 1
    bits = (n * log2(counts.total() / n) for counts in by_template.values() for n in counts.values())
    return sum(bits) / len(rows)


def test_answers_are_flatter_over_the_run_and_questions_as_many(gathered, folder):
    blocks, fairer = (
        tables.read(gathered(kind, 1)[0] / "questions.parquet", QUESTIONS).to_pylist() for kind in ("blocks", "fair")
    )
    assert entropy(fairer) > entropy(blocks) + 0.1
    asked = [Counter(row["scene_ids"][0] for row in rows) for rows in (blocks, fairer)]
    assert set(asked[0].values()) == set(asked[1].values()) == {12}
    assert len({(row["scene_ids"][0], row["template"]) for row in fairer}) == len(fairer)
    scenes = {scene.scene_id: scene for scene in read_scenes(folder)}
    for row in fairer:
        assert executor.answer(from_json(row["program"]), scenes[row["scene_ids"][0]]) == row["answer"]


@pytest.mark.parametrize("balance", ["blocks", "fair"])
def test_shards_change_no_byte(gathered, balance):
    found = [gathered(balance, shards) for shards in (1, 2, 8)]
    for name in ("questions", "dropped"):
        assert len({(folder / f"{name}.parquet").read_bytes() for folder, _ in found}) == 1
    folder, counts = found[0]
    left = [row["n"] for row in tables.read(folder / "dropped.parquet", DROPPED).to_pylist() if row["reason"] == RARER]
    assert counts == {
        "in": counts["out"] + sum(left),
        "out": 13 * 12,
        "out: train": 10 * 12,
        "out: val": 3 * 12,
        f"dropped: {RARER}": sum(left),
        f"dropped: {UNANSWERED}": 0,
    }
    assert bool(left) == (balance == "fair")


@given(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), max_size=60), st.integers(0, 5))
def test_of_each_scenes_answers_the_rarest_so_far_is_kept(offered, seed):
    offers = [
        (f"{number}{answer}", "train", number, "t", answer, "s")
        for number, answers in enumerate(offered)
        for answer in sorted(answers)
    ]
    dropped, so_far = Counter(), Counter()
    kept = list(fair(iter(offers), seed, dropped))
    assert [offer[2] for offer in kept] == list(range(len(offered)))
    for answers, (*_, answer, _) in zip(offered, kept, strict=True):
        assert so_far[answer] == min(so_far[other] for other in answers)
        so_far[answer] += 1
    assert dropped.total() == sum(len(answers) - 1 for answers in offered)


def test_questions_go_to_the_parts_of_their_sides_and_those_without_answer_are_left_out(gathered, tmp_path):
    rows = tables.read(gathered("blocks", 1)[0] / "questions.parquet", QUESTIONS).to_pylist()
    hidden = [row["question_id"] for row in rows if row["split"] == "val"][:5]
    changed = [row | ({"answer": None} if row["question_id"] in hidden else {}) for row in rows]
    changed[0] |= {"template": None}
    tables.write(tmp_path / "read.parquet", QUESTIONS, changed)
    out = tmp_path / "dataset.parquet"
    parts = {"train": {"train": 0.5, "dev": 0.5}, "val": {"test": 1}}
    counts = gather([tmp_path / "read.parquet"], [], out, tmp_path / "dropped.parquet", 1, parts)
    found = {row["question_id"]: row for row in tables.read(out, QUESTIONS).to_pylist()}
    assert counts[f"dropped: {UNANSWERED}"] == 5 and found.keys() == {row["question_id"] for row in rows} - {*hidden}
    assert found[changed[0]["question_id"]]["template"] == UNKNOWN
    of_scene = {}
    for row in found.values():
        of_scene.setdefault((row["split"], *row["scene_ids"]), set()).add(row["part"])
    assert all(len(parts) == 1 for parts in of_scene.values())
    assert {side: set().union(*(p for (s, _), p in of_scene.items() if s == side)) for side in ("train", "val")} == {
        "train": {"train", "dev"},
        "val": {"test"},
    }
