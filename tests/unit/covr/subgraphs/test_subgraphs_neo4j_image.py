"""How the server is started inside containers/neo4j.sif, with stand-ins for Neo4j's two programs."""

import os
import re
import subprocess
import sys

import pytest

PASSWORD = "a-'password\"/with=signs and \\ # more"
ADMIN = """#!/bin/sh
echo "$(basename "$0") $1 $2 conf=$NEO4J_CONF auth=${NEO4J_AUTH:-none}"
cat "${3#@}"
echo
"""
SERVER = """#!/bin/sh
echo "echo 'the server' '*' conf=$NEO4J_CONF auth=${NEO4J_AUTH:-none}"
"""


@pytest.fixture
def start(root, tmp_path):
    """Runs the launcher with these variables more than PATH."""
    programs = tmp_path / "home/bin"
    programs.mkdir(parents=True)
    for name, text in (("neo4j", SERVER), ("neo4j-admin", ADMIN)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)

    def run(**variables: str) -> subprocess.CompletedProcess:
        command = [sys.executable, root / "containers/serve_neo4j.py", tmp_path / "files"]
        return subprocess.run(command, env={"PATH": os.defpath} | variables, text=True, capture_output=True)

    return run


def test_the_server_gets_its_settings_folder_and_password(start, tmp_path):
    folder, home = tmp_path / "files", str(tmp_path / "home")
    done = start(
        NEO4J_HOME=home,
        NEO4J_AUTH=f"neo4j/{PASSWORD}",
        NEO4J_server_bolt_listen__address="127.0.0.1:7777",
        NEO4J_server_directories_data="/elsewhere",
        NEO4J_dbms_usage__report_enabled="false",
    )
    told, quoted = f"conf={folder}/conf auth=none", PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    assert done.stdout.splitlines() == [
        f"neo4j-admin dbms set-initial-password {told}",
        f'"{quoted}"',
        f"the server * {told}",
    ]
    lines = dict(line.split("=") for line in (folder / "conf/neo4j.conf").read_text().splitlines())
    own = {name: path for name, path in lines.items() if name.startswith("server.directories.")}
    assert own.keys() >= {"server.directories.data", "server.directories.logs", "server.directories.run"}
    assert all(os.path.isdir(path) and path.startswith(str(folder)) for path in own.values())
    assert lines.keys() - own.keys() == {"server.bolt.listen_address", "dbms.usage_report.enabled"}
    assert lines["server.bolt.listen_address"] == "127.0.0.1:7777"


def test_a_started_store_keeps_its_password(start, tmp_path):
    (tmp_path / "files/data/databases/system").mkdir(parents=True)
    done = start(PATH=f"{tmp_path}/home/bin:{os.defpath}", NEO4J_AUTH=f"neo4j/{PASSWORD}")
    assert done.returncode == 0 and "neo4j-admin" not in done.stdout


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"NEO4J_AUTH": "neo4j/a-password"}, "serve-neo4j: there is no neo4j-admin on PATH, nor .* NEO4J_HOME"),
        ({}, "serve-neo4j: set NEO4J_AUTH to neo4j/<password>"),
        ({"NEO4J_AUTH": "neo4j/a-password", "NEO4J_HOME": "failing"}, "serve-neo4j: neo4j-admin failed with status 3"),
    ],
)
def test_what_is_missing_is_said_without_the_password(start, tmp_path, monkeypatch, variables, told):
    (tmp_path / "failing/bin").mkdir(parents=True)
    (tmp_path / "failing/bin/neo4j-admin").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "failing/bin/neo4j-admin").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    done = start(**variables)
    assert done.returncode and re.search(told, done.stderr)
    assert "a-password" not in done.stderr and len(done.stderr.splitlines()) == 1
