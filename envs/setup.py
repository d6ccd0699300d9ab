"""Set up the environment that `make` uses: a virtual environment with what a lock names, installed by uv.

    python3 envs/setup.py .venv            # requirements.lock, the package itself, and a PyTorch that works here
    python3 envs/setup.py .venv --dev      # what requirements-dev.lock has besides
    python3 envs/setup.py .venv-inspect --lock requirements-inspect.lock    # what this lock names, and nothing else

PyTorch on PyPI is built for NVIDIA's GPUs and brings CUDA, gigabytes. Without an NVIDIA driver its CPU build is taken
instead, where one is in reach: in a folder that pip is told of (find-links), or on PyTorch's own index. TORCH in the
environment overrides this: `cpu`, `cuda` or `auto`. Packages come from PyPI, or from the mirror that UV_DEFAULT_INDEX
or pip's index-url names. Needs Python's standard library alone; what was installed before stays, so that a set-up that
failed goes on.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = "0.13.9"
OLDEST = (3, 11)
COMPLETE, SMALL, ALONE = "complete", "small", "a lock alone"
# Of the environment on Linux, measured: GB to download, GB installed, and how long on a fast line.
SIZES = {COMPLETE: (3.0, 5.4, "half a minute"), SMALL: (0.5, 1.6, "a few seconds"), ALONE: (0.2, 0.9, "a few seconds")}
WHOLE_LOCK = {COMPLETE: [], SMALL: ["--excludes", "envs/accelerator.txt"]}
TENSOR = "import torch; assert torch.ones(2).sum().item() == 2; print(torch.__version__)"


class SetupError(Exception):
    """What went wrong and what to do, in one sentence."""


def main(arguments=None):
    """Set up, or end with one sentence on standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the virtual environment; made where there is none")
    parser.add_argument("--dev", action="store_true", help="install what the tests need besides, into an environment")
    parser.add_argument("--lock", help="install what this lock names, and nothing else, into an environment of its own")
    given = parser.parse_args(arguments)
    folder = given.folder.absolute()
    try:
        if given.dev:
            Environment(folder).install_lock("requirements-dev.lock", WHOLE_LOCK[SMALL])
        elif given.lock:
            prepare(folder, SIZES[ALONE][1]).install_lock(given.lock, [])
        else:
            set_up(folder, os.environ.get("TORCH") or "auto")
    except SetupError as error:
        sys.exit(f"set-up: {error}")


def set_up(folder, wanted):
    """Make or complete the environment in ``folder``; ``wanted``: auto, cpu or cuda."""
    if wanted not in ("auto", "cpu", "cuda"):
        raise SetupError(f"TORCH is {wanted!r}: set it to cpu, cuda or auto.")
    environment = prepare(folder, SIZES[SMALL][1])
    version = locked_torch()
    small, why = choose_build(environment, version, wanted)
    build = SMALL if small else COMPLETE
    download, installed, time = SIZES[build]
    print(
        f"set-up: PyTorch {version}, {'CPU build' if small else 'the build on PyPI'} ({why}); in all about "
        f"{download} GB to download, {installed} GB on disk, {time} on a fast line",
        flush=True,
    )
    require_space(folder, installed)
    environment.install_lock("requirements.lock", WHOLE_LOCK[build])
    if small:
        environment.uv(*small, what="PyTorch's CPU build")
    environment.uv("--no-deps", "--no-build-isolation", "--editable", ".", what="compvqa itself")
    check_torch(environment)


def prepare(folder, needed):
    """The environment in ``folder``, with uv and nothing else where there was none; it is to hold ``needed`` GB."""
    if sys.version_info < OLDEST:
        raise SetupError(
            f"needs Python 3.11 or later, this is {platform.python_version()}: "
            "name another, as in `make PYTHON=python3.12 demo`."
        )
    if shutil.which(str(folder / "bin/pip")) is None:
        make_environment(folder)
    require_space(folder, needed)
    environment = Environment(folder)
    environment.install_uv()
    return environment


def make_environment(folder):
    """A virtual environment with pip."""
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True, text=True)
    if made.returncode:
        said = (made.stdout + made.stderr).strip().splitlines() or ["no reason given"]
        if "ensurepip" in made.stdout + made.stderr:
            raise SetupError(
                "Python lacks venv or ensurepip: install them (Debian: apt install python3-venv), run make again."
            )
        raise SetupError(f"no environment can be made in {folder} ({said[-1]}): make room, or the folder writable.")


def locked_torch():
    """The version of PyTorch in the lock."""
    return re.search(r"^torch==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)[1]


def choose_build(environment, version, wanted):
    """How uv gets the CPU build, where it serves and can be had (else nothing: the lock has PyPI's), and why."""
    if wanted == "cuda":
        return [], "TORCH=cuda asks for it"
    if wanted == "auto" and platform.system() != "Linux":
        return [], "it has no CUDA on this system"
    if wanted == "auto" and (shutil.which("nvidia-smi") or Path("/proc/driver/nvidia/version").exists()):
        return [], "there is an NVIDIA driver"
    why = "TORCH=cpu asks for it" if wanted == "cpu" else "no NVIDIA driver"
    named = ["--no-deps", f"torch=={version}+cpu"]
    folders = [f"--find-links={folder}" for folder in environment.pip_settings.get("find-links", "").split()]
    if folders and environment.finds("--no-index", *folders, *named):
        return ["--no-index", *folders, *named], f"{why}; from a folder that pip is told of"
    if environment.finds("--torch-backend=cpu", *named):
        return ["--torch-backend=cpu", *named], f"{why}; from PyTorch's index"
    if wanted == "cpu":
        raise SetupError(
            f"no CPU build of torch {version} is in reach: put its wheel into a folder and name that by "
            "PIP_FIND_LINKS, or leave TORCH out to take the complete build from PyPI."
        )
    return [], "no NVIDIA driver, but no CPU build is in reach: PIP_FIND_LINKS can name a folder with its wheel"


def require_space(folder, needed):
    """Refuse to begin what can't fit: ``needed`` GB in all, less what is there."""
    there = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e9
    free = shutil.disk_usage(folder).free / 1e9
    if free < needed - there:
        raise SetupError(
            f"{folder} needs {needed - there:.1f} GB more and its disk has {free:.1f} GB free: make room, or name "
            "another folder, as in `make VENV=/a/larger/disk/venv demo`."
        )


def check_torch(environment):
    """Whether PyTorch can be imported and computes."""
    done = subprocess.run([environment.python, "-c", TENSOR], capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise SetupError(
            f"PyTorch was installed but does not work here ({last}): delete {environment.folder} and try "
            "`make TORCH=cpu demo`, or `make TORCH=cuda demo`."
        )
    print(f"set-up: PyTorch {done.stdout.strip()} works", flush=True)


class Environment:
    """A virtual environment, and how packages get into it."""

    def __init__(self, folder):
        self.folder, self.python = folder, str(folder / "bin/python")
        self.pip_settings = settings_of_pip(self.python)
        handed = {"UV_DEFAULT_INDEX": "index-url", "SSL_CERT_FILE": "cert"}  # uv reads no settings of pip's
        found = {name: self.pip_settings[key] for name, key in handed.items() if key in self.pip_settings}
        self._environ = {**found, **os.environ}

    def install_uv(self):
        """Put the one version of uv into it."""
        asked = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"uv=={UV}"]
        if "UV_DEFAULT_INDEX" in os.environ:
            asked += ["--index-url", os.environ["UV_DEFAULT_INDEX"]]
        if subprocess.run(asked).returncode:
            raise SetupError(
                f"pip could not install uv {UV} (see above): check the network, or name a mirror by PIP_INDEX_URL; "
                "then run make again."
            )

    def install_lock(self, lock, options):
        """All that a lock names, each file checked by its hash."""
        self.uv("--no-deps", "--require-hashes", "--requirements", lock, *options, what=lock)

    def uv(self, *arguments, what):
        """Install, with uv's own progress."""
        if self._run(*arguments).returncode:
            raise SetupError(
                f"{what} could not be installed (uv says why, above): make room or check the network (PIP_INDEX_URL "
                "names a mirror), then run make again, which goes on from here."
            )

    def finds(self, *arguments):
        """Whether uv could install what these arguments name; does not wait long for an index that is out of reach."""
        quick = {"UV_HTTP_RETRIES": "0", "UV_HTTP_CONNECT_TIMEOUT": "10"}
        return self._run("--dry-run", *arguments, capture_output=True, quick=quick).returncode == 0

    def _run(self, *arguments, quick=None, **options):
        command = [str(self.folder / "bin/uv"), "pip", "install", "--no-config", "--python", self.python, *arguments]
        return subprocess.run(command, cwd=ROOT, env={**self._environ, **(quick or {})}, **options)


def settings_of_pip(python):
    """What pip is told by its files and by PIP_… in the environment, which wins: values by key."""
    listed = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    found = re.findall(r"^(\S+)\.([\w-]+)='(.*)'$", listed, re.MULTILINE)
    return {key: value for where, key, value in sorted(found, key=lambda row: row[0] == ":env:")}


if __name__ == "__main__":
    main()
