"""The presence stage: methods are modules, and `none` gives no scores."""

import sys
from types import ModuleType

import pyarrow as pa
import pytest

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE, PresenceSettings, score_candidates, score_pairs
from compvqa.covr.subgraphs.subgraph import make
from compvqa.errors import InputError


def test_no_method_gives_an_empty_table_and_reads_nothing(tmp_path):
    counts = score_candidates(tmp_path / "s", tmp_path / "c", tmp_path / "p.parquet", None, PresenceSettings())
    assert counts == {"in": 0, "out": 0}
    assert tables.read(tmp_path / "p.parquet", PRESENCE).num_rows == 0


def test_a_method_is_one_module(tmp_path, monkeypatch):
    def score(ask, masked, given, settings, out, counts):
        counts["in"] = ask(tmp_path / "asked.parquet", tmp_path / "trees.parquet")
        pairs = tables.read(tmp_path / "asked.parquet").to_pylist()
        rows = [pair | {"masked": masked, "p": 0.5, "fold": 0} for pair in pairs]
        yield pa.RecordBatch.from_pylist(rows, schema=PRESENCE.fields)

    method = ModuleType("compvqa.covr.filters.images.methods.guess")
    method.score = score
    monkeypatch.setitem(sys.modules, "compvqa.covr.filters.images.methods.guess", method)
    asked = [("s:1", make("dog")), ("s:1", make("dog"))]
    counts = score_pairs(asked, True, tmp_path / "p.parquet", None, PresenceSettings(method="guess"))
    assert counts == {"in": 1, "out": 1}
    row = {"scene_id": "s:1", "subgraph_key": make("dog").key, "masked": True, "p": 0.5, "fold": 0}
    assert tables.read(tmp_path / "p.parquet", PRESENCE).to_pylist() == [row | {"by_text": None}]


def test_an_unknown_method_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(InputError, match="there is no presence.method 'oracle': use one of learned, none"):
        score_candidates(tmp_path, tmp_path, tmp_path / "p.parquet", None, PresenceSettings(method="oracle"))
