"""How many requests a second inspect_ai makes of a model that answers after a second, beside a bare client of asyncio.

    python benchmarks/asking.py FOLDER --questions 240 --connections 16

Two thirds of the questions, with their pictures, are asked of a server on loopback, which counts from the first request
that comes to the last that is answered: what starting takes is left out. The bare client sends the same bodies again.
It needs what `make inspect` sets up.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from measure import print_table  # noqa: E402

from fixtures.asked import Bed, in_words  # noqa: E402  (the tests' bed and server)
from fixtures.chat_protocols import Question  # noqa: E402
from fixtures.chat_server import Chat, serving  # noqa: E402


class Timed(Chat):
    """A server that knows when the first request came and the last was answered, and keeps their bodies."""

    def __init__(self, answer, delay: float):
        super().__init__(self._timed, delay=delay)
        self.said, self.first, self.last, self.count = answer, 0.0, 0.0, 0

    def _timed(self, question: Question) -> str:
        """Called once a request, after the delay."""
        self.last = time.monotonic()
        self.first = self.first or self.last - self.delay
        self.count += 1
        return self.said(question)

    def rate(self) -> float:
        """Requests a second since the first one; it counts anew then."""
        found = self.count / (self.last - self.first)
        self.first, self.count = 0.0, 0
        return found


async def bare(url: str, bodies: list[bytes], connections: int) -> None:
    """Send the bodies, so many at a time, each connection used again."""
    at, queue = urlsplit(url), asyncio.Queue()
    for body in bodies:
        queue.put_nowait(body)

    async def worker() -> None:
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        while not queue.empty():
            body = queue.get_nowait()
            writer.write(
                f"POST {at.path}/chat/completions HTTP/1.1\r\nhost: {at.netloc}\r\nauthorization: Bearer none\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
                + body
            )
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
        writer.close()

    await asyncio.gather(*(worker() for _ in range(connections)))


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--questions", type=int, default=240)
    options.add_argument("--connections", type=int, default=16)
    options.add_argument("--delay", type=float, default=1.0)
    given = options.parse_args()
    bed = Bed(given.folder, questions=given.questions)
    truth = bed.truth()  # made once: the server shall cost little beside what it measures
    with serving(Timed(lambda asked: in_words(truth[asked.text.splitlines()[0], asked.pictures]), given.delay)) as chat:
        done = bed.ask(chat.url, connections=given.connections, timeout=60)
        if done.returncode:
            raise SystemExit(done.stderr)
        asked, bodies = chat.rate(), list(chat.bodies)
        asyncio.run(bare(chat.url, bodies, given.connections))
        rates = {"inspect_ai": asked, "asyncio": chat.rate()}
    rows = [[name, f"{rate:.2f}", f"{100 * rate / rates['asyncio']:.0f} %"] for name, rate in rates.items()]
    print_table([f"{len(bodies)} requests, {given.connections} at a time", "a second", "of asyncio's"], rows)


if __name__ == "__main__":
    main()
