"""The questions of shards put together."""

import pytest

from compvqa import tables
from compvqa.covr.questions.gather import gather
from compvqa.covr.questions.generate import QuestionsSettings
from compvqa.covr.questions.tables import QUESTIONS
from compvqa.covr.subgraphs.tables import RELATED, SEEDS
from compvqa.questions.tables import DROPPED
from compvqa.seeds import shard_of
from unit.covr.questions.question_worlds import run

pytestmark = pytest.mark.xdist_group("questions-generate")  # the process that has made their world


@pytest.mark.parametrize("distractors", ["related", "random"])
def test_shards_gathered_are_the_whole(world, templates, distractors, tmp_path):
    settings = QuestionsSettings(distractors=distractors)
    whole_counts, whole = run(world, templates, tmp_path / "whole", settings=settings)
    seeds = tables.read(world / "seeds.parquet", SEEDS).to_pylist()
    related = tables.read(world / "related.parquet", RELATED).to_pylist()
    parts = []
    for shard in range(3):
        folder = tmp_path / str(shard)
        for name, schema, rows in [("seeds", SEEDS, seeds), ("related", RELATED, related)]:
            chosen = [row for row in rows if shard_of(row["seed"], 3) == shard]
            tables.write(folder / f"{name}.parquet", schema, chosen)
        paths = {name: folder / f"{name}.parquet" for name in ("seeds", "related")}
        run(world, templates, folder, settings=settings, **paths)
        parts.append(folder)
    outs = tmp_path / "questions.parquet", tmp_path / "dropped.parquet"
    questions, dropped = ([p / f"{n}.parquet" for p in parts] for n in ("questions", "dropped"))
    counts = gather(questions, dropped, *outs)
    assert tables.read(outs[0], QUESTIONS).to_pylist() == whole
    assert counts["out"] == len(whole)
    reasons = {f"dropped: {r['reason']}" for r in tables.read(outs[1], DROPPED).to_pylist()}
    assert reasons == {key for key in whole_counts if key.startswith("dropped: ")}


def test_a_question_made_twice_is_kept_once(world, templates, generated, tmp_path):
    counts, rows = run(world, templates, tmp_path)
    twice = [tmp_path / "questions.parquet"] * 2
    outs = tmp_path / "gathered.parquet", tmp_path / "all_dropped.parquet"
    gathered = gather(twice, [tmp_path / "dropped.parquet"], *outs)
    left_out = {"dropped: duplicate": len(rows), "dropped: text of another program": 0}
    assert gathered == {"in": 2 * len(rows), "out": len(rows), **left_out}
    assert tables.read(outs[0], QUESTIONS).to_pylist() == rows


def test_which_order_of_images_is_kept_does_not_depend_on_the_order_of_shards(generated, tmp_path):
    pattern = next(row for row in generated[1] if len(row["scene_ids"]) > 1)
    turned = [pattern | {"scene_ids": scenes} for scenes in (pattern["scene_ids"], pattern["scene_ids"][::-1])]
    tables.write(tmp_path / "dropped.parquet", DROPPED, [])
    for number, row in enumerate(turned):
        tables.write(tmp_path / f"{number}.parquet", QUESTIONS, [row])
    kept = []
    for shards in ((0, 1), (1, 0)):
        outs = tmp_path / "questions.parquet", tmp_path / "all_dropped.parquet"
        gather([tmp_path / f"{number}.parquet" for number in shards], [tmp_path / "dropped.parquet"], *outs)
        kept.append(tables.read(outs[0]).to_pylist())
    assert kept[0] == kept[1] and len(kept[0]) == 1


def test_a_text_stands_for_one_program_that_of_most_of_its_questions(generated, tmp_path):
    """ "People" is the plural of a person, and a name: one is asked, whichever shards the questions come from."""
    pattern = generated[1][0]

    def asked(identity, noun):
        program = f'[["Find",["{noun}"],[]],["Count",[],[0]]]'
        return pattern | {"question_id": identity, "text": "How many people?", "program": program, "template": "COUNT"}

    rows = [asked("1", "people"), asked("2", "people"), asked("3", "person"), pattern | {"question_id": "4"}]
    tables.write(tmp_path / "dropped.parquet", DROPPED, [])
    for first in range(1, 4):
        for name, part in (("one", rows[:first]), ("two", rows[first:])):
            tables.write(tmp_path / f"{name}.parquet", QUESTIONS, part)
        outs = tmp_path / "questions.parquet", tmp_path / "all_dropped.parquet"
        gather([tmp_path / "two.parquet", tmp_path / "one.parquet"], [tmp_path / "dropped.parquet"], *outs)
        assert [row["question_id"] for row in tables.read(outs[0]).to_pylist()] == ["1", "2", "4"]
        [counted] = [row for row in tables.read(outs[1]).to_pylist() if row["reason"] == "text of another program"]
        assert (counted["template"], counted["n"]) == ("COUNT", 1)
