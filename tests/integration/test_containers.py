"""The images' definitions, built in a Debian root: their %post installs what is pinned, and their %test passes.

Minutes long, and it needs root and a network: `make containers-test` runs it.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.definitions import Debian, sections, why_not

pytestmark = [
    pytest.mark.skipif("COMPVQA_CONTAINERS" not in os.environ, reason="takes minutes: make containers-test runs it"),
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "it can be run"),
]
SIZE = '{"train_scenes": 3, "val_scenes": 3, "encoder_scenes": 3, "calibration_scenes": 3}'


@pytest.fixture
def built(root, tmp_path, request) -> Iterator[tuple[Debian, dict[str, str]]]:
    """A root in which a definition's %post has run, and the definition's sections."""
    parts = sections(root / f"containers/{request.param}.def")
    debian = Debian.made(tmp_path / "root")
    debian.copy(parts["files"], root)
    done = debian.run(parts["post"])
    assert done.returncode == 0, done.stdout[-4000:]
    yield debian, parts
    shutil.rmtree(debian.folder)  # gigabytes


def files(folder: Path) -> dict[str, bytes]:
    """The content of the pictures and annotations of a drawn world."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".prov.json")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize("built", ["cpu"], indirect=True)
def test_the_cpu_image_has_its_pins_and_makes_what_this_machine_makes(built, root, tmp_path):
    debian, parts = built
    done = debian.run(parts["test"], parts["environment"])
    assert done.returncode == 0 and "No broken requirements found" in done.stdout, done.stdout[-4000:]
    # As Snakemake runs a job in it: the checkout is bound, nothing else of the host is.
    package = root / "workflow"
    stage = ["-m", "compvqa", "sprites", "--config", str(SIZE)]
    script = f"export PYTHONPATH={package}; {shlex.join(['python', *stage, '/tmp/world'])}"
    done = debian.run(script, parts["environment"], bound=(root,))
    assert done.returncode == 0, done.stdout[-4000:]
    here, environment = tmp_path / "world", os.environ | {"PYTHONPATH": str(package)}
    subprocess.run([sys.executable, *stage, here], env=environment, check=True)
    assert len(files(here)) > 12 and files(debian.folder / "tmp/world") == files(here)


@pytest.mark.parametrize("built", ["gpu"], indirect=True)
def test_the_gpu_image_has_its_pins_and_refuses_a_torch_without_cuda(built):
    debian, parts = built
    done = debian.run(parts["test"], parts["environment"])
    assert "No broken requirements found" in done.stdout, done.stdout[-4000:]
    without = "this build of torch has no CUDA" in done.stdout
    assert (done.returncode == 1) if without else (done.returncode == 0), done.stdout[-4000:]


@pytest.mark.parametrize("built", ["neo4j"], indirect=True)
def test_the_neo4j_image_has_its_pins_and_java_and_lacks_the_server_that_another_image_brings(built):
    debian, parts = built
    done = debian.run(parts["test"], parts["environment"])
    assert "No broken requirements found" in done.stdout and 'openjdk version "17.' in done.stdout, done.stdout[-4000:]
    assert done.returncode == 127 and "neo4j: not found" in done.stdout, done.stdout[-4000:]
