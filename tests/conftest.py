"""What all tests share: where the project is, where real data are, and how hypothesis runs."""

from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
LAST_LINES = pytest.StashKey[list[str]]()
settings.register_profile("compvqa", deadline=None)
settings.load_profile("compvqa")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of papers and real data subsets beside the project; without it the test is skipped."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("needs the real data subsets in ../shared/data, which are not on this machine")
    return folder


@pytest.fixture(scope="session")
def last_lines(request) -> list[str]:
    """Lines that the run ends with: what it was that the tests ran on."""
    return request.config.stash[LAST_LINES]


def pytest_configure(config) -> None:
    config.stash[LAST_LINES] = []


def pytest_sessionfinish(session) -> None:
    if hasattr(session.config, "workeroutput"):  # a worker of pytest-xdist: its lines go to the run that started it
        session.config.workeroutput["last_lines"] = session.config.stash[LAST_LINES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    node.config.stash[LAST_LINES] += getattr(node, "workeroutput", {}).get("last_lines", [])


def pytest_terminal_summary(terminalreporter, config) -> None:
    for line in config.stash[LAST_LINES]:
        terminalreporter.write_line(line)
