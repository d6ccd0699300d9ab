"""Training in several processes that share the work, one a GPU, or on the processor (data parallel, torch's DDP).

Each process works through its part of every batch, and gradients are averaged. Process 0 alone writes.
"""

from __future__ import annotations

import os
import queue
import socket
from collections.abc import Callable

import torch
from torch import distributed, multiprocessing
from torch.multiprocessing.spawn import ProcessException

from compvqa import tables
from compvqa.errors import InputError

Counts = dict[str, int]


def count() -> int:
    """The number of processes that share this training."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def number() -> int:
    """The number of this process, from 0."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def is_first() -> bool:
    """Whether this process is the one that writes."""
    return number() == 0


def share(n: int, work: Callable[..., Counts], *arguments: object) -> Counts:
    """What ``work(*arguments)`` gives in the first of ``n`` new processes that run it together; for one, here.

    ``work`` and its arguments are pickled. Where one process fails, all are ended, and an :class:`InputError` of its is
    raised here. There must be a GPU for each, or none at all: then they share the processor (gloo).
    """
    if n == 1:
        return work(*arguments)
    gpus = torch.cuda.device_count()
    if 0 < gpus < n:
        raise InputError(
            f"{n} processes are to share the training, but only {gpus} GPUs are visible: ask for {n} GPUs."
        )
    told = multiprocessing.get_context("spawn").SimpleQueue()
    given = (n, _free_port(), tables.running(), told, work, arguments)
    try:
        multiprocessing.start_processes(_one, given, n, start_method="spawn")
    except ProcessException:
        if told.empty():
            raise
    kind, found = told.get()
    if kind == "refused":
        raise InputError(found)
    return found


def _one(number: int, n: int, port: int, recipe: str, told: queue.Queue, work: Callable, arguments: tuple) -> None:
    """Be the process ``number`` of ``n``."""
    os.environ |= {"RANK": str(number), "LOCAL_RANK": str(number), "WORLD_SIZE": str(n), "LOCAL_WORLD_SIZE": str(n)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # else accelerate sets another number; the settings say theirs later
    if torch.cuda.is_available():
        torch.cuda.set_device(number)
    distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        with tables.recipe(recipe):
            found = work(*arguments)
    except InputError as error:
        told.put(("refused", str(error)))
        raise
    if number == 0:
        told.put(("done", found))
    distributed.destroy_process_group()


def _free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
