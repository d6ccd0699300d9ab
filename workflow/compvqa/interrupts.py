"""Ctrl-C, pressed again while a run ends."""

from __future__ import annotations

import signal
import sys
import threading

_PATIENCE = "compvqa: the run is ending its jobs already: wait, or end it by kill -9, after which --unlock is needed.\n"


def be_patient() -> None:
    """From now on the first SIGINT is a ``KeyboardInterrupt``, as always, and each further one a sentence.

    Raised again inside of what the first one started, it would leave jobs behind, and a stack trace.
    """

    def first(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, again)
        raise KeyboardInterrupt

    def again(number: int, frame: object) -> None:
        sys.stderr.write(_PATIENCE)

    if threading.current_thread() is threading.main_thread():  # no other may set it
        signal.signal(signal.SIGINT, first)
