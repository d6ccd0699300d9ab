"""What goes wrong with a Bolt server: one clear sentence, nothing loaded twice, and no server left behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compvqa.errors import InputError
from compvqa.graphs.backend import Neo4jSettings
from compvqa.graphs.neo4j import bolt, loading, service
from compvqa.graphs.neo4j.bolt import connect
from compvqa.graphs.neo4j.loading import Loaded
from compvqa.scenes.graph import Object, Relation, SceneGraph
from unit.graphs.graph_worlds import write_scenes

pytestmark = pytest.mark.xdist_group("neo4j")


def scenes_in(folder: Path, count: int) -> Path:
    things = {"0": Object("0", "man"), "1": Object("1", "cup")}
    return write_scenes(folder, [SceneGraph(f"s:{i:03}", things, (Relation("on", "0", "1"),)) for i in range(count)])


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, "needs NEO4J_URI and NEO4J_PASSWORD .* candidates.neo4j.command"),
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
        ("no-such-program $FOLDER", "candidates.neo4j.command can't be run .*no-such-program"),
        (f"{sys.executable} -c \"print('no licence'); raise SystemExit(3)\"", "status 3; its last line: no licence"),
        (f"{sys.executable} -c \"import os; print(os.environ['NEO4J_AUTH'])\"", "last line: neo4j/…"),
        (f'{sys.executable} -c "import time; time.sleep(60)"', "within 1 s .*it said nothing"),
    ],
)
def test_a_command_that_starts_no_server(command, told, tmp_path, monkeypatch):
    monkeypatch.delenv("NEO4J_URI", raising=False)
    pytest.importorskip("neo4j")
    settings = Neo4jSettings(command=command, start_within=1)
    with pytest.raises(InputError, match=told), service.serving(settings, tmp_path / "out.parquet"):
        pass
    assert not list(tmp_path.iterdir())


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
        service._await(self.process, 120, self.folder)

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


RUN = """
import os, sys, time
from pathlib import Path
from compvqa.graphs.backend import Neo4jSettings
from compvqa.graphs.neo4j.service import serving
with serving(Neo4jSettings(command=sys.argv[1]), Path(sys.argv[2])):
    print(os.environ["NEO4J_URI"], os.environ["NEO4J_PASSWORD"], flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_the_job_however_that_ends(server_command, tmp_path, root, monkeypatch, how):
    monkeypatch.delenv("NEO4J_URI", raising=False)
    environment = os.environ | {"PYTHONPATH": str(root / "workflow")}
    command = [sys.executable, "-c", RUN, server_command, str(tmp_path / "out")]
    job = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    uri, password = job.stdout.readline().split()
    assert not [line for line in command_lines() if password in line], "the password is in a command line"
    with connect(0, {"NEO4J_URI": uri, "NEO4J_PASSWORD": password}) as server:
        assert server.read("RETURN 1 AS one") == [{"one": 1}]
    job.send_signal(how)
    job.wait()
    until = time.monotonic() + 60
    while any(str(tmp_path) in line for line in command_lines()):
        assert time.monotonic() < until, "the server still runs"
        time.sleep(0.2)
    assert how == signal.SIGKILL or not list(tmp_path.iterdir())


def command_lines() -> list[str]:
    """The command lines of all processes."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def test_the_default_backend_does_not_import_the_driver(root):
    code = "import sys; from compvqa.graphs import backend; backend.find('duckdb'); print('neo4j' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(root / "workflow")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
