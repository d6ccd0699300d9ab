"""What all tests share: where the project is, where real data are, and how hypothesis runs."""

from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
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
