"""A disk with little room: a file system of its own in memory, or, where nothing can be mounted, a limit on files."""

from __future__ import annotations

import resource
import shutil
import subprocess
from pathlib import Path

PAGE = 4096
LARGE = 1 << 28


class SmallDisk:
    """``folder`` with room for ``spare`` bytes beside what it holds, while the context lasts."""

    def __init__(self, folder: Path, spare: int):
        self.folder, self.spare = folder, spare
        self.aside = folder.with_name(f"{folder.name}-aside")
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def __enter__(self) -> SmallDisk:
        self.folder.rename(self.aside)
        self.folder.mkdir()
        self.mounted = _mount("-t", "tmpfs", "-o", f"size={LARGE}", "tmpfs", str(self.folder))
        shutil.copytree(self.aside, self.folder, symlinks=True, dirs_exist_ok=True)
        if self.mounted:
            used = shutil.disk_usage(self.folder).used
            self._resize(used + -(-self.spare // PAGE) * PAGE)
        else:  # no file may grow beyond it; processes started here inherit that
            resource.setrlimit(resource.RLIMIT_FSIZE, (max(self.spare, 1 << 15), self.before[1]))
        return self

    def enlarge(self) -> None:
        """Give it room enough."""
        if self.mounted:
            self._resize(LARGE)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, self.before)

    def _resize(self, size: int) -> None:
        assert _mount("-o", f"remount,size={size}", str(self.folder)), "a small disk could not be resized"

    def __exit__(self, *_: object) -> None:
        if self.mounted:
            subprocess.run(["umount", str(self.folder)], check=True)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


def _mount(*arguments: str) -> bool:
    if shutil.which("mount") is None:
        return False
    return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0
