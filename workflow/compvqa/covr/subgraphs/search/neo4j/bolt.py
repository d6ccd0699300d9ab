"""A Neo4j server over Bolt by the official driver: where it is, and what its errors mean to the user.

``NEO4J_URI``, ``NEO4J_USER`` (``neo4j`` where it is not set), ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE`` (the server's
default where it is not set) come from the environment, never from a config or a command line, so that no log and no
record holds them.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from compvqa.errors import InputError

if TYPE_CHECKING:
    from neo4j import Driver, Session

URI, USER, PASSWORD, DATABASE = "NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD", "NEO4J_DATABASE"
OLDEST = (5, 23)  # from which on Cypher has CALL (x) { … }
AGAIN = "then run the same command again: it goes on where it stopped"
# Seconds for a connection, and for all until it may be used: a server that is just starting may never greet back.
_GREETING = {"connection_timeout": 10, "connection_acquisition_timeout": 20}
_SILENT = logging.NullHandler()
_COMPONENTS = "CALL dbms.components() YIELD versions, edition RETURN versions[0] AS version, edition"


class Server:
    """A server that answers. All queries run in transactions that the driver tries again while the server is away.

    Threads may share it: each has a driver of its own, and a query sees what those before it have written. One driver
    for all would hand the connection of a query that failed to the next thread while the first still reads from it.
    """

    def __init__(self, driver: Callable[[], Driver], database: str | None = None):
        """``driver`` makes one, and closes it when it is time."""
        self._new_driver, self._database, self._own = driver, database, threading.local()
        self._seen = driver_package().GraphDatabase.bookmark_manager()

    @property
    def agent(self) -> str:
        """What it calls itself."""
        return self._driver.get_server_info().agent

    def read(self, query: str, **parameters: object) -> list[dict]:
        """The rows of one query that changes nothing."""
        with self._session() as session:
            return session.execute_read(lambda transaction: transaction.run(query, parameters).data())

    def described(self) -> str:
        """Its name, version and edition."""
        try:
            [found] = self.read(_COMPONENTS)
        except driver_package().exceptions.ClientError:  # other servers that speak Bolt need not know of components
            return self.agent
        return "Neo4j {version} {edition}".format(**found)

    def write(self, query: str, **parameters: object) -> bool:
        """Run one query in a transaction; gives whether it ran: not if a constraint refuses what is there already."""
        try:
            with self._session() as session:
                session.execute_write(lambda transaction: transaction.run(query, parameters).consume())
        except driver_package().exceptions.ConstraintError:
            return False
        return True

    def define(self, *statements: str) -> None:
        """Make the constraints and indexes that are not there yet, each ``CREATE … name IF NOT EXISTS …``."""
        try:
            there = {row["name"] for row in self.read("SHOW INDEXES YIELD name RETURN name")}
        except driver_package().exceptions.ClientError:  # other servers that speak Bolt need not know of it
            there = set()
        for statement in statements:  # servers want each in a transaction of its own
            if not {*re.findall(r"(\w+) IF NOT EXISTS", statement)} & there:
                with self._session() as session:
                    session.run(statement).consume()

    @property
    def _driver(self) -> Driver:
        """The driver of this thread."""
        if not hasattr(self._own, "driver"):
            self._own.driver = self._new_driver()
        return self._own.driver

    def _session(self) -> Session:
        return self._driver.session(database=self._database, bookmark_manager=self._seen)


@contextmanager
def connect(patience: float, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """The server that the environment names; a transaction is tried again for ``patience`` seconds.

    Whatever goes wrong with the server inside the block becomes one :class:`InputError`.
    """
    environment = os.environ if environment is None else environment
    neo4j = driver_package()
    uri, user = environment.get(URI), environment.get(USER, "neo4j")
    if not uri or PASSWORD not in environment:
        raise InputError(
            f"the neo4j backend needs {URI} and {PASSWORD} in the environment: set them, or give "
            "neo4j.command in the config to have a server started."
        )
    where = _host_and_port(uri)
    errors = neo4j.exceptions
    try:
        options = {"max_transaction_retry_time": patience, "notifications_min_severity": "OFF", **_GREETING}
        with ExitStack() as open_until_then:
            new = partial(neo4j.GraphDatabase.driver, uri, auth=(user, environment[PASSWORD]), **options)
            server = Server(lambda: open_until_then.enter_context(new()), environment.get(DATABASE) or None)
            _check_version(server.agent, where)
            yield server
    except errors.ConfigurationError as error:
        raise InputError(
            f"{URI} is no address of a Bolt server ({_first_line(error)}): write it like bolt://localhost:7687."
        ) from None
    except errors.AuthError:
        raise InputError(f"the Neo4j server at {where} refuses {user}: correct {USER} and {PASSWORD}.") from None
    except (errors.DriverError, errors.TransientError) as error:
        if "certificate" in _reason(neo4j, uri, error).lower():
            raise InputError(
                f"the certificate of the Neo4j server at {where} is not trusted: name its authority's file by "
                f"SSL_CERT_FILE or, if you know the server, write {URI} with +ssc, as in bolt+ssc://localhost:7687."
            ) from None
        raise InputError(
            f"the Neo4j server at {where} does not answer ({_first_line(error)}): start it or correct {URI}, {AGAIN}."
        ) from None
    except errors.Neo4jError as error:
        if re.search("Forbidden|ReadOnly", str(error.code)):
            raise InputError(
                f"the Neo4j server at {where} does not let {user} do what is needed ({_first_line(error)}): load the "
                "graph as a user who may write and make indexes; whoever may read can search it then."
            ) from None
        if str(error.code).endswith("DatabaseNotFound"):
            raise InputError(
                f"the Neo4j server at {where} has no database {environment.get(DATABASE)}: correct {DATABASE}, or "
                "unset it for the server's default."
            ) from None
        raise InputError(f"the Neo4j server at {where} refused a query ({error.code}: {_first_line(error)}).") from None


def driver_package() -> ModuleType:
    """The driver, which need not be installed."""
    try:
        import neo4j
        import neo4j.exceptions
    except ModuleNotFoundError:
        raise InputError("the neo4j backend needs the driver: pip install 'compvqa[graph]'.") from None
    logging.getLogger("neo4j").addHandler(_SILENT)  # it logs what becomes an error here
    return neo4j


def _check_version(agent: str, where: str) -> None:
    """Refuse a Neo4j that is too old by what it calls itself, such as Neo4j/5.26.30."""
    if (told := re.fullmatch(r"Neo4j/(\d+)\.(\d+).*", agent)) and (int(told[1]), int(told[2])) < OLDEST:
        raise InputError(
            f"the server at {where} is {agent}, and compvqa asks for Neo4j {OLDEST[0]}.{OLDEST[1]} or newer: update "
            f"it, or name another by {URI}."
        )


def _reason(neo4j: ModuleType, uri: str, error: BaseException | None) -> str:
    """The messages of an error and of what caused it; where the scheme neo4j does not tell that, bolt does."""
    if uri.startswith("neo4j+s:"):
        try:
            with neo4j.GraphDatabase.driver(f"bolt{uri.removeprefix('neo4j')}", **_GREETING) as driver:
                driver.verify_connectivity()
        except neo4j.exceptions.GqlError as other:
            error = other
    return f"{error} {_reason(neo4j, '', error.__cause__ or error.__context__)}" if error else ""


def _host_and_port(uri: str) -> str:
    """Host and port of ``uri``, without what else it may hold; refuses what names no Bolt server."""
    try:
        parts = urlsplit(uri)
        if parts.scheme.partition("+")[0] in ("bolt", "neo4j") and parts.hostname:
            return f"{parts.hostname}:{parts.port or 7687}"
    except ValueError:  # the port is no number
        pass
    raise InputError(f"{URI} is no address of a Bolt server: write it like bolt://localhost:7687.")


def _first_line(error: Exception) -> str:
    message = error.message if isinstance(error, driver_package().exceptions.Neo4jError) else str(error)
    return message.splitlines()[0].rstrip(":. ") if message else type(error).__name__
