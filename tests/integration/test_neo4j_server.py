"""Servers as their administrators set them up: with TLS, a named database, read-only, too old, or short of disk."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from compvqa.covr.subgraphs.search import Neo4jSettings
from compvqa.covr.subgraphs.search.neo4j import bolt, service
from compvqa.covr.subgraphs.search.neo4j.bolt import connect
from compvqa.covr.subgraphs.search.neo4j.loading import Loaded
from compvqa.errors import InputError
from integration.test_neo4j_accidents import scenes_in

pytestmark = pytest.mark.xdist_group("neo4j")
TLS = {
    "server_bolt_tls__level": "OPTIONAL",  # the launcher's own question is without
    "dbms_ssl_policy_bolt_enabled": "true",
    "dbms_ssl_policy_bolt_private__key": "key.pem",
    "dbms_ssl_policy_bolt_public__certificate": "certificate.pem",
}


@contextmanager
def served(command, folder, **settings):
    """A server of the test's own, with these settings; its files stay in ``folder``."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NEO4J_URI", "NEO4J_DATABASE"):
            patch.delenv(name, raising=False)
        for name, value in settings.items():
            patch.setenv(f"NEO4J_{name}", value)
        with service.serving(Neo4jSettings(command=command.replace("$FOLDER", str(folder))), folder / "any"):
            yield {name: os.environ[name] for name in ("NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD")}


@pytest.fixture
def neo4j_command(server_command):
    if "serve_neo4j.py" not in server_command:
        pytest.skip("needs Neo4j itself")
    return server_command


@pytest.mark.long_neo4j
def test_tls_a_named_database_and_one_that_may_only_be_read(neo4j_command, tmp_path, monkeypatch):
    if not shutil.which("openssl"):
        pytest.skip("needs openssl to make a certificate")
    certificate = tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    made = ["-keyout", tmp_path / "key.pem", "-out", certificate]
    subprocess.run([*command, *made], check=True, capture_output=True)
    settings = TLS | {"dbms_ssl_policy_bolt_base__directory": str(tmp_path), "initial_dbms_default__database": "graphs"}
    mine, other = scenes_in(tmp_path / "mine", 5), scenes_in(tmp_path / "other", 7)

    with served(neo4j_command, tmp_path / "server", **settings) as address:
        port = address["NEO4J_URI"].rpartition(":")[2]

        def by(scheme, **more):
            return connect(2, address | {"NEO4J_URI": f"{scheme}://localhost:{port}"} | more)

        for scheme in ("bolt", "bolt+ssc", "neo4j+ssc"):
            with by(scheme, NEO4J_DATABASE="graphs") as server:
                assert Loaded(server, mine, 2).verify() == 3
        for scheme in ("bolt+s", "neo4j+s"):
            told = r"the certificate .* is not trusted: .* SSL_CERT_FILE .* \+ssc"
            with pytest.raises(InputError, match=told) as caught, by(scheme):
                pass
            assert "\n" not in str(caught.value)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with by("bolt+s") as server:
            assert Loaded(server, mine, 2).new == 0
        told = "has no database nowhere: correct NEO4J_DATABASE"
        with pytest.raises(InputError, match=told), by("bolt", NEO4J_DATABASE="nowhere") as server:
            Loaded(server, mine, 2)
        password = address["NEO4J_PASSWORD"]

    monkeypatch.setattr(service.secrets, "token_hex", lambda _: password)  # the store has that of the first start
    with served(neo4j_command, tmp_path / "server", server_databases_default__to__read__only="true", **settings):
        with connect(1) as server:
            loaded = Loaded(server, mine, 2)
            assert (loaded.new, loaded.verify()) == (0, 3)
        told = "does not let neo4j do what is needed .*: load the graph as a user who"
        with pytest.raises(InputError, match=told), connect(1) as server:
            Loaded(server, other, 2)


@pytest.mark.long_neo4j
def test_a_server_that_is_killed_in_mid_work_leaves_its_log(neo4j_command, tmp_path):
    told = r"neo4j.command ended with status -9 before all was done \(it said: .*; its whole log is .*any.neo4j.log\)"
    with pytest.raises(InputError, match=told) as caught, served(neo4j_command, tmp_path), connect(0) as server:
        [row] = server.read("CALL dbms.queryJmx('java.lang:type=Runtime') YIELD attributes RETURN attributes")
        os.kill(int(row["attributes"]["Name"]["value"].partition("@")[0]), signal.SIGKILL)
        server.read("RETURN 1")
    assert "\n" not in str(caught.value)
    assert "INFO  Started" in (tmp_path / "any.neo4j.log").read_text()


def test_a_full_disk_is_what_is_told_of_a_log_with_many_errors():
    errors = [f"ERROR Unable to write to stream {number}" for number in range(30)]
    errors.insert(20, "Caused by: java.io.IOException: No space left on device")
    assert service._said("\n".join(errors)).startswith(errors[20])


@pytest.mark.long_neo4j
def test_a_store_that_cannot_be_read_is_told_in_one_sentence(neo4j_command, tmp_path, monkeypatch):
    monkeypatch.setattr(service.secrets, "token_hex", lambda _: "of-the-store")
    with served(neo4j_command, tmp_path):
        pass
    for store in (tmp_path / "data/databases/system").glob("*"):
        if store.is_file():
            store.write_bytes(b"of another version")
    told = r"did not start in \d+ s .*its whole log is"
    with pytest.raises(InputError, match=told) as caught, served(neo4j_command, tmp_path):
        pass
    assert "\n" not in str(caught.value)


class Pages(BaseHTTPRequestHandler):
    """Another program than Neo4j."""

    def log_message(self, *_):
        pass


def test_another_program_on_the_port_is_told_in_one_sentence(monkeypatch):
    monkeypatch.setattr(bolt, "_GREETING", {"connection_timeout": 1, "connection_acquisition_timeout": 1})
    with HTTPServer(("127.0.0.1", 0), Pages) as pages:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        environment = {"NEO4J_URI": f"bolt://127.0.0.1:{pages.server_port}", "NEO4J_PASSWORD": "secret"}
        with pytest.raises(InputError, match="does not answer .* correct NEO4J_URI") as caught, connect(0, environment):
            pass
        pages.shutdown()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("agent", "good"),
    [("Neo4j/5.22.0", False), ("Neo4j/4.4.41", False), ("Neo4j/5.23.0", True), ("Neo4j/2026.08.1", True)]
    + [("ArcadeDB", True), ("Neo4j/dev", True)],
)
def test_a_server_that_is_too_old_is_refused(agent, good):
    if good:
        bolt._check_version(agent, "here:1")
    else:
        with pytest.raises(InputError, match=f"the server at here:1 is {agent}, .* Neo4j 5.23 or newer: update it"):
            bolt._check_version(agent, "here:1")


def test_a_server_is_not_waited_for_without_the_driver(tmp_path, monkeypatch):
    monkeypatch.delenv("NEO4J_URI", raising=False)
    monkeypatch.setitem(sys.modules, "neo4j", None)
    settings = Neo4jSettings(command=f"touch {tmp_path}/started")
    with pytest.raises(InputError, match="needs the driver"), service.serving(settings, tmp_path / "any"):
        pass
    assert not (tmp_path / "started").exists()


ASK = """
from compvqa.errors import InputError
from compvqa.covr.subgraphs.search.neo4j.bolt import connect
with connect(5) as client:
    client.read("MATCH (n:NoSuchLabel) WHERE n.no_such_property = 1 MATCH (m:NoSuchLabel) RETURN n, m")
try:
    with connect(0, {"NEO4J_URI": "neo4j://127.0.0.1:1", "NEO4J_PASSWORD": ""}):
        pass
except InputError:
    print("refused")
"""


def test_neither_notifications_nor_the_driver_s_log_are_printed(server, root):
    done = subprocess.run([sys.executable, "-c", ASK], cwd=root / "workflow", capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("refused\n", "")
