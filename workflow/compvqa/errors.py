"""The one kind of error a user is meant to read, and a full disk told as one."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

_FULL = {errno.ENOSPC: "no space left on device", errno.EDQUOT: "disk quota exceeded", errno.EFBIG: "file too large"}
_TORCH = ("iostream error", "file write failed")  # all that torch.save tells of it


class InputError(Exception):
    """Something the user gave is wrong: the message says what, where, and what to do, in one sentence.

    The command line prints the message without a stack trace and exits with status 1.
    """


def disk_full(error: BaseException, path: Path | str | None = None) -> InputError | None:
    """What to tell where ``error`` came of a full disk while ``path`` was written; None where it came of another cause.

    Libraries tell it in errors of their own kinds (DuckDB, torch, safetensors), so that the text counts as well.
    """
    for cause in _causes(error):
        text = " ".join(str(cause).split())
        met = [why for number, why in _FULL.items() if getattr(cause, "errno", None) == number or why in text.lower()]
        met += [_FULL[errno.ENOSPC] for told in _TORCH if told in text]
        if met:
            what = path or getattr(cause, "filename", None) or f"something ({text[:200]})"
            return InputError(f"{what} could not be written: {met[0]}; make room and run again.")
    return None


def not_allowed(error: BaseException) -> InputError | None:
    """What to tell where ``error`` is that we may not open or write a file; None where it is something else."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            why = (cause.strerror or "not permitted").lower()
            return InputError(f"{cause.filename or 'a file'} may not be used so ({why}): change its permissions.")
    return None


def not_installed(error: BaseException) -> InputError | None:
    """What to tell where ``error`` is that a package of others is missing; None where it is something else."""
    if not isinstance(error, ModuleNotFoundError) or not error.name or error.name.split(".")[0] == "compvqa":
        return None
    package = error.name.split(".")[0]
    return InputError(f"the package {package} is not installed here: pip install 'compvqa[all]' has all that is used.")


def not_python(error: SyntaxError, path: Path | str | None = None) -> InputError:
    """What to tell of a file of Python that is none (``path``, or the one that ``error`` names)."""
    return InputError(
        f"{path or error.filename}, line {error.lineno or 1}, is not valid Python ({error.msg}): correct it."
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
