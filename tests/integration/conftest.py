"""A server for the tests of the neo4j backend: Neo4j itself where there is one, else one that speaks as it does."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j.bolt import PASSWORD, URI, USER, connect
from compvqa.covr.subgraphs.search.neo4j.service import serving

HEAP = "NEO4J_server_memory_heap_max__size=512m"


def neo4j_at(root: Path) -> list[str] | None:
    """What ``env`` must be told so that Neo4j is found: it is in ``NEO4J_HOME``, on PATH, or beside the project."""
    home, beside = os.environ.get("NEO4J_HOME"), root.parent / "shared/neo4j"
    if shutil.which("neo4j") or (home and (Path(home) / "bin/neo4j").is_file()):
        return []
    return [f"NEO4J_HOME={beside}"] if (beside / "bin/neo4j").is_file() else None


@pytest.fixture(scope="session")
def server_command(root) -> str:
    """The command line that starts a Bolt server, as ``neo4j.command`` takes it."""
    pytest.importorskip("neo4j", reason="needs the driver: pip install neo4j")
    if (found := neo4j_at(root)) is not None:
        words = ["env", *found, HEAP, sys.executable, str(root / "containers/serve_neo4j.py")]
    else:
        pytest.importorskip("arcadedb_embedded", reason="needs Neo4j, or: pip install arcadedb-embedded")
        words = [sys.executable, str(root / "tests/fixtures/bolt_server.py")]
    return f"{shlex.join(words)} $FOLDER"


@pytest.fixture(scope="session")
def session_server(server_command, tmp_path_factory, last_lines) -> Iterator[dict[str, str]]:
    """One server for the whole run: the variables that name it. The run's last lines tell what it is."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (URI, USER, PASSWORD):
            patch.delenv(name, raising=False)
        with serving(Neo4jSettings(command=server_command), tmp_path_factory.mktemp("server") / "any"):
            mine = {name: os.environ[name] for name in (URI, USER, PASSWORD)}
            last_lines.append(f"The neo4j backend was tested on {told_by(mine, server_command)}.")
            for name in mine:
                del os.environ[name]
            yield mine


def told_by(server: dict[str, str], command: str) -> str:
    """What a server is, with its version."""
    if "bolt_server.py" in command:
        return f"ArcadeDB {version('arcadedb-embedded')}, which stands in for Neo4j"
    with connect(0, server) as session:
        query = "CALL dbms.components() YIELD name, versions, edition RETURN name, versions[0] AS version, edition"
        return "Neo4j {version} ({edition}, {name})".format(**session.read(query)[0])


@pytest.fixture(scope="module")
def server(session_server) -> Iterator[None]:
    """The run's server, named by the environment during the tests of a module."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in session_server.items():
            patch.setenv(name, value)
        yield
