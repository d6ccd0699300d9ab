"""Snakemake's scheduler looks at the ready jobs once a second, and not once more for each job that has ended."""

import threading
import time
from types import SimpleNamespace

from snakemake.scheduling.job_scheduler import JobScheduler

from one_clock import with_one_clock


def test_while_a_clock_runs_no_other_is_set():
    scheduler = SimpleNamespace(_open_jobs=threading.Semaphore(0), _schedule_reevalutation=None)
    with_one_clock(scheduler)
    for _ in range(2):
        for _ in range(50):
            scheduler._schedule_reevalutation(0.05)
        assert scheduler._open_jobs.acquire(timeout=10)
        time.sleep(0.2)
        assert not scheduler._open_jobs.acquire(blocking=False)


def test_snakemake_still_sets_clocks_by_what_is_mended():
    assert hasattr(JobScheduler, "_schedule_reevalutation")


def test_a_scheduler_that_sets_no_clocks_is_left_as_it_is():
    scheduler = SimpleNamespace()
    with_one_clock(scheduler)
    assert vars(scheduler) == {}
