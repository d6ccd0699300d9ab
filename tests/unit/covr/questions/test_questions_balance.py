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
from compvqa.covr.questions.tables import DATASET, QUESTIONS, RISK, RISKS
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


def rank(seed: int, row: dict) -> int:
    return digest(seed, "question", row["question_id"]) >> 64


def shape(row: dict) -> tuple[str, int, int]:
    return row["start_scene"].split(":")[0], row["size"], row["depth"]


def is_other(row: dict, other: dict) -> bool:
    return row["text"] == other["text"] and row["answer"] != other["answer"]


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
        paired = {row["text"] for row in mine if len(answers_of[row["text"]]) > 1}

        def taken(answer, chosen=chosen):
            return sum(row["answer"] == answer for row in chosen)

        def like(row, chosen=chosen):
            return sum(shape(other) == shape(row) for other in chosen)

        def next_answer(rows, template=template):
            least = min(taken(row["answer"]) for row in rows)
            tied = {row["answer"]: template for row in rows if taken(row["answer"]) == least}
            return min(tied, key=lambda name: stable_hash(seed, "answer", part, tied[name], name, least))

        while len(chosen) + 2 <= int(0.75 * limit):
            done = {row["text"] for row in chosen}
            open_ = [
                row for row in mine if row["text"] in paired - done and any(is_other(row, other) for other in mine)
            ]
            if not open_:
                break
            answer = next_answer(open_)
            first = min((row for row in open_ if row["answer"] == answer), key=lambda row: (like(row), rank(seed, row)))
            second = min(
                (row for row in mine if is_other(first, row)),
                key=lambda row: (
                    taken(row["answer"]),
                    stable_hash(seed, "answer", part, template, row["answer"], 0),
                    rank(seed, row),
                ),
            )
            chosen += [first, second]
        left = [row for row in mine if row not in chosen]
        while len(chosen) < limit and left:
            answer = next_answer(left)
            pick = min(
                (row for row in left if row["answer"] == answer),
                key=lambda row: (like(row), row["text"] in paired, rank(seed, row)),
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


def test_of_pairs_that_are_too_many_whole_ones_stay():
    rows = [
        question(2 * n + i, text=f"text {n}", answer=answer)
        for n in range(20)
        for i, answer in enumerate(("true", "false"))
    ]
    out, _ = run(rows, BalanceSettings(train_per_template=9, paired_share=1))
    assert sorted(Counter(row["text"] for row in out).values()) == [1, 2, 2, 2, 2]


def test_a_share_is_unpaired_and_every_rare_answer_stays():
    """Of 60 texts with two answers and 40 with one; the answer 5 is in five of them."""
    rows = [question(n, text=f"text {n // 2}", answer=str(n % 2) if n >= 10 else str(5 * (n % 2))) for n in range(120)]
    rows += [question(200 + n, answer=str(n % 2)) for n in range(40)]
    out, _ = run(rows, BalanceSettings(train_per_template=40))
    answers = defaultdict(set)
    for row in out:
        answers[row["text"]].add(row["answer"])
    assert sum(len(answers[row["text"]]) > 1 for row in out) == 30 and len(out) == 40
    assert sum(row["answer"] == "5" for row in out) == 5


def test_no_template_is_of_one_source_where_two_can_make_it():
    rows = [question(n, start_scene="gqa:1" if n < 5 else "imsitu:a", text=f"text {n}") for n in range(100)]
    out, _ = run(rows, BalanceSettings(train_per_template=10))
    assert Counter(row["start_scene"] for row in out) == {"gqa:1": 5, "imsitu:a": 5}


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


# --- risks

SETTINGS_RISK = BalanceSettings(
    train_per_template=None, dev_per_template=None, test_per_template=None, target_risk=0.1, least_share=0.4
)


def _id(row: dict) -> str:
    return row["question_id"]


def with_risks(rows: list[dict], risks: list[float | None], settings: BalanceSettings) -> tuple[list[dict], dict]:
    with TemporaryDirectory() as folder:
        source, out, *shards = (Path(folder, f"{name}.parquet") for name in ("questions", "dataset", "first", "second"))
        tables.write(source, QUESTIONS, rows)
        known = [
            {**dict.fromkeys(RISKS.names), "question_id": row["question_id"], "seed": row["seed"], "risk": p}
            for row, p in zip(rows, risks, strict=True)
        ]
        # Each shard has what another seed's question of the same text would have, which is not in the table
        others = [{**row, "seed": -1, "risk": 0.99} for row in known]
        tables.write(shards[0], RISK, sorted(known[::2] + others[1::2], key=_id))
        tables.write(shards[1], RISK, sorted(others[::2] + known[1::2], key=_id))
        counts = balance(source, out, settings, 3, shards)
        return tables.read(out, DATASET).to_pylist(), counts


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("xyz"), st.sampled_from([0, 0.02, 0.1, 0.3, 0.9]))))
@settings(max_examples=30, deadline=None)
def test_of_each_answer_the_surest_are_left_down_to_the_target_or_the_least_share(given_rows):
    rows = [question(n, template=template, answer=answer) for n, (template, answer, _) in enumerate(given_rows)]
    risks = [risk for *_, risk in given_rows]
    kept, counts = with_risks(rows, risks, SETTINGS_RISK.model_copy(update={"train_per_template": 1000}))
    left = {row["question_id"] for row in kept}
    for template in {row["template"] for row in rows}:
        mine = [(row, risk) for row, risk in zip(rows, risks, strict=True) if row["template"] == template]
        of = {a: sorted(r for row, r in mine if row["answer"] == a) for a in {row["answer"] for row, _ in mine}}
        shares = sorted({place / len(found) for found in of.values() for place in range(len(found))})

        def upto(share, of=of):
            return [r for found in of.values() for place, r in enumerate(found) if place / len(found) <= share]

        sure = [share for share in shares if sum(upto(share)) <= 0.1 * len(upto(share)) + 1e-9]
        last = max([*sure, *(share for share in shares if share < 0.4)])
        assert sorted(r for row, r in mine if row["question_id"] in left) == pytest.approx(sorted(upto(last)))
        assert counts[f"in: train {template}"] == len(mine)


def test_questions_keep_their_risks_and_without_any_none_is_too_risky():
    rows = [question(number) for number in range(4)]
    kept, _ = with_risks(rows, [0.02, 0.04, None, 0.01], SETTINGS_RISK.model_copy(update={"train_per_template": 9}))
    assert [row["risk"] for row in kept] == [pytest.approx(0.02), pytest.approx(0.04), None, pytest.approx(0.01)]
    kept, _ = run(rows, SETTINGS_RISK.model_copy(update={"train_per_template": 9}))
    assert len(kept) == 4 and {row["risk"] for row in kept} == {None}
