"""What git knows of the workflow's folder: the commit that is checked out, and whether anything in it was changed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def state(project: Path) -> dict[str, object]:
    """``commit`` and ``clean``: whether no file was changed or added that git minds; or ``commit`` None and ``why``."""
    if not (project / ".git").exists():
        return _unknown("the workflow's folder is no git repository")
    try:
        return {"commit": _git(project, "rev-parse", "HEAD"), "clean": not _git(project, "status", "--porcelain")}
    except FileNotFoundError:
        return _unknown("git is not installed")
    except subprocess.CalledProcessError as error:
        return _unknown(f"git says: {(error.stderr.strip().splitlines() or ['nothing'])[0]}")


def told(state: dict) -> str:
    """:func:`state` in words."""
    if state["commit"] is None:
        return f"no commit that is known ({state['why']})"
    return f"commit {state['commit'][:12]} ({'clean' if state['clean'] else 'with changes that were not committed'})"


def _unknown(why: str) -> dict[str, object]:
    return {"commit": None, "why": why}


def _git(project: Path, *arguments: str) -> str:
    """What git prints; it takes no lock, and no repository but that of the folder."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(project), *arguments],
        env=environment | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
