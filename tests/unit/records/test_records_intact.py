"""A changed input is told, whatever its format; what no record tells of is taken as it is."""

import json
from pathlib import Path

import pytest

from compvqa.errors import InputError
from compvqa.records.intact import check_intact
from compvqa.run import run_stage


def made(stage: str, *outputs: str, note: str | None = None) -> list[Path]:
    """Files that a stage has written, with its record beside the first or at ``note``."""
    paths = [Path(output) for output in outputs]

    def work() -> dict[str, int]:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\x00" * 100)
        return {}

    run_stage(stage, ["compvqa.tables"], work, outputs=paths, note=Path(note) if note else None)
    return paths


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("outputs", "note"),
    [
        (["a/features.safetensors"], None),
        (["a/subgraphs/1.bin", "a/occurrences/1.bin"], None),
        (["a/seeds/1-of-1.bin", "a/candidates/1-of-1.bin"], "a/candidates/candidates.prov.json"),
        (["a/lexicon.json", "a/truth/complete/scenes.bin"], "a/world.prov.json"),
    ],
)
def test_one_flipped_bit_in_any_output_is_told(outputs, note):
    paths = made("stage", *outputs, note=note)
    check_intact(paths)
    for path in paths:
        path.write_bytes(b"\x00" * 99 + b"\x01")
        with pytest.raises(InputError, match=f"^{path} is not as it was written .* and run again"):
            run_stage("next", ["compvqa.tables"], dict, inputs=paths, outputs=[])
        path.write_bytes(b"\x00" * 100)
    check_intact(paths)


@pytest.mark.parametrize("harm", [lambda path: path.write_bytes(b""), lambda path: path.unlink()])
def test_a_folder_made_as_a_whole_is_to_be_made_again_as_a_whole(harm):
    paths = made("stage", "w/world.json", "w/images/1.png", "w/images/2.png", note="w/world.prov.json")
    check_intact([Path("w/images")])
    harm(paths[2])
    with pytest.raises(InputError, match="^w/images/2.png .* delete w/images and run again"):
        check_intact([Path("w/images")])


def test_absolute_paths_are_known_by_the_record_beside_them(tmp_path):
    (path,) = made("stage", str(tmp_path / "a.npy"))
    check_intact([path])
    path.write_bytes(b"")
    with pytest.raises(InputError, match="a.npy is not as it was written"):
        check_intact([path])


def test_what_people_write_into_and_what_has_no_record_is_taken_as_it_is():
    pairs = made("word_pairs", "pairs.csv")
    Path("raw.json").write_text("{}")
    pairs[0].write_text("labelled")
    check_intact([*pairs, Path("raw.json")])


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"outputs": [{"path": "a.npy"}], "stage": "x"})])
def test_a_broken_record_is_named(text):
    paths = made("stage", "a.npy")
    Path("a.npy.prov.json").write_text(text)
    with pytest.raises(InputError, match="a.npy.prov.json is no readable record"):
        check_intact(paths)
