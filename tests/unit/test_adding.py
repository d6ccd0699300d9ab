"""docs/adding.md shows the files of the toy test-bed as they are, which tests/workflow/test_workflow_toy.py runs."""

import re

SHOWN = re.compile(r"^`([^`\n]+)`\n\n```\w+\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_every_file_of_the_toy_test_bed_as_it_is(root):
    folder = root / "tests/fixtures/toy"
    shown = {path: text + "\n" for path, text in SHOWN.findall((root / "docs/adding.md").read_text())}
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert shown == {path.relative_to(folder).as_posix(): path.read_text() for path in files if not is_init(path)}


def is_init(path):
    """Whether a file only says what its package is."""
    return path.name == "__init__.py" and path.parent.name == "toy"
