"""What goes wrong with a Bolt server: one clear sentence, nothing loaded twice, and no server left behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j import bolt, loading, service
from compvqa.covr.subgraphs.search.neo4j.bolt import connect
from compvqa.covr.subgraphs.search.neo4j.loading import Loaded
from compvqa.errors import InputError
from compvqa.scenes.graph import Object, Relation, SceneGraph
from unit.covr.subgraphs.graph_worlds import write_scenes

pytestmark = pytest.mark.xdist_group("neo4j")


def scenes_in(folder: Path, count: int) -> Path:
    things = {"0": Object("0", "man"), "1": Object("1", "cup")}
    return write_scenes(folder, [SceneGraph(f"s:{i:03}", things, (Relation("on", "0", "1"),)) for i in range(count)])


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, "needs NEO4J_URI and NEO4J_PASSWORD .* neo4j.command"),
        ({"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "secret"}, "127.0.0.1:1 does not answer .* NEO4J_URI"),
        ({"NEO4J_URI": "http://u:secret@localhost", "NEO4J_PASSWORD": "secret"}, "NEO4J_URI is no address .* bolt://"),
        ({"NEO4J_URI": "bolt://localhost:x", "NEO4J_PASSWORD": "secret"}, "NEO4J_URI is no address .* bolt://"),
        ({"NEO4J_URI": "nonsense", "NEO4J_PASSWORD": "secret"}, "NEO4J_URI is no address .* bolt://"),
    ],
)
def test_a_server_that_cannot_be_reached(environment, told):
    with pytest.raises(InputError, match=told) as caught, connect(0, environment):
        pass
    assert "secret" not in str(caught.value) and "\n" not in str(caught.value)


def test_a_server_that_never_greets_back(monkeypatch):
    monkeypatch.setattr(bolt, "_GREETING", {"connection_timeout": 1, "connection_acquisition_timeout": 1})
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environment = {"NEO4J_URI": f"bolt://127.0.0.1:{silent.getsockname()[1]}", "NEO4J_PASSWORD": "secret"}
        with pytest.raises(InputError, match="does not answer"), connect(0, environment):
            pass


def test_without_the_driver_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "neo4j", None)
    with pytest.raises(InputError, match=r"pip install 'compvqa\[graph\]'"), connect(0, {}):
        pass


def test_a_wrong_password_is_told(server):
    environment = {"NEO4J_URI": os.environ["NEO4J_URI"], "NEO4J_PASSWORD": "mistaken"}
    told = "refuses neo4j: correct NEO4J_USER and NEO4J_PASSWORD"
    with pytest.raises(InputError, match=told) as caught, connect(0, environment):
        pass
    assert "mistaken" not in str(caught.value)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("no-such-program $FOLDER", "neo4j.command can't be run .*no-such-program"),
        (
            f"{sys.executable} -c \"print('no licence'); raise SystemExit(3)\"",
            "status 3; it said: no licence",
        ),
        (f"{sys.executable} -c \"import os; print(os.environ['NEO4J_AUTH'])\"", "it said: neo4j/…"),
        (
            f'{sys.executable} -c "import time; time.sleep(60)"',
            r"in 1 s \(.* does not answer; it said: nothing; .*start_within",
        ),
    ],
)
def test_a_command_that_starts_no_server(command, told, tmp_path, monkeypatch):
    monkeypatch.delenv("NEO4J_URI", raising=False)
    pytest.importorskip("neo4j")
    settings = Neo4jSettings(command=command, start_within=1)
    with pytest.raises(InputError, match=told), service.serving(settings, tmp_path / "out.parquet"):
        pass
    assert [path.name for path in tmp_path.iterdir()] in ([], ["out.parquet.neo4j.log"])


class Lasting:
    """A server whose files outlast it, as those of a real one do."""

    def __init__(self, command: str, folder: Path):
        self.command, self.folder = command, folder
        self.mine = {
            "NEO4J_URI": f"bolt://127.0.0.1:{service._free_port()}",
            "NEO4J_USER": "neo4j",
            "NEO4J_PASSWORD": "only-for-this-test",
        }

    def start(self) -> None:
        self.process = service._start(self.command, self.folder, self.mine)
        service._await(self.process, 120, self.folder, self.folder / "kept.log")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def lasting(server_command, tmp_path, monkeypatch):
    folder = tmp_path / "server"
    folder.mkdir()
    made = Lasting(server_command, folder)
    for name, value in made.mine.items():
        monkeypatch.setenv(name, value)
    # in this thread, part after part: it is known what was there, and a server ends with the thread that started it
    monkeypatch.setattr(loading, "_at_once", lambda work, parts, what: map(work, parts))
    made.start()
    yield made
    made.kill()


@pytest.mark.long_neo4j
def test_a_server_dies_in_the_middle_and_a_second_run_goes_on(lasting, tmp_path, monkeypatch):
    folder = scenes_in(tmp_path / "scenes", 30)
    load = Loaded._load

    def dying(self, part):
        if part == 4:
            lasting.kill()
        return load(self, part)

    monkeypatch.setattr(Loaded, "_load", dying)
    told = "does not answer .* run the same command again: it goes on"
    with pytest.raises(InputError, match=told), connect(1) as server:
        Loaded(server, folder, batch=3)
    monkeypatch.setattr(Loaded, "_load", load)
    lasting.start()
    with connect(10) as server:
        loaded = Loaded(server, folder, batch=3)
        assert (loaded.new, loaded.verify()) == (6, 10)


@pytest.mark.long_neo4j
def test_a_server_that_is_away_for_a_moment_is_waited_for(lasting, tmp_path, monkeypatch):
    folder = scenes_in(tmp_path / "scenes", 9)
    load = Loaded._load

    def restarting(self, part):
        if part == 1:
            lasting.kill()
            lasting.start()
        return load(self, part)

    monkeypatch.setattr(Loaded, "_load", restarting)
    with connect(60) as server:
        loaded = Loaded(server, folder, batch=3)
        assert (loaded.new, loaded.verify()) == (3, 3)


def test_the_whole_log_of_a_server_that_did_not_start_is_kept(tmp_path, monkeypatch):
    """The command prints what it sees: user's settings, and nothing of other servers."""
    monkeypatch.delenv("NEO4J_URI", raising=False)
    for name in ("NEO4J_USERNAME", "NEO4J_DATABASE", "NEO4J_HOME", "NEO4J_db_logs_query_enabled"):
        monkeypatch.setenv(name, "as-it-was")
    monkeypatch.setenv("COMPVQA_MEM_MB", "3000")
    kept = tmp_path / "out.parquet.neo4j.log"
    told = f"status 0; .*its whole log is {kept}"
    with pytest.raises(InputError, match=told), service.serving(Neo4jSettings(command="env"), tmp_path / "out.parquet"):
        pass
    seen = dict(line.split("=", 1) for line in kept.read_text().splitlines() if line.startswith("NEO4J_"))
    assert {name for name, value in seen.items() if value == "as-it-was"} == {
        "NEO4J_HOME",
        "NEO4J_db_logs_query_enabled",
    }
    assert seen["NEO4J_AUTH"] == "neo4j/…" and not seen.keys() & {"NEO4J_URI", "NEO4J_PASSWORD", "NEO4J_DATABASE"}
    assert seen["NEO4J_server_memory_heap_max__size"] == "1000m"
    assert seen["NEO4J_server_memory_pagecache_size"] == "500m"
    assert seen["NEO4J_server_jvm_additional"] == "-XX:+UseParallelGC"


@pytest.mark.long_neo4j
def test_a_busy_port_is_told_in_one_sentence(server_command, tmp_path, monkeypatch):
    monkeypatch.delenv("NEO4J_URI", raising=False)
    if "serve_neo4j.py" not in server_command:
        pytest.skip("needs Neo4j itself")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        monkeypatch.setattr(service, "_free_port", lambda: busy.getsockname()[1])
        settings = Neo4jSettings(command=server_command, start_within=90)
        told = r"did not start in \d+ s \(it ended with status 1; it said: .*Address already in use; its whole log is"
        with pytest.raises(InputError, match=told) as caught, service.serving(settings, tmp_path / "out.parquet"):
            pass
    assert "\n" not in str(caught.value) and "--verbose" not in str(caught.value)
    assert "Caused by" in (tmp_path / "out.parquet.neo4j.log").read_text()


def test_what_a_command_leaves_behind_ends_with_it(tmp_path, monkeypatch):
    monkeypatch.delenv("NEO4J_URI", raising=False)
    command = "bash -c 'tail -f $FOLDER/server.log & exit 1'"
    told = r"did not start in \d s"
    settings = Neo4jSettings(command=command)
    with pytest.raises(InputError, match=told), service.serving(settings, tmp_path / "out.parquet"):
        pass
    wait_until(lambda: not any(str(tmp_path) in line for line in command_lines().values()))


RUN = """
import os, sys, time
from pathlib import Path
from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j.service import serving
with serving(Neo4jSettings(command=sys.argv[1]), Path(sys.argv[2])):
    print(os.environ["NEO4J_URI"], os.environ["NEO4J_PASSWORD"], flush=True)
    time.sleep(600)
"""


@pytest.fixture
def job(server_command, tmp_path, root, monkeypatch):
    """A job that starts a server, tells its address and password, and waits."""
    monkeypatch.delenv("NEO4J_URI", raising=False)
    environment = os.environ | {"PYTHONPATH": str(root / "workflow")}
    command = [sys.executable, "-c", RUN, server_command, str(tmp_path / "out")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_the_job_however_that_ends(job, tmp_path, how):
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(job.stdout.readline)
        seen = set()
        while not told.done():  # the password is in no command line, at no time of the start
            seen |= set(command_lines().values())
        uri, password = told.result().split()
    assert len([line for line in seen if str(tmp_path) in line]) > 1
    assert not [line for line in seen | set(command_lines().values()) if password in line]
    with connect(0, {"NEO4J_URI": uri, "NEO4J_PASSWORD": password}) as server:
        assert server.read("RETURN 1 AS one") == [{"one": 1}]
    job.send_signal(how)
    job.wait()
    wait_until(lambda: not any(str(tmp_path) in line for line in command_lines().values()))
    assert how == signal.SIGKILL or not list(tmp_path.iterdir())


@pytest.mark.long_neo4j
@pytest.mark.parametrize("killed", ["the job", "the launcher", "the last"])
@pytest.mark.parametrize("step", ["serve_neo4j.py", "Neo4jAdminCommand", "AdminTool", "--dry-run", "--console-mode"])
def test_no_process_is_left_whatever_is_killed_while_the_server_starts(job, server_command, step, killed):
    if "serve_neo4j.py" not in server_command:
        pytest.skip("needs Neo4j itself")
    wait_until(lambda: children(job.pid))
    (launcher,) = children(job.pid)
    last = wait_until(lambda: next((pid for pid, line in running(launcher) if step in line), None))
    os.kill({"the job": job.pid, "the launcher": launcher, "the last": last}[killed], signal.SIGKILL)
    assert job.wait(90) != 0
    wait_until(lambda: not command_lines(launcher))


def wait_until(condition):
    """The first true value of a condition that is asked again and again."""
    until = time.monotonic() + 60
    while not (value := condition()):
        assert time.monotonic() < until, "waited for 60 s"
        time.sleep(0.02)
    return value


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_lines(session: int | None = None) -> dict[int, str]:
    """The command lines of all running processes, or of those of one session."""
    return dict(running(session))


def running(session: int | None = None) -> Iterator[tuple[int, str]]:
    """The processes, each with its command line, told as soon as it is read: some live for moments only."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            ours = session in (None, os.getsid(int(path.name)))
        except OSError:
            continue
        if line and ours:
            yield int(path.name), line


def test_the_default_backend_does_not_import_the_driver(root):
    code = "import sys; from compvqa.covr.subgraphs import search; search.find('duckdb'); print('neo4j' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(root / "workflow")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
