"""Properties of all questions that a small world gives, each checked from the written table alone."""

import itertools
import shutil
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from compvqa import tables
from compvqa.covr.executor import answer_text, execute, trace
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.language import LANGUAGE
from compvqa.covr.questions import inputs
from compvqa.covr.questions.generate import QuestionsSettings
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.subgraph import parse
from compvqa.covr.subgraphs.tables import SEEDS
from compvqa.errors import InputError
from compvqa.programs.rows import from_json, walk
from compvqa.questions.tables import DROPPED
from compvqa.scenes.graph import SceneStore
from unit.covr.questions.question_worlds import NOUNS, RELATIONS, run, write_world

pytestmark = pytest.mark.xdist_group("questions-generate")  # one process, so that its world is made once
VERIFYING = {
    *("VERIFYATTR", "COMPARECOUNT", "VERIFYCOUNT", "VERIFYCOUNTGROUPBY", "VERIFYLOGIC"),
    *("VERIFYQUANT", "VERIFYQUANTATTR", "VERIFYSAMEATTR"),
}
CHOOSING = {"CHOOSEATTR", "CHOOSEOBJECT", "CHOOSEREL"}
QUERYING = {"QUERYATTR", "QUERYOBJECT"}
ALL = VERIFYING | CHOOSING | QUERYING | {"COUNT", "COUNTGROUPBY"}
STATEMENTS = {"COMPARECOUNT", "VERIFYCOUNT", "VERIFYCOUNTGROUPBY", "VERIFYQUANT"}


def test_every_template_makes_questions_with_both_answers(questions):
    answers = defaultdict(set)
    for question in questions:
        answers[question["template"]].add(question["answer"])
    assert set(answers) == ALL
    for template in VERIFYING:
        assert answers[template] == {"true", "false"}
    for template in ("COUNT", "COUNTGROUPBY"):
        assert {"0", "1", "2", "3"} <= answers[template] <= set("012345")
    assert answers["QUERYATTR"] == {"red", "blue"}
    assert answers["CHOOSEATTR"] == {"red", "blue", "old", "young"}
    assert answers["CHOOSEREL"] == set(RELATIONS)
    assert answers["CHOOSEOBJECT"] == answers["QUERYOBJECT"] == set(NOUNS)


@settings(max_examples=5)
@given(st.integers(1, 500).map(lambda n: 100 * n))
def test_any_world_gives_questions_with_the_stored_answers(templates, first):
    with TemporaryDirectory() as folder:
        world = Path(folder)
        write_world(world, scenes=12, most_seeds=30, first=first)
        _, rows = run(world, templates, world)
        store = SceneStore(world / "scenes")
        check_programs(rows, store)
        check_images(rows, store)
        check_scopes(rows, store)


def test_a_program_from_its_json_gives_the_stored_answer(questions, store):
    check_programs(questions, store)


def check_programs(questions, store):
    for question in questions:
        program = from_json(question["program"])
        LANGUAGE.check(program)
        scenes = [store.graph(scene_id) for scene_id in question["scene_ids"]]
        assert answer_text(execute(program, scenes)) == question["answer"], question["text"]


def test_each_question_has_two_to_five_images_of_its_split(questions, store):
    check_images(questions, store)


def check_images(questions, store):
    splits = dict(zip(*(store.scenes[c].to_pylist() for c in ("scene_id", "split")), strict=True))
    for question in questions:
        scenes = question["scene_ids"]
        assert 2 <= len(scenes) <= 5 and len(set(scenes)) == len(scenes)
        assert {splits[scene_id] for scene_id in scenes} == {question["split"]}


def test_the_references_are_unique_and_scopes_are_never_empty(questions, store):
    seen = check_scopes(questions, store)
    assert seen == {"Unique", "AssertUnique", "All", "Some", "None", "AllSame"}


def check_scopes(questions, store):
    """Look at what each such operator is given; give which there were."""
    seen = set()
    for question in questions:
        program = from_json(question["program"])
        values = trace(program, [store.graph(scene_id) for scene_id in question["scene_ids"]])
        for row in program:
            if row.operation in ("Unique", "AssertUnique", "All", "Some", "None", "AllSame"):
                seen.add(row.operation)
                size = sum(map(len, values[row.dependencies[0]]))
                assert size == 1 if row.operation.endswith("Unique") else size > 0
    return seen


def test_some_object_in_scope_fails_where_the_answer_alone_does_not_say_so(questions, store):
    """All-false, Some-false and No-true: without such an object they would hold for the wrong reason."""
    asked = 0
    for question in questions:
        quantifier = from_json(question["program"])[-1]
        if (quantifier.operation, question["answer"]) in {
            ("All", "false"),
            ("Some", "false"),
            ("None", "true"),
        }:
            asked += 1
            scenes = [store.graph(scene_id) for scene_id in question["scene_ids"]]
            program = from_json(question["program"])
            everything = [
                *program[:-1],
                type(quantifier)("All", quantifier.arguments, quantifier.dependencies),
            ]
            assert execute(everything, scenes) is False
    assert asked > 20


def test_two_answers_to_one_text_come_from_two_image_sets(questions):
    by_text = defaultdict(dict)
    for question in questions:
        by_text[question["template"], question["text"], question["seed"]].setdefault(question["answer"], set()).add(
            frozenset(question["scene_ids"])
        )
    pairs = defaultdict(int)
    for (template, *_), answers in by_text.items():
        pairs[template] += len(answers) == 2
        for one, other in itertools.combinations(answers.values(), 2):
            assert not one & other
    for template in ("COUNT", "VERIFYCOUNT", "COUNTGROUPBY", "VERIFYCOUNTGROUPBY"):
        assert pairs[template] == sum(key[0] == template for key in by_text)
    assert all(pairs[template] for template in ALL)


def test_choices_hold_the_answer_in_both_orders(questions):
    orders = defaultdict(set)
    for question in questions:
        if question["template"] in CHOOSING:
            choices = from_json(question["program"])[-1].arguments
            assert len(set(choices)) == 2 and question["answer"] in choices
            start = question["template"], choices.index(question["answer"])
            orders[start].add(question["answer"])
    assert set(orders) == set(itertools.product(CHOOSING, (0, 1)))


def test_the_other_choice_is_seen_in_an_image_without_the_subject(questions, store):
    """CHOOSEOBJECT and CHOOSEREL, at least where the answer is that of the seed's subgraph."""
    asked = 0
    for question in questions:
        if (
            question["template"] not in ("CHOOSEOBJECT", "CHOOSEREL")
            or question["start_scene"] not in question["scene_ids"]
        ):
            continue
        asked += 1
        last = from_json(question["program"])[-1]
        (other,) = set(last.arguments) - {question["answer"]}
        rest = [store.graph(s) for s in question["scene_ids"] if s != question["start_scene"]]
        if question["template"] == "CHOOSEOBJECT":
            assert any(item.name == other for scene in rest for item in scene.objects.values())
        else:
            assert any(other in scene.by_relation for scene in rest)
    assert asked > 100


def test_two_objects_compared_are_in_two_images(questions, store):
    """VERIFYSAMEATTR: the two objects are in two images, neither of which holds the other's kind."""
    for question in questions:
        if question["template"] != "VERIFYSAMEATTR":
            continue
        program = from_json(question["program"])
        values = trace(program, [store.graph(scene_id) for scene_id in question["scene_ids"]])
        first, second = (values[row.dependencies[0]] for row in program if row.operation == "Unique")
        assert not any(ids and others for ids, others in zip(first, second, strict=True))


def test_groups_are_asked_about_with_few_positives(questions, store):
    """At most three images with several; "at most" only where it is true of all images that it is not counted in."""
    kinds = set()
    for question in questions:
        if not question["template"].endswith("COUNTGROUPBY"):
            continue
        program = from_json(question["program"])
        values = trace(program, [store.graph(scene_id) for scene_id in question["scene_ids"]])
        groups = next(values[i] for i, row in enumerate(program) if row.operation == "GroupByImages")
        assert sum(len(ids) > 1 for _, ids in groups) <= 3
        (keep,) = [row for row in program if row.operation.startswith("KeepIf")]
        kinds.add((question["template"], keep.operation))
        assert 1 <= keep.arguments[0] <= 5
        if keep.operation.endswith("Leq"):
            assert len(groups) == len(question["scene_ids"])
    assert {kind for template, kind in kinds if template == "VERIFYCOUNTGROUPBY"} == {"KeepIfValuesCountEq"}
    assert len(kinds) == 4


def test_numbers_stay_small_and_say_something(questions):
    said = set()
    for question in questions:
        for row in from_json(question["program"]):
            if row.operation in ("eq", "geq", "leq") and row.arguments:
                number = row.arguments[0]
                assert 1 <= number <= (4 if row.operation == "geq" else 5)
                said.add(row.operation)
    assert said == {"eq", "geq", "leq"}


def test_count_texts_speak_of_countable_things(questions):
    counted = set()
    for question in questions:
        if "COUNT" in question["template"] and question["template"] != "COMPARECOUNT":
            counted.add(question["template"])
            assert parse(question["tree"]).name not in ("leaf", "jeans")
        if question["template"] not in ("VERIFYQUANT", "VERIFYQUANTATTR", "COUNTGROUPBY", "VERIFYCOUNTGROUPBY"):
            assert parse(question["tree"]).edges
    assert counted == {"COUNT", "VERIFYCOUNT", "COUNTGROUPBY", "VERIFYCOUNTGROUPBY"}


def test_texts_are_sentences(questions):
    for question in questions:
        text = question["text"]
        assert text[0].isupper() and "  " not in text and "{" not in text and "(" not in text
        assert text.endswith("?") == (question["template"] not in STATEMENTS)
        assert question["annotator_text"].replace("(", "").replace(")", "") == text
        chain = any(edge.target.edges for edge in parse(question["tree"]).edges)
        if chain and question["template"] in ("COUNT", "VERIFYATTR", "QUERYATTR", "VERIFYLOGIC", "VERIFYSAMEATTR"):
            assert "(" in question["annotator_text"]


def test_rows_of_all_kinds_occur(questions):
    relations = {row.operation for q in questions for row in walk(from_json(q["program"]))}
    assert {"Scene", "WithRelation", "Filter", "UniqueImages", "geq", "leq", "eq", "gt", "lt"} <= relations
    assert {"And", "Or", "WithRelationObject", "RelationBetween", "AllSame", "GroupByImages"} <= relations
    assert {f"KeepIfValuesCount{name}" for name in ("Eq", "Geq", "Leq")} <= relations


def test_what_is_dropped_is_counted(generated, world, templates, tmp_path):
    counts, rows = generated
    again, _ = run(world, templates, tmp_path)
    dropped = tables.read(tmp_path / "dropped.parquet", DROPPED).to_pylist()
    assert again == counts
    assert counts["in"] == 250 and counts["out"] == len(rows)
    reasons = defaultdict(int)
    for row in dropped:
        reasons[f"dropped: {row['reason']}"] += row["n"]
    assert dict(reasons) == {key: n for key, n in counts.items() if key.startswith("dropped: ")}
    assert reasons["dropped: precondition: noun can't be counted"] > 0


def test_how_many_seeds_are_held_at_a_time_changes_nothing(world, templates, generated, tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK", 7)
    assert run(world, templates, tmp_path) == generated


def test_seeds_come_by_their_subgraphs(world, store):
    files = world / "seeds.parquet", world / "related.parquet"
    trees = [start.tree for _, start in inputs.read_seeds(*files, store.graph, None)]
    assert trees == sorted(trees) and len(trees) == 250


def test_a_share_of_the_seeds_gives_their_questions_and_no_others(world, templates, generated, tmp_path):
    seeds = {}
    for share in (0.3, 0.6):
        counts, rows = run(world, templates, tmp_path, settings=QuestionsSettings(seed_share=share))
        seeds[share] = {row["seed"] for row in rows}
        assert abs(counts["in"] / 250 - share) < 0.15
        assert rows == [row for row in generated[1] if row["seed"] in seeds[share]]
    assert seeds[0.3] < seeds[0.6]


def test_random_distractors_change_the_images_of_the_same_questions(world, templates, generated, tmp_path):
    """Of each template there are about as many questions and answers; the start scenes stay."""
    _, rows = run(world, templates, tmp_path, settings=QuestionsSettings(distractors="random"))
    assert {row["question_id"] for row in rows} != {row["question_id"] for row in generated[1]}
    texts = [{(row["template"], row["seed"], row["text"]) for row in found} for found in (rows, generated[1])]
    assert len(texts[0] & texts[1]) > 0.8 * len(texts[1])


def test_the_order_of_images_makes_no_other_question(questions):
    asked = [(question["text"], frozenset(question["scene_ids"]), question["answer"]) for question in questions]
    assert len(set(asked)) == len(asked)


def test_another_seed_draws_other_questions(world, templates, generated, tmp_path):
    _, rows = run(world, templates, tmp_path, seed=2)
    assert {q["question_id"] for q in rows} != {q["question_id"] for q in generated[1]}


def test_a_template_is_one_new_file(world, templates, tmp_path, store):
    """ "Are there any …?", which the paper does not have, on the images that COUNT would take."""
    folder = tmp_path / "templates"
    shutil.copytree(templates, folder)
    program = [["Refer", ["ref"], []], ["Count", [], [0]], ["gt", [0], [1]]]
    exists = {
        "name": "EXISTS",
        "kind": "counting",
        "needs": {"relation": True, "attribute": True},
        "variants": {"any": {"text": "Are there any {ref:plural}?", "program": program}},
    }
    (folder / "exists.yaml").write_text(yaml.safe_dump(exists))
    _, rows = run(world, folder, tmp_path, settings=QuestionsSettings(templates=("EXISTS",)))
    assert {row["template"] for row in rows} == {"EXISTS"}
    assert {row["answer"] for row in rows} == {"true", "false"}
    assert any(row["text"].startswith("Are there any red ") for row in rows)


def test_images_that_seem_to_hold_more_are_not_used(world, templates, generated, tmp_path):
    """The "others exist" check: with every image suspect for one subgraph, its objects are not counted."""
    question = next(q for q in generated[1] if q["text"].startswith("How many ") and "images" not in q["text"])
    scenes = tables.read(world / "scenes" / "scenes.parquet")["scene_id"].to_pylist()
    rows = [
        {"scene_id": scene_id, "subgraph_key": part.key, "masked": True, "p": 0.9, "fold": 0}
        for scene_id in scenes
        for part in simple_subgraphs(parse(question["tree"]))
    ]
    tables.write(tmp_path / "presence.parquet", PRESENCE, rows)
    _, rows = run(world, templates, tmp_path, presence=tmp_path / "presence.parquet")
    texts = {row["text"] for row in rows if row["seed"] == question["seed"]}
    assert question["text"] not in texts
    assert any(" images " in text for text in texts)


def test_bad_templates_are_named(world, templates, tmp_path):
    for content, message in [
        ("name: [", "not valid YAML"),
        ("name: X\nkind: counting\nvariants: {}\ncolour: red\n", "colour"),
        ("name: X\nkind: nothing_such\nvariants: {}\n", "there is no kind of template .* 'nothing_such'"),
    ]:
        (tmp_path / "bad.yaml").write_text(content)
        with pytest.raises(InputError, match=message) as caught:
            run(world, tmp_path, tmp_path / "out")
        assert "bad.yaml" in str(caught.value)
    with pytest.raises(InputError, match="no template COUNTS"):
        run(world, templates, tmp_path, settings=QuestionsSettings(templates=("COUNTS",)))


def test_no_seeds_give_empty_tables(world, templates, tmp_path):
    tables.write(tmp_path / "seeds.parquet", SEEDS, [])
    counts, rows = run(world, templates, tmp_path, seeds=tmp_path / "seeds.parquet")
    assert rows == [] and counts == {"in": 0, "out": 0}
