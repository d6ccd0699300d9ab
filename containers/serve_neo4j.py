#!/usr/bin/env python3
"""Start Neo4j with all of its files in one folder, since an image can't be written to: `serve-neo4j FOLDER`.

Settings and the password come as Neo4j's own image takes them: `NEO4J_server_bolt_listen__address` is the setting
server.bolt.listen_address, and `NEO4J_AUTH` is neo4j/<password>.
"""

import os
import subprocess
import sys
from pathlib import Path

DIRECTORIES = ("data", "import", "licenses", "logs", "plugins", "run")


def settings(environment: dict[str, str], folder: Path) -> str:
    """The server's configuration: where its files lie, and what the environment says."""
    lines = [f"server.directories.{name}={folder / name}" for name in DIRECTORIES]
    for variable, value in sorted(environment.items()):
        name = variable.removeprefix("NEO4J_")
        if name != variable and name[0].islower():
            lines.append("_".join(part.replace("_", ".") for part in name.split("__")) + f"={value}")
    return "\n".join([*lines, ""])


def main(folder: Path) -> None:
    """Set the password, then become the server."""
    for name in ("conf", *DIRECTORIES):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "conf/neo4j.conf").write_text(settings(dict(os.environ), folder), encoding="utf-8")
    os.environ["NEO4J_CONF"] = str(folder / "conf")
    password = os.environ.pop("NEO4J_AUTH").removeprefix("neo4j/")
    subprocess.run(["neo4j-admin", "dbms", "set-initial-password", password], check=True)
    os.execvp("neo4j", ["neo4j", "console"])


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
