"""Projects whose chain has run."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from fixtures.project import Project, copy_project


@pytest.fixture(scope="session")
def finished(root, tmp_path_factory) -> Project:
    """A project whose whole chain has run on config/tiny-full.yaml. Tests must leave it as they found it."""
    folder = tmp_path_factory.mktemp("finished")
    project = copy_project(root, folder / "project").full()
    project.noting_imports(folder / "imports").run()
    return project


@pytest.fixture
def edited(finished, tmp_path) -> Project:
    """A copy of the finished project (results too) that a test may edit."""
    folder = tmp_path / "project"
    shutil.copytree(finished.folder, folder, symlinks=True)
    return replace(finished, folder=folder)
