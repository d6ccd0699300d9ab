#!/usr/bin/env python3
"""Start Neo4j with all of its files in one folder, since an image can't be written to: `serve-neo4j FOLDER`.

Settings and the password come as Neo4j's own image takes them: `NEO4J_server_bolt_listen__address` is the setting
server.bolt.listen_address, and `NEO4J_AUTH` is neo4j/<password>. `neo4j` and `neo4j-admin` are those on PATH, else
those of NEO4J_HOME.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

DIRECTORIES = ("data", "import", "licenses", "logs", "plugins", "run")


def settings(environment: dict[str, str], folder: Path) -> str:
    """The server's configuration: what the environment says, and where its files lie."""
    made = {}
    for variable, value in sorted(environment.items()):
        name = variable.removeprefix("NEO4J_")
        if name != variable and name[0].islower():
            made["_".join(part.replace("_", ".") for part in name.split("__"))] = value
    made |= {f"server.directories.{name}": folder / name for name in DIRECTORIES}
    return "".join(f"{name}={value}\n" for name, value in made.items())


def set_password(password: str) -> None:
    """Set it before the first start. The program takes it as an argument only: so that no list of processes shows it,
    that argument is a file of arguments, which lies in memory alone."""
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    file = os.memfd_create("password")
    os.write(file, f'"{quoted}"'.encode())
    run("neo4j-admin", "dbms", "set-initial-password", f"@/proc/{os.getpid()}/fd/{file}")
    os.close(file)


def run(*command: str, **options) -> subprocess.CompletedProcess:
    """Run a program that says itself what it misses."""
    try:
        return subprocess.run(command, check=True, text=True, **options)
    except FileNotFoundError:
        sys.exit(f"serve-neo4j: there is no {command[0]} on PATH, nor in the folder bin of NEO4J_HOME.")
    except subprocess.CalledProcessError as error:
        sys.exit(f"serve-neo4j: {command[0]} failed with status {error.returncode}.")


def main(folder: Path) -> None:
    """Set the password, then become the server: no process is between it and what started it, and none is left."""
    for name in ("conf", *DIRECTORIES):
        (folder / name).mkdir(parents=True, exist_ok=True)
    password = os.environ.pop("NEO4J_AUTH", "").removeprefix("neo4j/")
    if not password:
        sys.exit("serve-neo4j: set NEO4J_AUTH to neo4j/<password>.")
    (folder / "conf/neo4j.conf").write_text(settings(dict(os.environ), folder), encoding="utf-8")
    os.environ["NEO4J_CONF"] = str(folder / "conf")
    if home := os.environ.get("NEO4J_HOME"):
        os.environ["PATH"] += f"{os.pathsep}{home}/bin"
    if not (folder / "data/databases/system").exists():
        set_password(password)
    command = shlex.split(run("neo4j", "console", "--dry-run", stdout=subprocess.PIPE).stdout)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
