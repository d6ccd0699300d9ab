"""Two folders of results say the same where rows, numbers and pixels are equal, whatever code made them."""

import base64
import json
import math

import numpy as np
import pyarrow as pa
import pytest
import torch
import typer
from PIL import Image, PngImagePlugin
from safetensors.torch import save_file
from typer.testing import CliRunner

from compvqa import tables
from compvqa.cli import auditing
from compvqa.errors import InputError
from compvqa.provenance.contents import DIFFERS, EQUAL, ONLY_A, ONLY_B, RENAMED, compare, same

NUMBERS = tables.Schema("numbers", pa.schema([("key", pa.string()), ("p", pa.float64())]), key=("key",))
ROWS, PIXELS = {"a": 0.5, "b": math.nan}, ((0, 0, 0), (255, 0, 0))
WEIGHTS = [1.0, math.nan]


def picture(path, recipe, pixels):
    info = PngImagePlugin.PngInfo()
    info.add_text("Recipe", recipe)
    Image.fromarray(np.array([pixels], np.uint8)).save(path, pnginfo=info)


def written(folder, recipe, rows=ROWS, weights=WEIGHTS, pixels=PIXELS, shown=PIXELS, value=1, said="0.5"):
    """A folder of one file of each kind, made with a recipe."""
    folder.mkdir()
    with tables.recipe(recipe):
        tables.write(folder / "t.parquet", NUMBERS, [{"key": key, "p": p} for key, p in rows.items()])
    save_file({"w": torch.tensor(weights)}, folder / "m.safetensors", {"compvqa.recipe": recipe})
    picture(folder / "f.png", recipe, pixels)
    picture(folder.parent / "shown.png", recipe, shown)
    embedded = base64.b64encode((folder.parent / "shown.png").read_bytes()).decode()
    page = f'<meta name="recipe" content="{recipe}">\n<img src="data:image/png;base64,{embedded}">\n{said}\n'
    (folder / "page.html").write_text(page)
    (folder / "model.json").write_text(json.dumps({"recipe": recipe, "value": value}))
    (folder / "t.parquet.prov.json").write_text(json.dumps({"recipe": recipe}))
    (folder / "manifest.json").write_text(recipe)
    return folder


@pytest.fixture
def a(tmp_path):
    return written(tmp_path / "a", "a" * 24)


def test_all_is_equal_but_recipes_which_all_files_have(a, tmp_path):
    b = written(tmp_path / "b", "b" * 24)
    found = compare(a, b)
    assert [(one.path, one.verdict) for one in found] == [
        ("page.html", EQUAL), ("model.json", EQUAL), ("f.png", EQUAL), ("t.parquet", EQUAL), ("m.safetensors", EQUAL)
    ]  # fmt: skip
    assert same(found) and found[3].kind == "table numbers"
    assert all((a / one.path).read_bytes() != (b / one.path).read_bytes() for one in found)


@pytest.mark.parametrize(
    ("change", "path", "told"),
    [
        ({"rows": ROWS | {"a": 0.25}}, "t.parquet", "of 2 rows 1 only in A, of 2 rows 1 only in B, in p"),
        ({"rows": ROWS | {"c": 1.0}}, "t.parquet", "of 2 rows 0 only in A, of 3 rows 1 only in B"),
        ({"weights": [1.5, math.nan]}, "m.safetensors", "1 of 1 tensors, by 0.5 at most"),
        ({"weights": [1.0]}, "m.safetensors", "1 tensors of another shape or type, such as w"),
        ({"pixels": ((0, 0, 0), (254, 0, 0))}, "f.png", "1 of 2 pixels"),
        ({"shown": ((0, 0, 0), (254, 0, 0))}, "page.html", "1 of 3 lines"),
        ({"said": "0.6"}, "page.html", "1 of 3 lines"),
        ({"value": 2}, "model.json", "under value"),
    ],
)
def test_what_differs_is_told(a, tmp_path, change, path, told):
    found = compare(a, written(tmp_path / "b", "b" * 24, **change))
    assert [(one.path, one.told) for one in found if one.verdict == DIFFERS] == [(path, told)]
    assert not same(found)


@pytest.mark.parametrize(
    ("name", "one", "other", "told"),
    [
        ("x.json", b'{"object": null, "p": 1}', b'{"p": 1}', "under object"),
        ("x.json", b'{"a": {"x": 1, "y": 2}}', b'{"a": {"y": 2, "x": 1}}', ""),
        ("x.npy", b"\x93NUMPY\n\x0a\x01", b"\x93NUMPY\n\x0d\x01", "2 of 3 lines"),
        ("x.txt", b"last\n", b"last", "1 of 1 lines"),
    ],
)
def test_a_null_an_end_of_a_line_and_a_byte_count_and_an_order_of_keys_does_not(tmp_path, name, one, other, told):
    for folder, data in (("a", one), ("b", other)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(data)
    (found,) = compare(tmp_path / "a", tmp_path / "b")
    assert found.told == told and same([found]) is not bool(told)


def test_what_a_table_says_of_itself_counts(a, tmp_path):
    b = written(tmp_path / "b", "b" * 24)
    said = tables.Schema("numbers", NUMBERS.fields, key=("key",), metadata={"held": "61"})
    with tables.recipe("b" * 24):
        tables.write(b / "t.parquet", said, [{"key": key, "p": p} for key, p in ROWS.items()])
    (differs,) = (one for one in compare(a, b) if one.verdict == DIFFERS)
    assert differs.told == "what they say of themselves: held"


def test_a_column_of_another_name_is_told(a, tmp_path):
    b = written(tmp_path / "b", "b" * 24)
    other = pa.table({"key": ["a", "b"], "m": [0.5, 0.5]})
    tables.write(b / "t.parquet", tables.Schema("numbers", other.schema, key=("key",)), other)
    (differs,) = (one for one in compare(a, b) if one.verdict == DIFFERS)
    assert differs.told == "columns only in A: p (double); only in B: m (double)"


def test_a_file_may_have_another_name_but_not_be_gone(a, tmp_path):
    b = written(tmp_path / "b", "b" * 24)
    (b / "t.parquet").rename(b / "u.parquet")
    found = compare(a, b)
    (renamed,) = (one for one in found if one.verdict != EQUAL)
    assert (renamed.path, renamed.verdict, renamed.told) == ("t.parquet", RENAMED, "u.parquet in B") and same(found)
    written(tmp_path / "c", "c" * 24, rows={"a": 1.0})
    (tmp_path / "c/t.parquet").rename(b / "u.parquet")
    found = compare(a, b)
    assert {one.path: one.verdict for one in found if one.verdict != EQUAL} == {
        "t.parquet": ONLY_A,
        "u.parquet": ONLY_B,
    }
    assert not same(found)


def test_the_command_exits_with_what_it_found(a, tmp_path):
    app = typer.Typer()
    auditing.add_to(app)
    b, c = written(tmp_path / "b", "b" * 24), written(tmp_path / "c", "c" * 24, value=2)
    run = CliRunner().invoke(app, ["audit", "--diff", "--contents", str(a), str(b)])
    assert run.exit_code == 0 and "table numbers" in run.output
    run = CliRunner().invoke(app, ["audit", "--diff", "--contents", str(a), str(c)])
    assert run.exit_code == 1 and "model.json: differs: under value" in run.output
    CliRunner().invoke(app, ["audit", "--diff", "--contents", str(a), str(c), "--out", str(tmp_path / "o.json")])
    told = json.loads((tmp_path / "o.json").read_text())
    assert told["equal"] is False and sum(one["verdict"] == DIFFERS for one in told["files"]) == 1


def test_a_damaged_table_is_one_sentence(a, tmp_path):
    b = written(tmp_path / "b", "b" * 24)
    (b / "t.parquet").write_bytes((b / "t.parquet").read_bytes()[:-20])
    with pytest.raises(InputError, match="b/t.parquet"):
        compare(a, b)


def test_what_is_no_folder_is_refused(a, tmp_path):
    with pytest.raises(InputError, match="nowhere is no folder: give two folders of results"):
        compare(a, tmp_path / "nowhere")
