"""A mend of Snakemake's scheduler, which looks at all ready jobs again every second, once for each job that has ended.

Each look of it sets a clock for the next (so that jobs that a limit of jobs a second held back are started), besides
the looks that jobs which end bring about: of 350 that had ended half a core went into looking. Here one clock runs.
"""

from __future__ import annotations

import threading
from typing import Any


def with_one_clock(scheduler: Any) -> None:
    """Have a scheduler of Snakemake set no clock while one runs; one that sets none is left as it is."""
    running: list[threading.Timer] = []

    def ring() -> None:
        running.clear()
        scheduler._open_jobs.release()

    def again(delay: float) -> None:
        if not running:
            running.append(threading.Timer(delay, ring))
            running[0].start()

    if hasattr(scheduler, "_schedule_reevalutation"):
        scheduler._schedule_reevalutation = again
