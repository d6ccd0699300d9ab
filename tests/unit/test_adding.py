"""docs/adding.md shows the files of the toy test-bed as they are, which tests/workflow/test_workflow_toy.py runs, and
names all that COVR's templates and the properties of questions may say."""

import re

import pytest

from compvqa import plugins
from compvqa.clevr import properties as clevr_properties
from compvqa.covr import properties as covr_properties
from compvqa.covr.questions.templates import FORMS, Needs, Template, Variant, load

SHOWN = re.compile(r"^`([^`\n]+)`\n\n```\w+\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_every_file_of_the_toy_test_bed_as_it_is(root):
    folder = root / "tests/fixtures/toy"
    shown = {path: text + "\n" for path, text in SHOWN.findall((root / "docs/adding.md").read_text())}
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert shown == {path.relative_to(folder).as_posix(): path.read_text() for path in files if not is_init(path)}


def is_init(path):
    """Whether a file only says what its package is."""
    return path.name == "__init__.py" and path.parent.name == "toy"


@pytest.fixture
def page(root) -> str:
    return (root / "docs/adding.md").read_text()


def test_every_slot_of_a_shipped_template_is_in_the_row_of_its_kind(root, page):
    for template in load(root / "config/templates/covr"):
        (row,) = re.findall(rf"^\| `{template.kind}` \|.*$", page, re.MULTILINE)
        for variant in template.variants.values():
            assert {f"`{slot}`" for slot in variant.slots} <= set(re.findall(r"`\w+`", row)), template.name


def test_the_page_names_every_key_form_and_kind_of_a_template(page):
    said = page.split("## What COVR's templates say")[1].split("\n## ")[0]
    keys = {*Needs.model_fields, *Template.model_fields, *Variant.model_fields}
    names = keys | {*FORMS} | {*plugins.names("compvqa.covr.questions.kinds")}
    assert names <= set(re.findall(r"`(\w+)", said))


@pytest.mark.parametrize(("language", "module"), [("COVR", covr_properties), ("CLEVR", clevr_properties)])
def test_the_names_of_properties_on_the_page_are_names_and_of_every_kind(page, language, module):
    table = page.split(f"| {language} | a question has it if |")[1].split("\n\n")[0]
    names = [name for row in table.splitlines()[2:] for name in re.findall(r"`([A-Z][^`]*)`", row)]
    for name in names:
        module.named(name)
    for kind in module.PROPERTIES:
        assert any(name == kind.name or name.startswith(f"{kind.name}-") for name in names), kind.name
