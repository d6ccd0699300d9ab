"""A real Bolt server for the tests of the neo4j backend."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from compvqa.graphs.backend import Neo4jSettings
from compvqa.graphs.neo4j.service import serving

SCRIPT = Path(__file__).resolve().parents[1] / "fixtures/bolt_server.py"


@pytest.fixture(scope="session")
def server_command() -> str:
    """The command line that starts a Bolt server, as ``candidates.neo4j.command`` takes it."""
    pytest.importorskip("neo4j", reason="needs the driver: pip install neo4j")
    pytest.importorskip("arcadedb_embedded", reason="needs a Bolt server: pip install arcadedb-embedded")
    return f"{shlex.join([sys.executable, str(SCRIPT)])} $FOLDER"


@pytest.fixture(scope="module")
def server(server_command, tmp_path_factory) -> None:
    """A server for all tests of a module, named by the environment meanwhile."""
    with serving(Neo4jSettings(command=server_command), tmp_path_factory.mktemp("server") / "any"):
        yield
