"""What an audit tells of raw files."""

from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from compvqa import tables
from compvqa.files import write_json
from compvqa.provenance.audit import Target, splits_in, way
from compvqa.provenance.manifest import MANIFEST
from compvqa.provenance.stories import membership
from compvqa.provenance.telling import way as told_way
from compvqa.run import run_stage
from compvqa.splits.splitters import SPLITS
from fixtures.split_rows import split_rows

URL = "https://h/names.txt"


@pytest.mark.parametrize(
    ("sha256", "trust"), [("lock", "trusted on first use"), ("a" * 64, "pinned"), ("git:" + "a" * 40, "pinned")]
)
def test_downloads_are_pinned_or_trusted_on_first_use(tmp_path, monkeypatch, sha256, trust):
    monkeypatch.chdir(tmp_path)
    raw, made = Path("resources/names.txt"), Path("results/bed/names.json")
    settings = {"url": URL, "version": "1", "sha256": sha256, "licence": "MIT"}

    def write(path: Path) -> dict[str, int]:
        path.parent.mkdir(parents=True)
        path.write_text("cat")
        return {}

    for stage, inputs, path, noted in (("download", [], raw, settings), ("lexicon", [raw], made, None)):
        run_stage(
            stage, ["compvqa.tables"], partial(write, path), inputs=inputs, outputs=[path], settings=noted, seed=0
        )
    told = way(Target.of(made))
    assert [(row["url"], row["trust"]) for row in told["raw"]] == [(URL, trust)]
    console = Console(width=300)
    with console.capture() as shown:
        console.print(told_way(told))
    assert f"from {URL} (MIT, {trust})" in shown.get()


def test_of_no_question_no_parts_are_told(tmp_path):
    tables.write(tmp_path / "s.parquet", SPLITS, split_rows("few", "few-shot", {"train": ["q"]}))
    assert membership([tmp_path / "s.parquet"], []) == {}
    assert membership([tmp_path / "s.parquet"], ["q", "r"]) == {"q": {"few": "train"}}


def test_splits_that_an_earlier_config_left_are_not_told_of_a_question(tmp_path):
    (tmp_path / "splits").mkdir()
    for name in ("iid", "has-count", "has-count.m125", "left"):
        (tmp_path / f"splits/{name}.parquet").touch()
    assert len(splits_in(tmp_path)) == 4  # nothing says which
    told = {"results": "", "files": {}, "records": {}, "given": {}, "git": {}, "code": {}}
    write_json(tmp_path / MANIFEST, told | {"config": {"splits": {"names": ["iid", "has-count"]}}})
    assert [path.stem for path in splits_in(tmp_path)] == ["has-count.m125", "has-count", "iid"]
