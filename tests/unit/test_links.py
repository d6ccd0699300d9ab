"""A path in which Snakemake would see a pattern of its own has another name."""

from pathlib import Path

import pytest

from compvqa.config import load_config
from compvqa.links import without_patterns

CONFIG = {
    "testbed": "t",
    "sources": [{"name": "s", "reader": "gqa", "files": {"train": "train.json"}}],
    "lexicon": {"file": "lexicon.json"},
    "dataset": {"kind": "covr"},
}


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("name", ["{a}.csv", "of {a, b}/c.csv", "<a>.csv"])
def test_a_path_with_a_pattern_is_read_by_a_link_that_stays(tmp_path, monkeypatch, name, absolute):
    monkeypatch.chdir(tmp_path)
    given = tmp_path / name if absolute else Path(name)
    config = load_config(CONFIG | {"paraphrases": str(given), "images": {"x": "plain"}})
    linked = without_patterns(config, Path("given"))
    assert linked.paraphrases.suffix == ".csv" and not set("{}<>") & set(str(linked.paraphrases))
    given.parent.mkdir(exist_ok=True)
    given.write_text("a")
    assert linked.paraphrases.read_text() == "a" and linked.paraphrases.lstat().st_mtime == 0
    assert without_patterns(config, Path("given")) == linked
    assert linked.model_dump() == config.model_dump() | {"paraphrases": linked.paraphrases}


def test_other_paths_are_let_be(tmp_path):
    config = load_config(CONFIG | {"images": {"x": "a $(b)\n<C>"}})
    assert without_patterns(config, tmp_path / "given") == config
    assert not (tmp_path / "given").exists()
