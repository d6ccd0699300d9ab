"""A graph server that runs only as long as it is needed: on loopback, with a password nobody else knows."""

from __future__ import annotations

import ctypes
import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compvqa.errors import InputError
from compvqa.graphs.backend import Neo4jSettings
from compvqa.graphs.neo4j.bolt import PASSWORD, URI, USER, connect
from compvqa.scratch import scratch_folder

_STOPPING = 60  # seconds that a server has to close its files
_PARENT_DIES = 1  # PR_SET_PDEATHSIG of Linux's prctl


@contextmanager
def serving(settings: Neo4jSettings, beside: Path) -> Iterator[None]:
    """Inside, ``NEO4J_URI`` names a server: the one it names already, or one that ``settings.command`` starts.

    That server's files lie in a folder beside ``beside``, which goes with it. It gets its address and password
    as Neo4j's image takes them (``NEO4J_AUTH``, ``NEO4J_server_bolt_listen__address``), never as arguments, and it
    ends when this process does, however that ends.
    """
    if os.environ.get(URI) or not settings.command:
        yield
        return
    with scratch_folder(beside.parent, "neo4j") as folder:
        mine = {URI: f"bolt://127.0.0.1:{_free_port()}", USER: "neo4j", PASSWORD: secrets.token_hex(24)}
        before = {name: os.environ.get(name) for name in mine}
        process = _start(settings.command, folder.resolve(), mine)
        try:
            os.environ.update(mine)
            with _ending_well():
                _await(process, settings.start_within, Path(folder))
                yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
            _stop(process)


@contextmanager
def _ending_well() -> Iterator[None]:
    """Inside, SIGTERM ends the program by an exception, so that what it started is stopped and removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _start(command: str, folder: Path, mine: dict[str, str]) -> subprocess.Popen:
    address = mine[URI].removeprefix("bolt://")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")} | {
        "NEO4J_AUTH": f"{mine[USER]}/{mine[PASSWORD]}",
        "NEO4J_server_bolt_listen__address": address,
        "NEO4J_server_bolt_advertised__address": address,
        "NEO4J_server_http_enabled": "false",
        "NEO4J_server_https_enabled": "false",
        "NEO4J_dbms_usage__report_enabled": "false",
    }
    libc = ctypes.CDLL(None)
    with (folder / "server.log").open("wb") as log:
        try:
            return subprocess.Popen(
                [word.replace("$FOLDER", str(folder)) for word in shlex.split(command)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: libc.prctl(_PARENT_DIES, signal.SIGTERM),
            )
        except OSError as error:
            raise InputError(
                f"candidates.neo4j.command can't be run ({error}): correct it, or name a running server by {URI}."
            ) from None


def _await(process: subprocess.Popen, seconds: float, folder: Path) -> None:
    """Wait until the server takes the password."""
    until = time.monotonic() + seconds
    while True:
        try:
            with connect(0):
                return
        except InputError as error:
            reason = str(error)
        if process.poll() is not None:
            reason = f"it ended with status {process.returncode}"
        elif time.monotonic() < until:
            time.sleep(0.5)
            continue
        lines = (folder / "server.log").read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        last = last.replace(os.environ[PASSWORD], "…")
        raise InputError(
            f"the server of candidates.neo4j.command did not start within {seconds:g} s ({reason}; its last line: "
            f"{last}): correct the command or raise candidates.neo4j.start_within."
        )


def _stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(_STOPPING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
