"""CLEVR's real data, where they are on this machine; what ships; and a few made scenes as tables."""

import json

import pytest

from compvqa.clevr.templates import read_templates
from compvqa.clevr.words import read_words
from compvqa.scenes.ingest import SourceSettings, ingest
from fixtures.clevr_scenes import record, scene_of


@pytest.fixture(scope="session")
def clevr(shared):
    """The folder of CLEVR's real data; tests that need it are skipped without it."""
    return shared / "data/clevr"


@pytest.fixture(scope="session")
def oracle(clevr):
    """300 scenes, by the name of their picture, and the 3,000 questions that the original code made of them."""
    scenes = json.loads((clevr / "oracle/scenes_300.json").read_text())["scenes"]
    questions = json.loads((clevr / "oracle/questions_300.json").read_text())["questions"]
    return {record["image_filename"]: scene_of(record) for record in scenes}, questions


@pytest.fixture(scope="session")
def templates(root):
    """The templates that ship."""
    return read_templates(root / "config/templates/clevr")


@pytest.fixture(scope="session")
def words(root):
    """The words that ship."""
    return read_words(root / "config/words/clevr.json")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Ten scenes of train and three of val, as tables."""
    path = tmp_path_factory.mktemp("clevr")
    files = {"train": path / "train.json", "val": path / "val.json"}
    files["train"].write_text(json.dumps({"info": {}, "scenes": [record(number) for number in range(10)]}))
    files["val"].write_text(json.dumps({"info": {}, "scenes": [record(number) for number in range(10, 13)]}))
    ingest(SourceSettings(name="clevr", reader="clevr", files=files), None, path / "scenes")
    return path / "scenes"


@pytest.fixture(scope="session")
def clevr_centres(clevr):
    """Where the oracle's objects are in their pictures of 320 x 240, by the picture's name."""
    scenes = json.loads((clevr / "oracle/scenes_300.json").read_text())["scenes"]
    return {record["image_filename"]: [item["pixel_coords"][:2] for item in record["objects"]] for record in scenes}
