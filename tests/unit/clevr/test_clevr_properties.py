"""Properties of CLEVR's questions, by example, and splits that hold them out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compvqa import tables
from compvqa.clevr import properties
from compvqa.clevr.language import GROUPS, LANGUAGE
from compvqa.clevr.properties import LISTED, PROPERTIES, Question, held, named
from compvqa.errors import InputError
from compvqa.programs.rows import Row, to_json
from compvqa.splits.expressions import predicate
from compvqa.splits.splitters import SPLITS, SplitSettings, split
from fixtures.clevr_scenes import chain, drawn_programs, drawn_scenes, scene_of
from fixtures.clevr_testbed import FIGURE_10, PROGRAMS, SPHERES, clevr_testbed

SCENES = [
    scene_of(
        {
            "image_filename": "a.png",
            "split": "train",
            "objects": [dict(zip(GROUPS, attributes, strict=True)) for attributes, *_ in things],
            "relationships": {
                "behind": [list(range(n + 1, len(things))) for n in range(len(things))],
            },
        }
    )
    for things in (FIGURE_10, SPHERES)
]
ANSWERS = {"one_hop_0": "brown", "zero_hop_0": "red", "zero_hop_1": "rubber", "same_relate_0": "yes"}


def question(name: str) -> Question:
    number, program = PROGRAMS[name]
    return Question(name, ANSWERS.get(name, "2"), to_json(program), None, ["s"], lambda _: SCENES[number])


HOLDS = {
    "HAS-relate": {"one_hop_0", "one_hop_1", "single_and_0"},
    "HAS-same": {"same_relate_0"},
    "HAS-same_material": {"same_relate_0"},
    "HAS-same_color": set(),
    "HAS-filter_color": {"one_hop_1", "single_or_0"},
    "HAS-query": {"one_hop_0", "zero_hop_0", "zero_hop_1"},
    "TYPE-query": {"one_hop_0", "zero_hop_0", "zero_hop_1"},
    "TYPE-query_material": {"zero_hop_1"},
    "TYPE-count": {"one_hop_1", "single_and_0", "single_or_0"},
    "TYPE-compare_integer": set(),
    "CHAIN": PROGRAMS.keys() - {"single_and_0", "single_or_0"},
    "SIZE-4": {"zero_hop_0", "zero_hop_1"},
    "LONGER-6": {"one_hop_0", "one_hop_1", "single_and_0", "single_or_0"},
    "RELATES-2": {"single_and_0"},
    "TPL-one_hop": {"one_hop_0", "one_hop_1"},
    "TPL-one_hop_1": {"one_hop_1"},
    "ANS-NUM": {"one_hop_1", "single_and_0", "single_or_0"},
    "ANS-BOOL": {"same_relate_0"},
    "ANS-red": {"zero_hop_0"},
    "LEXICAL-brown": {"one_hop_0", "one_hop_1"},  # asked for, and named
    "LEXICAL-behind": {"one_hop_0", "one_hop_1", "single_and_0"},
    "MENTIONS-brown+cube": {"one_hop_1"},
    "MENTIONS-cube": {"one_hop_0", "one_hop_1"},
    "MENTIONS-cylinder+cube": set(),  # on two sides of a relation
    "MENTIONS-red+sphere": set(),
    "MENTIONS/JOINED-red+sphere": {"single_or_0"},
    "MENTIONS/JOINED-small+red": set(),  # in two branches
    "SCENE-gray+cylinder": {"one_hop_0", "one_hop_1", "zero_hop_1", "same_relate_0", "single_and_0"},
    "SCENE-brown+cylinder": set(),
    "EFFECTIVE-4": {"one_hop_0"},
    "EFFECTIVE-2": {"zero_hop_0", "zero_hop_1", "same_relate_0", "single_or_0"},  # all are red, all of rubber …
    "DEGENERATE": {"single_and_0"},
    '"MENTIONS-brown+cube" or SCENE-red+sphere': {"one_hop_1", "zero_hop_0", "single_or_0"},
}


@pytest.mark.parametrize("expression", HOLDS)
def test_which_questions_have_a_property(expression):
    holds = predicate(expression, named)
    assert {name for name in PROGRAMS if holds(question(name))} == set(HOLDS[expression])


def test_every_kind_has_an_example():
    kinds = sorted((kind.name for kind in PROPERTIES), key=len, reverse=True)
    shown = {next(kind for kind in kinds if name.replace('"', "").startswith(kind)) for name in HOLDS}
    assert {*kinds} - shown == {"ABSOLUTE"}  # which the next test shows


def test_a_question_is_absolute_only_where_places_in_the_picture_answer_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bed = clevr_testbed(tmp_path)
    rows = split_by(bed, "ABSOLUTE", tmp_path / "s.parquet")
    found = {row["question_id"] for row in rows if row["part"] in ("dev_comp", "test_comp")}
    assert found == PROGRAMS.keys() - {"single_and_0"}  # two things are in the upper half, one behind both others


def split_by(bed, expression, out):
    definition = {"name": "apart", "setup": "zero-shot", "property": expression}
    scenes = bed / "scenes/scenes.parquet"
    split(bed / "dataset/questions.parquet", definition, None, out, SplitSettings(), 1, scenes)
    return tables.read(out, SPLITS).to_pylist()


@pytest.mark.parametrize(
    ("expression", "apart"),
    [
        ("SCENE-brown+cube and MENTIONS-brown+cube", {"one_hop_1"}),
        ("SCENE-red+metal", {"single_or_0"}),
        ("not CHAIN", {"single_and_0", "single_or_0"}),
    ],
)
def test_a_split_holds_out_what_programs_and_scenes_have(tmp_path, monkeypatch, expression, apart):
    monkeypatch.chdir(tmp_path)
    rows = split_by(clevr_testbed(tmp_path), expression, tmp_path / "s.parquet")
    assert {row["question_id"] for row in rows if row["part"] == "test_comp"} == apart


def test_a_stage_that_reads_no_scenes_says_so():
    asked = Question("t", "2", to_json(chain(("count",))))
    with pytest.raises(InputError, match="a property looks at the scenes of questions, and this stage reads none"):
        named("SCENE-red")(asked)
    assert "TYPE-count" in held(asked)


@pytest.mark.parametrize("name", ["HAS", "HAS-scene", "HAS-colour", "TYPE-relate", "SIZE-x", "MENTIONS", "CHAIN-3"])
def test_a_property_that_there_is_not_is_refused(name):
    with pytest.raises(InputError, match=f"there is no property '{name}': use one of HAS-"):
        named(name)


@given(drawn_scenes(least=1), drawn_programs())
def test_what_a_question_holds_is_what_its_names_say(drawn, program):
    asked = Question("t", "red", to_json(program), None, ["s"], lambda _: drawn[0])
    names = held(asked)
    assert names == sorted({*names})
    assert {name for name in LISTED if named(name)(asked)} == {name for name in names if name in LISTED}
    assert all(named(name)(asked) for name in names)


def chains_to(program, number, joined):
    """The filters' attributes of each way up from a row, by plain recursion."""
    row = program[number]
    if row.operation.startswith("filter_"):
        return [[*above, *row.arguments] for above in chains_to(program, row.dependencies[0], joined)] or [
            list(row.arguments)
        ]
    if joined and row.operation == "union":
        return [way for above in row.dependencies for way in chains_to(program, above, joined)]
    return []


@given(drawn_programs(), st.sampled_from(["red", "cube", "small"]), st.sampled_from(["metal", "sphere", "large"]))
def test_descriptions_are_chains_of_filters(program, one, other):
    asked = Question("t", "2", to_json(program))
    for name, joined in (("MENTIONS", False), ("MENTIONS/JOINED", True)):
        ways = [way for number in range(len(program)) for way in chains_to(program, number, joined)]
        expected = any(one in way and other in way for way in ways)
        assert named(f"{name}-{one}+{other}")(asked) == expected


def test_names_of_a_comparison_are_those_of_its_program():
    rows = [*chain(("unique",), ("query_color",)), Row("equal_color", (), (2, 2))]
    assert Question("t", "yes", to_json(rows)).names() == set() and LANGUAGE.check(rows)
    assert properties.PUBLISHED == {}
