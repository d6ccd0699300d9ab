"""A server on this machine that sends a part of a file and then nothing, until it is told to go on."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from compvqa.scenes.download import Download


class Stalling:
    """What is served, how much of it before the stall, and from which bytes it was asked for."""

    target = "resources/stalling/stalled.dat"

    def __init__(self, draw: random.Random):
        self.content = draw.randbytes(300_000)
        self.part = (1 << 16) * draw.randrange(1, 4)  # whole blocks, as a download keeps them
        self.stalls, self.asked, self.port = True, [], 0
        self.ended = threading.Event()

    def line(self) -> str:
        """Its line in a list of downloads."""
        digest = hashlib.sha256(self.content).hexdigest()
        url = f"http://127.0.0.1:{self.port}/stalled.dat"
        row = Download("stalling", "stalled.dat", url, "1", digest, "MIT", str(len(self.content)), "")
        return "\t".join(astuple(row)) + "\n"


@contextmanager
def served(draw: random.Random) -> Iterator[Stalling]:
    """A running server; it ends with the context."""
    state = Stalling(draw)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            start = int(self.headers.get("Range", "bytes=0-")[6:].rstrip("-"))
            state.asked.append(start)
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(state.content) - 1}/{len(state.content)}")
            self.send_header("Content-Length", str(len(state.content) - start))
            self.end_headers()
            self.wfile.write(state.content[start : state.part if state.stalls else None])
            self.wfile.flush()
            if state.stalls:
                state.ended.wait(60)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        state.ended.set()
        server.shutdown()
        server.server_close()
