"""A graph server that runs only as long as it is needed: on loopback, with a password nobody else knows."""

from __future__ import annotations

import ctypes
import os
import re
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j.bolt import DATABASE, PASSWORD, URI, USER, connect, driver_package
from compvqa.errors import InputError
from compvqa.scratch import scratch_folder

_STOPPING = 3  # seconds that a server has to end by itself: its files go anyway
_PARENT_DIES = 1  # PR_SET_PDEATHSIG of Linux's prctl
_CONNECTION = (URI, USER, "NEO4J_USERNAME", PASSWORD, DATABASE)  # where another server is, not how ours runs
_MEMORY, _DEFAULT_MEMORY = "COMPVQA_MEM_MB", 6000  # what the job has, in MB; as rules/graphs.smk asks for it
_TELLS = re.compile(r"error|exception|fail|caused by|invalid|denied|no space|unable|cannot|can't", re.IGNORECASE)
_FULL = re.compile("no space left", re.IGNORECASE)
_TELLS_NOTHING = re.compile(r"\s+(at |\.\.\. )|Run with '--verbose'|.*See log for more info")


@contextmanager
def serving(settings: Neo4jSettings, beside: Path) -> Iterator[None]:
    """Inside, ``NEO4J_URI`` names a server: the one it names already, or one that ``settings.command`` starts.

    That server's files lie in a folder beside ``beside``, which goes with it. It gets its address and password
    as Neo4j's image takes them (``NEO4J_AUTH``, ``NEO4J_server_bolt_listen__address``), never as arguments, and it
    ends when this process does, however that ends. Heap and page cache are a half of the job's memory, in MB in
    ``COMPVQA_MEM_MB``, unless ``NEO4J_server_memory_…`` say otherwise, and the JVM has the collector that does the most
    work a second, unless ``NEO4J_server_jvm_additional`` does. If it does not start, or ends before all is
    done, its log is kept as ``<beside>.neo4j.log``.
    """
    if os.environ.get(URI) or not settings.command:
        yield
        return
    driver_package()
    kept = beside.with_name(f"{beside.name}.neo4j.log")
    kept.unlink(missing_ok=True)
    with scratch_folder(beside.parent, "neo4j") as folder:
        mine = {URI: f"bolt://127.0.0.1:{_free_port()}", USER: "neo4j", PASSWORD: secrets.token_hex(24)}
        before = {name: os.environ.pop(name, None) for name in (*mine, DATABASE)}
        process = _start(settings.command, folder.resolve(), mine)
        try:
            os.environ.update(mine)
            with _ending_well():
                _await(process, settings.start_within, folder, kept)
                with _telling_its_end(process, folder, kept):
                    yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})
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


def _environment(mine: dict[str, str]) -> dict[str, str]:
    """What the server's command sees: all that is set, but for other servers; ours wins where it must."""
    address = mine[URI].removeprefix("bolt://")
    memory = int(os.environ.get(_MEMORY, _DEFAULT_MEMORY))  # the other half is for the JVM itself, Python and DuckDB
    defaults = {
        "NEO4J_server_memory_heap_max__size": f"{memory // 3}m",
        "NEO4J_server_memory_pagecache_size": f"{memory // 6}m",
        "NEO4J_server_jvm_additional": "-XX:+UseParallelGC",  # nobody minds its pauses; G1 takes ten times the CPU
    }
    return {name: value for name, value in (defaults | os.environ).items() if name not in _CONNECTION} | {
        "NEO4J_AUTH": f"{mine[USER]}/{mine[PASSWORD]}",
        "NEO4J_server_bolt_listen__address": address,
        "NEO4J_server_bolt_advertised__address": address,
        "NEO4J_server_http_enabled": "false",
        "NEO4J_server_https_enabled": "false",
        "NEO4J_dbms_usage__report_enabled": "false",
    }


def _start(command: str, folder: Path, mine: dict[str, str]) -> subprocess.Popen:
    libc = ctypes.CDLL(None)
    with _log(folder).open("wb") as log:
        try:
            return subprocess.Popen(
                [word.replace("$FOLDER", str(folder)) for word in shlex.split(command)],
                env=_environment(mine),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # with all that it starts, it is a process group that can be ended as one
                preexec_fn=lambda: libc.prctl(_PARENT_DIES, signal.SIGTERM),
            )
        except OSError as error:
            raise InputError(
                f"neo4j.command can't be run ({error}): correct it, or name a running server by {URI}."
            ) from None


def _await(process: subprocess.Popen, seconds: float, folder: Path, kept: Path) -> None:
    """Wait until the server takes the password; if it never does, its log is kept as ``kept``."""
    begin = time.monotonic()
    while True:
        try:
            with connect(0):
                return
        except InputError as error:
            reason = re.split(r" \(|: ", str(error))[0]
            advice = "raise neo4j.start_within or correct the command"
        waited = time.monotonic() - begin
        if process.poll() is not None:
            reason, advice = f"it ended with status {process.returncode}", "correct the command"
        elif waited < seconds:
            time.sleep(0.5)
            continue
        raise InputError(
            f"the server of neo4j.command did not start in {waited:.0f} s ({reason}; {_keep(folder, kept)}): {advice}."
        )


@contextmanager
def _telling_its_end(process: subprocess.Popen, folder: Path, kept: Path) -> Iterator[None]:
    """Inside, what fails since the server has ended says so, and the server's log is kept as ``kept``."""
    try:
        yield
    except InputError:
        with suppress(subprocess.TimeoutExpired):  # what it was asked may fail a little before it has ended
            process.wait(1)
        if process.returncode is None:
            raise
        raise InputError(
            f"the server of neo4j.command ended with status {process.returncode} before all was done "
            f"({_keep(folder, kept)}): give the job more memory or disk, then run the same command again."
        ) from None


def _keep(folder: Path, kept: Path) -> str:
    """Keep the log of the server, without its password; gives what it says."""
    text = _log(folder).read_text(encoding="utf-8", errors="replace").replace(os.environ[PASSWORD], "…")
    kept.write_text(text, encoding="utf-8")
    return f"it said: {_said(text)}; its whole log is {kept}"


def _log(folder: Path) -> Path:
    return folder / "server.log"


def _said(log: str) -> str:
    """The lines of a log that tell what went wrong: one of a full disk or the first, and the last two; without any, the
    last two."""
    lines = [line.strip() for line in log.splitlines() if line.strip() and not _TELLS_NOTHING.match(line)]
    telling = list(dict.fromkeys(line for line in lines if _TELLS.search(line))) or lines[-2:]
    telling.sort(key=lambda line: not _FULL.search(line))  # what else is said then follows from it
    return " | ".join(telling[:1] + telling[1:][-2:]) or "nothing"


def _stop(process: subprocess.Popen) -> None:
    _end(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOPPING)
    _end(process, signal.SIGKILL)  # it, or what it has left behind
    process.wait()


def _end(process: subprocess.Popen, how: signal.Signals) -> None:
    """Send a signal to the process and to all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, how)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
