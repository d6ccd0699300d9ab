"""A small world and all questions about it, made once for the tests of a process."""

import pytest

from compvqa.scenes.graph import SceneStore
from unit.covr.questions.question_worlds import run, write_world


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    write_world(folder, scenes=50, most_seeds=250)
    return folder


@pytest.fixture(scope="session")
def templates(root):
    return root / "config" / "templates" / "covr"


@pytest.fixture(scope="session")
def generated(world, templates, tmp_path_factory):
    return run(world, templates, tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="session")
def questions(generated):
    return generated[1]


@pytest.fixture(scope="session")
def store(world):
    return SceneStore(world / "scenes")
