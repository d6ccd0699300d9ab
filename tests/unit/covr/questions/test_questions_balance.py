"""Balancing, checked against a literal reading of appendix C that takes one question at a time."""

import hashlib
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.questions.balance import BalanceSettings, balance
from compvqa.covr.questions.tables import DATASET, QUESTIONS
from compvqa.errors import InputError
from compvqa.scenes.tables import SCENES
from compvqa.seeds import stable_hash

S = {"train": 5, "dev": 3, "test": 2}
SETTINGS = BalanceSettings(train_per_template=5, dev_per_template=3, test_per_template=2)


def question(number: int, **given) -> dict:
    row = {"question_id": f"{number:08x}", "testbed": "covr", "split": "train", "template": "COUNT"}
    row |= {
        "text": f"text {number}",
        "annotator_text": "",
        "program": '[["Find",["cat"],[]],["Count",[],[0]]]',
    }
    row |= {
        "answer": "1",
        "scene_ids": ["s:1", "s:2"],
        "seed": number,
        "subgraph_key": 1,
        "start_scene": "s:1",
    }
    return row | {"tree": '["cat",null,[]]', "size": 1, "depth": 1} | given


def run(rows: list[dict], settings: BalanceSettings = SETTINGS, seed: int = 3) -> tuple[list[dict], dict]:
    with TemporaryDirectory() as folder:
        source, out = Path(folder, "questions.parquet"), Path(folder, "out", "dataset.parquet")
        tables.write(source, QUESTIONS, rows)
        counts = balance(source, out, settings, seed)
        return tables.read(out, DATASET).to_pylist(), counts


def digest(seed: int, what: str, value: str) -> int:
    return int.from_bytes(hashlib.md5(f"{seed}\x1f{what}\x1f{value}".encode()).digest(), "little")


def appendix_c(rows: list[dict], part: str, limit: int, seed: int) -> set[str]:
    """Which questions of one part stay, step by step as the paper says it."""
    answers_of = defaultdict(set)
    for row in rows:
        answers_of[row["text"]].add(row["answer"])
    kept = set()
    for template in sorted({row["template"] for row in rows}):
        mine = [row for row in rows if row["template"] == template]
        if len(mine) <= limit:
            kept |= {row["question_id"] for row in mine}
            continue
        chosen: list[dict] = []
        pairs = {row["text"] for row in mine if len(answers_of[row["text"]]) > 1}
        for text in sorted(pairs, key=lambda text: digest(seed, "text", text)):
            of_text = [row for row in mine if row["text"] == text]
            if len(chosen) + len(of_text) <= limit:
                chosen += of_text
        left = [row for row in mine if row["text"] not in pairs]
        while len(chosen) < limit and left:
            seen = Counter(row["answer"] for row in chosen)
            least = min(seen[row["answer"]] for row in left)
            answer = min(
                {row["answer"] for row in left if seen[row["answer"]] == least},
                key=lambda a: stable_hash(seed, "answer", part, template, a, least),
            )
            shapes = Counter((row["size"], row["depth"]) for row in chosen)
            pick = min(
                (row for row in left if row["answer"] == answer),
                key=lambda row: (
                    shapes[row["size"], row["depth"]],
                    digest(seed, "question", row["question_id"]) >> 64,
                ),
            )
            chosen.append(pick)
            left.remove(pick)
        kept |= {row["question_id"] for row in chosen}
    return kept


varied = st.fixed_dictionaries(
    {
        "split": st.sampled_from(["train", "val"]),
        "template": st.sampled_from(["COUNT", "QUERYATTR"]),
        "text": st.sampled_from([f"text {n}" for n in range(40)]),
        "answer": st.sampled_from(["true", "red", "2"]),
        "size": st.sampled_from([1, 3]),
        "depth": st.sampled_from([1, 3]),
    }
)


@settings(max_examples=20)
@given(st.lists(varied, min_size=30, max_size=80), st.integers(0, 3))
def test_is_appendix_c(given_rows, seed):
    rows = [question(number, **row) for number, row in enumerate(given_rows)]
    out, counts = run(rows, seed=seed)
    texts = texts_of_halves(rows, seed)
    for part in ("train", "dev", "test"):
        if part == "train":
            mine = [row for row in rows if row["split"] == "train"]
        else:
            mine = [row for row in rows if row["split"] == "val" and row["text"] in texts[part]]
        assert {row["question_id"] for row in out if row["part"] == part} == appendix_c(mine, part, S[part], seed)
    assert counts["in"] == len(rows)
    assert counts["out"] == len(out) == counts["in"] - counts["dropped: balanced away"]


def texts_of_halves(rows: list[dict], seed: int) -> dict[str, set[str]]:
    """The halves of val's texts: balancing that keeps all shows them."""
    everything = BalanceSettings(train_per_template=1000, dev_per_template=1000, test_per_template=1000)
    out, _ = run(rows, everything, seed)
    return {part: {row["text"] for row in out if row["part"] == part} for part in ("dev", "test")}


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["COUNT", "QUERYOBJECT"])), max_size=60))
@settings(max_examples=15)
def test_halves_of_val_share_no_text_and_are_nearly_equal(given_rows):
    rows = [question(n, split="val", text=text, template=t) for n, (text, t) in enumerate(given_rows)]
    halves = texts_of_halves(rows, 0)
    assert not halves["dev"] & halves["test"]
    size = Counter(row["text"] for row in rows)
    dev, test = (sum(size[text] for text in halves[part]) for part in ("dev", "test"))
    assert dev + test == len(rows)
    assert abs(dev - test) <= max(size.values(), default=0)


def test_pairs_that_are_too_many_are_cut_whole():
    rows = [
        question(2 * n + i, text=f"text {n}", answer=answer)
        for n in range(20)
        for i, answer in enumerate(("true", "false"))
    ]
    out, _ = run(rows, BalanceSettings(train_per_template=9))
    texts = Counter(row["text"] for row in out)
    assert len(texts) == 4 and set(texts.values()) == {2}


def test_answers_come_out_even_and_then_structures():
    rows = [question(n, answer="red" if n < 80 else "blue", size=1 + 2 * (n % 2)) for n in range(100)]
    out, _ = run(rows, BalanceSettings(train_per_template=40))
    assert Counter((row["answer"], row["size"]) for row in out) == {
        ("red", 1): 10, ("red", 3): 10, ("blue", 1): 10, ("blue", 3): 10,
    }  # fmt: skip


def test_null_means_all_questions_over_all_templates():
    rows = [question(n, template="COUNT" if n < 25 else "QUERYATTR") for n in range(30)]
    out, counts = run(rows, BalanceSettings(train_per_template=None))
    assert Counter(row["template"] for row in out) == {"COUNT": 15, "QUERYATTR": 5}
    assert (counts["in: train COUNT"], counts["out: train COUNT"]) == (25, 15)


def test_the_order_of_rows_and_other_parts_changes_nothing():
    rows = [question(n, answer=str(n % 4), text=f"text {n // 2}") for n in range(60)]
    more = [question(100 + n, split="val", answer=str(n % 3)) for n in range(60)]
    alone, _ = run(rows)
    both, _ = run(rows[::-1] + more)
    assert alone == [row for row in both if row["part"] == "train"]


def test_no_questions_give_an_empty_data_set():
    out, counts = run([])
    assert out == [] and counts == {"in": 0, "out": 0, "dropped: balanced away": 0}


def test_a_table_of_something_else_is_refused(tmp_path):
    tables.write(tmp_path / "scenes.parquet", SCENES, [])
    with pytest.raises(InputError, match="is no questions table: it lacks the column"):
        balance(tmp_path / "scenes.parquet", tmp_path / "out.parquet", SETTINGS, 0)
