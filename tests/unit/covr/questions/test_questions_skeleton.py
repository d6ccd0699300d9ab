"""A mistake in a template of one's own is told with its file, variant and row before anything is asked by it."""

import pytest

from compvqa.covr.questions.templates import load, word
from compvqa.covr.subgraphs.subgraph import make
from compvqa.errors import InputError

EXISTS = """
name: EXISTS
kind: counting
variants:
  objects:
    text: "Is there {ref:a} in any of the images?"
    program:
      - [Refer, [ref], []]
      - [Exists, [], [0]]
"""
CAT = make("cat", None, ())


def templates(folder, text=EXISTS, name="exists"):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(text)
    return load(folder)


def test_a_right_one_asks(tmp_path):
    (template,) = templates(tmp_path)
    assert word(template.variants["objects"], {"ref": CAT}, {}).text == "Is there a cat in any of the images?"


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("{ref:a}", "{ref:an}", "text: '{ref:an}' has an unknown form: use one of .*plural"),
        ("{ref:a}", "{ref:a", "text: .*'{'"),
        ("{ref:a}", "{}", "text: '{}' names no slot"),
        ("[0]]", "[7]]", "program: row 1: Exists depends on row 7, which is not above it"),
        ("[Exists", "[Exist", "program: row 1: there is no operator 'Exist'"),
        ("[Exists", "[QueryName", "program: row 1: QueryName's dependency 1 is objects, not object"),
        ("[Exists, []", "[$compare, [$n, $m, $k]", "program: row 1: no operator in the place of "),
        ("[ref], []", "[ref], [0]", "program: row 0: Refer takes one argument and 0 dependencies"),
    ],
)
def test_a_wrong_text_or_program_is_named_with_its_variant(tmp_path, right, wrong, told):
    with pytest.raises(InputError, match=rf"exists\.yaml: variants\.objects\.{told}"):
        templates(tmp_path, EXISTS.replace(right, wrong, 1))


@pytest.mark.parametrize(("right", "wrong"), [("{ref:a}", "{reff:a}"), ("[Refer, [ref]", "[Refer, [reff]")])
def test_a_slot_that_the_kind_does_not_fill_is_named_with_those_that_it_does(tmp_path, right, wrong):
    (template,) = templates(tmp_path, EXISTS.replace(right, wrong))
    with pytest.raises(InputError, match="has a slot 'reff' that its kind does not fill: use number, ref, or another"):
        word(template.variants["objects"], {"ref": CAT}, {"number": 1})


def test_two_templates_of_one_name_are_refused_with_their_files(tmp_path):
    templates(tmp_path)
    with pytest.raises(InputError, match=r"two\.yaml and .*exists\.yaml both have the name EXISTS"):
        templates(tmp_path, name="two")
