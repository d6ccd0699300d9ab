"""CLEVR's real data, where they are on this machine."""

import json

import pytest

from fixtures.clevr_scenes import scene_of


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
