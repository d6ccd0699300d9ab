"""Folders for what a run needs on disk only while it lasts; a killed run's are cleared by the next one."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path


@contextmanager
def scratch_folder(parent: Path | str, kind: str) -> Iterator[Path]:
    """A new hidden folder in ``parent`` for one ``kind`` of work, which goes at the end.

    Those of the same kind go as well whose process on this machine has ended without removing them.
    """
    parent = Path(parent)
    parent.mkdir(parents=True, exist_ok=True)
    mine = f".{kind}.{platform.node()}."
    for left in parent.glob(f"{escape(mine)}*"):
        if not _runs(left.name.removeprefix(mine).partition(".")[0]):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{mine}{os.getpid()}.", dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def clear_temporaries(outputs: Iterable[Path]) -> None:
    """Remove what killed runs left of files that they were about to put in the place of ``outputs``."""
    for path in outputs:
        for left in path.parent.glob(f".{escape(path.name)}.*.tmp"):
            left.unlink(missing_ok=True)


def _runs(pid: str) -> bool:
    """Whether a process has this number here that has not ended; what is no number is let be.

    A killed one keeps its number until its parent asks how it ended, which the first process of a container may never
    do.
    """
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OSError, OverflowError):
        return True
    with suppress(OSError):  # a system without /proc
        return Path(f"/proc/{int(pid)}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    return True
