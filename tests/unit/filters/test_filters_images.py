"""The presence stage: methods are modules, and `none` gives no scores."""

import sys
from types import ModuleType

import pyarrow as pa
import pytest

from compvqa import tables
from compvqa.errors import InputError
from compvqa.filters import images
from compvqa.filters.images import PRESENCE, PresenceSettings, score_presence


def test_no_method_gives_an_empty_table(tmp_path):
    counts = score_presence(tmp_path / "c", tmp_path / "s", tmp_path / "p.parquet", PresenceSettings())
    assert counts == {"out": 0}
    assert tables.read(tmp_path / "p.parquet", PRESENCE).num_rows == 0


def test_a_method_is_one_module(tmp_path, monkeypatch):
    method = ModuleType("compvqa.filters.presence.guess")
    row = {"scene_id": "s:1", "subgraph_key": 7, "masked": False, "p": 0.5, "fold": 0}
    method.score = lambda candidates, seeds, settings: pa.Table.from_pylist([row], schema=PRESENCE.fields)
    monkeypatch.setitem(sys.modules, "compvqa.filters.presence.guess", method)
    monkeypatch.setattr(images.pkgutil, "iter_modules", lambda path: [type("Module", (), {"name": "guess"})])
    score_presence(tmp_path / "c", tmp_path / "s", tmp_path / "p.parquet", PresenceSettings(method="guess"))
    assert tables.read(tmp_path / "p.parquet", PRESENCE).to_pylist() == [row]


def test_an_unknown_method_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(InputError, match="there is no 'oracle'; use one of none"):
        score_presence(tmp_path, tmp_path, tmp_path / "p.parquet", PresenceSettings(method="oracle"))
