"""How the server is started inside containers/neo4j.sif, with stand-ins for Neo4j's two programs."""

import os
import subprocess
import sys


def test_the_server_gets_its_settings_folder_and_password(root, tmp_path):
    programs, folder = tmp_path / "bin", tmp_path / "files"
    programs.mkdir()
    for name in ("neo4j", "neo4j-admin"):
        program = programs / name
        program.write_text('#!/bin/sh\necho "$(basename "$0") $* conf=$NEO4J_CONF auth=${NEO4J_AUTH:-none}"\n')
        program.chmod(0o755)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "NEO4J_AUTH": "neo4j/a-password/with=signs",
        "NEO4J_server_bolt_listen__address": "127.0.0.1:7777",
        "NEO4J_dbms_usage__report_enabled": "false",
        "NEO4J_HOME": "/opt/neo4j",
    }
    script = root / "containers/serve_neo4j.py"
    done = subprocess.run([sys.executable, script, folder], env=environment, text=True, capture_output=True, check=True)
    told = f"conf={folder}/conf auth=none"
    assert done.stdout.splitlines() == [
        f"neo4j-admin dbms set-initial-password a-password/with=signs {told}",
        f"neo4j console {told}",
    ]
    lines = dict(line.split("=") for line in (folder / "conf/neo4j.conf").read_text().splitlines())
    own = {name: path for name, path in lines.items() if name.startswith("server.directories.")}
    assert own.keys() >= {"server.directories.data", "server.directories.logs", "server.directories.run"}
    assert all(os.path.isdir(path) and path.startswith(str(folder)) for path in own.values())
    assert lines.keys() - own.keys() == {"server.bolt.listen_address", "dbms.usage_report.enabled"}
    assert lines["server.bolt.listen_address"] == "127.0.0.1:7777"
