"""The CSV export of scene graphs and its import.sh, which runs from any folder; tests/integration has the import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compvqa.covr.subgraphs.search.neo4j.export import FILES, export, file_names
from compvqa.errors import InputError
from compvqa.scenes.graph import Object, SceneGraph
from unit.covr.subgraphs.graph_worlds import write_scenes

# Without a neo4j-admin, which would go before that of NEO4J_HOME
PATH = os.pathsep.join(
    folder for folder in os.environ["PATH"].split(os.pathsep) if not Path(folder, "neo4j-admin").exists()
)
ADMIN = '#!/bin/sh\npwd\nprintf "%s\\n" "$@"\n'  # says where it was run, and with what


def write(folder, **changed):
    """Scene tables of one object."""
    thing = Object(**{"object_id": "0", "name": "man", "attributes": {"red": None}} | changed)
    return write_scenes(folder, [SceneGraph("s:0", {"0": thing})], lambda _: "train")


@pytest.fixture
def exported(tmp_path):
    """An export in a folder whose name is not plain."""
    folder = tmp_path / "-a 'b'\n$c"
    folder.mkdir()
    assert export(write(tmp_path / "scenes"), folder, 10)["Object"] == 1
    assert sorted(path.name for path in folder.iterdir()) == sorted(file_names())
    return folder


def run(exported, *arguments, **environment):
    """What import.sh says when it is run from elsewhere with a neo4j-admin that only tells its arguments."""
    home = exported.parent / "home"
    (home / "bin").mkdir(parents=True, exist_ok=True)
    (home / "bin/neo4j-admin").write_text(ADMIN)
    (home / "bin/neo4j-admin").chmod(0o755)
    variables = {"PATH": PATH, "CDPATH": "/", "NEO4J_HOME": str(home)} | environment
    command = [str(exported / "import.sh"), *arguments]
    return subprocess.run(command, cwd="/", env=variables, capture_output=True, text=True)


def test_import_runs_from_any_folder_in_its_own(exported):
    done = run(exported)
    told = done.stdout.removeprefix(f"{exported}\n").splitlines()
    assert done.returncode == 0 and told[:4] == ["database", "import", "full", "neo4j"]
    named = [word.partition("=")[2].partition("=")[::2] for word in told if word.startswith(("--nodes", "--relat"))]
    assert named == [(label, f"{label.lower()}.csv") for label in FILES]
    assert "python -m compvqa load-neo4j --scenes" in done.stdout and "--overwrite-destination" not in told


def test_import_replaces_a_database_on_request(exported):
    told = run(exported, "--overwrite-destination", "other").stdout.splitlines()
    assert "other" in told and "--overwrite-destination" in told


@pytest.mark.parametrize(
    ("arguments", "environment", "told"),
    [
        (["--overwrite"], {}, "import.sh: there is no option --overwrite: .* give --overwrite-destination"),
        ([], {"NEO4J_HOME": "/nowhere"}, "import.sh: there is no neo4j-admin on PATH, nor in .* NEO4J_HOME"),
        ([], {"NEO4J_HOME": ""}, "import.sh: there is no neo4j-admin on PATH, nor in .* NEO4J_HOME"),
    ],
)
def test_import_says_in_a_sentence_what_it_lacks(exported, arguments, environment, told):
    done = run(exported, *arguments, **environment)
    assert done.returncode and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    with pytest.raises(InputError, match=told):
        raise InputError(done.stderr)


def test_import_fails_if_neo4j_admin_does(exported):
    broken = exported.parent / "broken/bin"
    broken.mkdir(parents=True)
    (broken / "neo4j-admin").write_text("#!/bin/sh\nexit 3\n")
    (broken / "neo4j-admin").chmod(0o755)
    done = run(exported, NEO4J_HOME=str(broken.parent))
    assert done.returncode == 3 and "Next" not in done.stdout


def test_import_is_a_clean_shell_script(exported):
    subprocess.run(["bash", "-n", exported / "import.sh"], check=True)
    subprocess.run([Path(sys.executable).with_name("shellcheck"), exported / "import.sh"], check=True)


@pytest.mark.parametrize(
    "changed",
    [{"name": ""}, {"attributes": {"a\x1fb": None}}, {"attributes": {"": None}}, {"attributes": {"a": "\x1f"}}],
)
def test_what_the_import_would_change_is_refused(tmp_path, changed):
    with pytest.raises(InputError, match="scenes holds .* would not import as it is: load the graph by load-neo4j"):
        export(write(tmp_path / "scenes", **changed), tmp_path / "csv", 10)
