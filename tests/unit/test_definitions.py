"""Files that a config names: found by name, and digested by their content."""

import pytest

from compvqa.definitions import Definitions
from compvqa.errors import InputError


def test_a_definition_s_digest_follows_its_content_not_its_comments(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("x: 1\n")
    before = Definitions(tmp_path).digest("a")
    path.write_text("# said anew\nx:   1\n")
    assert Definitions(tmp_path).digest("a") == before == Definitions(tmp_path).digest()
    path.write_text("x: 2\n")
    assert Definitions(tmp_path).digest("a") != before
    with pytest.raises(InputError, match=r"has no b.yaml: correct the name \(there are a\)"):
        Definitions(tmp_path).load("b")


def test_a_nested_file_is_named_with_its_folder_and_a_bare_name_is_told_where_it_is(tmp_path):
    for name in ("covr/table6", "other/table6", "covr/words"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(f"x: {name}\n")
    pages = Definitions(tmp_path, nested=True)
    assert pages.names() == ["covr/table6", "covr/words", "other/table6"]
    assert pages.load("other/table6") == {"x": "other/table6"}
    for bare, places in (("words", "covr/words"), ("old-table6", "covr/table6 or other/table6")):
        with pytest.raises(InputError, match=rf"has no {bare}.yaml: its files lie in folders, so write {places}\.$"):
            pages.load(bare)
    with pytest.raises(InputError, match="names no file of"):
        Definitions(tmp_path).load("covr/table6")


@pytest.mark.parametrize("name", ["../splits/iid", "a b", "$(touch a)", "A", ""])
def test_what_names_no_file_is_refused_whatever_is_there(tmp_path, name):
    with pytest.raises(InputError, match=r"names no file of config/.*: names have a-z, 0-9, _ and - alone\.$"):
        Definitions(tmp_path).load(name)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("title: 2024-01-01", r"a date \(2024-01-01\) where a text is meant \(title\)"),
        ("settings: {since: [2023, 2024-01-01]}", r"a date \(2024-01-01\) where a text is meant \(settings.since.2\)"),
        ("settings: {2024-01-01: 1}", r"a date \(2024-01-01\) where a text is meant \(a key of settings\)"),
        ("title: !!binary aGk=", r"a bytes .* \(title\)"),
    ],
)
def test_a_date_without_quotes_is_named_with_its_file_and_key(tmp_path, text, told):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(InputError, match=rf"a\.yaml has {told}: put it in quotes\.$"):
        Definitions(tmp_path).digest("a")
    (tmp_path / "a.yaml").write_text("title: '2024-01-01'")
    assert Definitions(tmp_path).load("a") == {"title": "2024-01-01"}
