import pytest

from fixtures.paper_inputs import World, build


@pytest.fixture(scope="session")
def world(tmp_path_factory) -> World:
    """A small results folder with everything that the paper's parts read."""
    return build(tmp_path_factory.mktemp("paper"))
