"""CLEVR's executor: against the original code's answers, and against an interpreter that shares nothing with it."""

import json

import pytest
from hypothesis import given

from compvqa.clevr import executor
from compvqa.clevr.language import GROUPS, LANGUAGE, from_functions, to_functions
from compvqa.errors import InputError
from compvqa.programs.language import ProgramTypeError
from compvqa.programs.rows import Row, from_json, to_json
from fixtures.clevr_scenes import drawn_programs, drawn_scenes, naive, scene_of


def as_text(answer):
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)


def test_all_answers_of_the_original_code_are_found_again(oracle):
    scenes, questions = oracle
    for question in questions:
        program = from_functions(question["program"])
        assert executor.answer(program, scenes[question["image_filename"]]) == as_text(question["answer"])
    assert len(questions) == 3000


def test_all_answers_of_the_second_file_are_found_again(clevr):
    records = json.loads((clevr / "dataset_gen/CLEVR_scenes.json").read_text())["scenes"]
    scenes = {record["image_filename"]: scene_of(record) for record in records}
    questions = json.loads((clevr / "dataset_gen/CLEVR_questions.json").read_text())["questions"]
    for question in questions:
        program = from_functions(question["program"])
        assert executor.answer(program, scenes[question["image_filename"]]) == as_text(question["answer"])
    assert len(questions) == 1000


def test_a_program_is_the_same_after_json_and_after_the_released_form(oracle):
    for question in oracle[1][:200]:
        program = from_functions(question["program"])
        assert from_json(to_json(program)) == program == from_functions(to_functions(program))


@given(drawn_scenes(), drawn_programs())
def test_every_function_does_what_plain_loops_do(drawn, program):
    scene, objects, related = drawn
    LANGUAGE.check(program)
    expected = naive(program, objects, related)
    found = executor.values(program, scene)
    for row, value, wanted in zip(program, found, expected, strict=False):
        if wanted == "ill-posed":
            assert value is executor.ILL_POSED
        elif isinstance(wanted, list):
            assert [i for i in range(len(objects)) if value >> i & 1] == wanted, row
        else:
            assert (value, type(value)) == (wanted, type(wanted)), row
    assert len(found) == len(expected) or found[-1] is executor.ILL_POSED


def simple(*rows):
    return [Row("scene"), *(Row(name, tuple(words), inputs) for name, words, inputs in rows)]


PAIR = scene_of(
    {
        "image_filename": "a.png",
        "split": "val",
        "objects": [dict(zip(GROUPS, ("small", "red", "metal", shape), strict=True)) for shape in ("cube", "sphere")],
        "relationships": {"left": [[1], []]},
    }
)


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        (
            [("filter_shape", ["cube"], (0,)), ("unique", [], (1,)), ("relate", ["left"], (2,)), ("count", [], (3,))],
            "1",
        ),
        ([("filter_color", ["red"], (0,)), ("unique", [], (1,)), ("query_shape", [], (2,))], None),  # two
        ([("filter_color", ["blue"], (0,)), ("unique", [], (1,)), ("query_shape", [], (2,))], None),  # none
        ([("filter_color", ["blue"], (0,)), ("exist", [], (1,))], "no"),  # which is not ill-posed
        ([("filter_shape", ["cube"], (0,)), ("unique", [], (1,)), ("same_shape", [], (2,)), ("exist", [], (3,))], "no"),
        ([("filter_shape", ["cube"], (0,)), ("unique", [], (1,)), ("same_color", [], (2,)), ("count", [], (3,))], "1"),
    ],
)
def test_ill_posed_is_told_from_no_and_an_object_is_not_the_same_as_itself(rows, answer):
    assert executor.answer(simple(*rows), PAIR) == answer


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("filter_colour", ["red"], (0,))], "row 2: there is no operator 'filter_colour'"),
        ([("count", [], (1,))], "row 2: count depends on row 1, which is not above it"),
        ([("unique", [], (0,)), ("count", [], (1,))], "row 3: count's dependency 1 is object, not objects"),
        ([("filter_color", [], (0,))], "row 2: filter_color takes 1 arguments, not 0"),
        ([("filter_color", ["red"], (0,))], "row 2: filter_color gives objects, which are no answer"),
    ],
)
def test_a_program_that_is_none_is_refused_and_never_answered(rows, words):
    with pytest.raises(ProgramTypeError, match=words):
        executor.answer(simple(*rows), PAIR)


def test_a_relation_that_the_scene_does_not_know_is_refused():
    rows = ("filter_shape", ["cube"], (0,)), ("unique", [], (1,)), ("relate", ["under"], (2,)), ("exist", [], (3,))
    with pytest.raises(InputError, match="knows no relation 'under', only left: correct the program"):
        executor.answer(simple(*rows), PAIR)


@pytest.mark.parametrize("entry", ["scene", {"type": "scene"}, {"inputs": []}])
def test_an_entry_that_is_no_function_is_refused(entry):
    with pytest.raises(ValueError, match="entry 2 is no function with inputs"):
        from_functions([{"type": "scene", "inputs": []}, entry])
