"""Questions of scenes: keyed, balanced, counted, and distributed as the original code's."""

import json
import shutil
from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from compvqa import tables
from compvqa.clevr import executor
from compvqa.clevr.generate import GenerateSettings, acceptable, blocks, generate, of_block, plans_of
from compvqa.clevr.lint import sampled
from compvqa.clevr.scene import Scene, read_scenes
from compvqa.clevr.search import Plan
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.templates import read_templates
from compvqa.errors import InputError
from compvqa.programs.rows import from_json
from compvqa.questions.tables import DROPPED
from compvqa.scenes.tables import ATTRIBUTES

SMALL = GenerateSettings(per_scene=5, block=4)


def made(folder, templates, words, out, **changes):
    arguments = {"settings": SMALL, "seed": 1, "testbed": "t"} | changes
    counts = generate(folder, templates, words, out=out / "q.parquet", dropped=out / "d.parquet", **arguments)
    return tables.read(out / "q.parquet", QUESTIONS), tables.read(out / "d.parquet", DROPPED), counts


def test_every_question_is_answered_by_its_program_and_the_table_is_the_contracts(folder, templates, words, tmp_path):
    questions, dropped, counts = made(folder, templates, words, tmp_path)
    scenes = {scene.scene_id: scene for scene in read_scenes(folder)}
    assert counts["questions"] == len(questions) == 65
    for row in questions.to_pylist():
        [scene_id] = row["scene_ids"]
        assert executor.answer(from_json(row["program"]), scenes[scene_id]) == row["answer"]
        assert row["split"] == row["part"] == scenes[scene_id].split
        assert row["testbed"] == "t"
        assert "<" not in row["text"] and "[" not in row["text"] and row["text"].endswith("?")
    per_scene = Counter((row["scene_ids"][0], row["template"]) for row in questions.to_pylist())
    assert set(per_scene.values()) == {1}
    assert sum(dropped["n"].to_pylist()) == sum(n for what, n in counts.items() if what.startswith("dropped"))


def test_the_files_of_templates_that_are_named_are_the_only_ones_used(folder, templates, words, tmp_path):
    only = SMALL.model_copy(update={"only": ("zero_hop.json", "one_hop")})
    questions, _, _ = made(folder, templates, words, tmp_path, settings=only)
    assert {name.rpartition("_")[0] for name in questions["template"].to_pylist()} == {"zero_hop", "one_hop"}
    with pytest.raises(InputError, match="no file of templates 'two_hops'.*correct `only`"):
        plans_of(templates, SMALL.model_copy(update={"only": ("two_hops",)}))


def test_shards_together_are_the_whole_and_another_seed_is_another(folder, templates, words, tmp_path):
    whole, lost, _ = made(folder, templates, words, tmp_path)
    shards = [made(folder, templates, words, tmp_path, shard=k, shards=3) for k in range(3)]
    together = pa.concat_tables([questions for questions, _, _ in shards]).sort_by("question_id")
    assert together.equals(whole)
    reasons = Counter()
    for _, dropped, _ in shards:
        reasons.update({(row["template"], row["reason"]): row["n"] for row in dropped.to_pylist()})
    assert reasons == {(row["template"], row["reason"]): row["n"] for row in lost.to_pylist()}
    other, _, _ = made(folder, templates, words, tmp_path, seed=2)
    assert other["text"].to_pylist() != whole["text"].to_pylist()


def test_a_shard_reads_and_builds_the_scenes_of_its_own_blocks_alone(folder, templates, words, tmp_path, monkeypatch):
    def bytes_of(shard, scenes=folder):
        made(scenes, templates, words, tmp_path, shard=shard, shards=3)
        return (tmp_path / "q.parquet").read_bytes()

    expected = [bytes_of(shard) for shard in range(3)]
    broken = shutil.copytree(folder, tmp_path / "scenes")
    colors = tables.read(broken / "attributes.parquet", ATTRIBUTES).to_pylist()
    kept = [row for row in colors if row["scene_id"] != "clevr:CLEVR_train_000005" or row["group"] != "color"]
    tables.write(broken / "attributes.parquet", ATTRIBUTES, kept)
    monkeypatch.setattr("compvqa.clevr.scene.AT_ONCE", 3)
    read, keys = tables.read_keys, []
    monkeypatch.setattr(tables, "read_keys", lambda path, schema, of: keys.append(list(of)) or read(path, schema, of))
    assert [bytes_of(shard, broken) for shard in (0, 2)] == [expected[0], expected[2]]
    with pytest.raises(InputError, match="CLEVR_train_000005 has no color"):
        bytes_of(1, broken)
    assert max(map(len, keys)) == 3  # scenes in memory


def test_blocks_are_of_one_side_and_do_not_depend_on_how_sides_are_mixed():
    scenes = [Scene(f"{number}", "val" if number % 3 else "train", (), {}) for number in range(10)]
    found = [[scene.scene_id for scene in block] for block in blocks(scenes, 3)]
    assert sorted(found) == [["0", "3", "6"], ["1", "2", "4"], ["5", "7", "8"], ["9"]]


def test_a_scene_without_objects_has_few_questions_and_is_counted(templates, words):
    dropped = Counter()
    plans = [Plan.of(template) for template in templates]
    nothing = {name: () for name in words.values["relation"]}
    rows = list(of_block([Scene("empty", "train", (), nothing)], plans, words, GenerateSettings(), 1, dropped))
    assert {row["answer"] for row in rows} <= {"no", "0", "yes"}
    assert dropped["", "scenes with fewer questions than wanted"] == 1
    assert dropped["zero_hop_2", "nothing in the scene fits"] == 1


def test_no_templates_are_told(folder, words, tmp_path):
    with pytest.raises(InputError, match="There are no templates"):
        made(folder, [], words, tmp_path)


@example([0, 0, 0, 0, 26, 26])  # many for the median, which counts as 5 at least
@example([0, 0, 0, 0, 25, 25])
@example([6, 6, 6, 31, 31])
@given(st.lists(st.integers(0, 60), min_size=2, max_size=11))
def test_an_answer_is_refused_by_the_second_most_frequent_and_by_the_median(numbers):
    counts = dict(enumerate(numbers))
    ordered = sorted(numbers)
    bound = min(1.1 * ordered[-2], 5 * max(ordered[len(ordered) // 2], 5))
    assert acceptable(counts) == {answer for answer in counts if counts[answer] <= bound}


def test_templates_and_answers_are_even_over_a_block(folder, templates, words, tmp_path):
    questions, _, _ = made(folder, templates, words, tmp_path, settings=GenerateSettings(per_scene=20, block=10))
    train = [row for row in questions.to_pylist() if row["split"] == "train"]
    assert len(train) == 200
    used = Counter(row["template"] for row in train)
    assert max(used.values()) <= 4
    for name in ("zero_hop_1", "one_hop_1"):
        answers = Counter(row["answer"] for row in train if row["template"] == name)
        assert abs(answers["yes"] - answers["no"]) <= 1


def test_questions_are_distributed_as_the_original_code_makes_them(oracle, clevr, words):
    scenes, originals = oracle
    order = json.loads((clevr / "oracle/template_order.json").read_text())
    official = read_templates(clevr / "CLEVR_1.0_templates")
    plans = [
        Plan.of(template, sets=False)
        for file in order
        for template in official
        if template.name.rpartition("_")[0] == file.removesuffix(".json")
    ]
    rows, dropped = [], Counter()
    for block in blocks(scenes.values(), 250):
        rows += of_block(block, plans, words, GenerateSettings(distinct="outputs"), 1, dropped)
    assert len(rows) == 3000
    original = [
        (
            f"{question['template_filename'].removesuffix('.json')}_{question['question_family_index']}",
            executor.in_words(question["answer"]),
            len(question["question"].split()),
            len(question["program"]),
        )
        for question in originals
    ]
    found = [
        (row["template"], row["answer"], len(row["text"].split()), len(json.loads(row["program"]))) for row in rows
    ]
    for what in range(4):
        theirs, ours = (Counter(item[what] for item in items) for items in (original, found))
        values = [value for value in theirs | ours if theirs[value] + ours[value] >= 10]
        assert chi2_contingency([[theirs[v] for v in values], [ours[v] for v in values]]).pvalue > 0.001, what


def test_questions_are_distributed_in_both_modes_alike(templates, words):
    """A small version of benchmarks/clevr_agreement.py, which holds 10,000 questions beside each other."""
    scenes = sampled(words, 24)
    found = {}
    for mode in ("compat", "keyed"):
        settings = GenerateSettings(mode=mode, distinct="outputs")
        plans = plans_of(templates, settings)
        rng = Random(1) if mode == "compat" else None
        found[mode] = list(of_block(scenes, plans, words, settings, 1, Counter(), rng))
    assert len(found["compat"]) == len(found["keyed"]) == 240
    for value in (
        lambda row: row["template"].rpartition("_")[0],
        lambda row: row["answer"],
        lambda row: len(row["text"].split()) // 3,
        lambda row: len(json.loads(row["program"])) // 2,
    ):
        one, other = (Counter(map(value, rows)) for rows in found.values())
        values = [key for key in one | other if one[key] + other[key] >= 10]
        assert len(values) > 3
        assert chi2_contingency([[one[v] for v in values], [other[v] for v in values]]).pvalue > 0.001


def test_counts_that_differ_as_sets_give_both_answers_and_as_numbers_only_no(oracle, templates, words):
    scenes = list(oracle[0].values())[:60]
    plans = {sets: [Plan.of(t, sets) for t in templates if t.name == "compare_integer_0"] for sets in (True, False)}
    answers = {
        sets: {row["answer"] for row in of_block(scenes, plan, words, GenerateSettings(), 1, Counter())}
        for sets, plan in plans.items()
    }
    assert answers == {True: {"yes", "no"}, False: {"no"}}
