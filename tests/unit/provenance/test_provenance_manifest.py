"""A manifest names each file and record of a run, what it was made with, and what git knows; equal runs are told so."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from compvqa.errors import InputError
from compvqa.provenance.checkout import state, told
from compvqa.provenance.manifest import MANIFEST, ManifestSettings, read_manifest, write_manifest
from compvqa.records.record import sha256
from fixtures.small_run import GATHERED, RAW, SHARDS, SPLIT, run_all

BED = Path("results/bed")


@pytest.fixture(autouse=True)
def run(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run_all()
    return tmp_path


def written(**settings) -> dict:
    write_manifest(BED, Path("."), ManifestSettings(**settings))
    return json.loads((BED / MANIFEST).read_text())


def test_it_has_every_file_and_record_and_what_was_given():
    data = written(temporary=("results/*/read/*.parquet",))
    assert {path: about["sha256"] for path, about in data["files"].items()} == {
        path: sha256(Path(path)) for path in (GATHERED, *SHARDS, SPLIT)
    }
    assert [path for path, about in data["files"].items() if about.get("temporary")] == SHARDS
    assert data["files"][SPLIT]["bytes"] == Path(SPLIT).stat().st_size
    records = [f"{path}.prov.json" for path in (GATHERED, *SHARDS, SPLIT)]
    assert data["records"] == {path: sha256(Path(path)) for path in records}
    assert data["given"] == {RAW: sha256(Path(RAW))}


def test_two_runs_of_equal_results_differ_in_the_facts_of_the_run_alone(tmp_path_factory, monkeypatch):
    first = written(config={"testbed": "bed"}, definitions={"splits/iid": "0"})
    monkeypatch.chdir(tmp_path_factory.mktemp("other"))
    time.sleep(1.1)  # records tell times in seconds
    run_all()
    second = written(config={"testbed": "bed"}, definitions={"splits/iid": "0"})
    assert {key for key in first if first[key] != second[key]} == {"records"}


def test_no_folder_of_this_machine_is_in_it(run):
    data = written(config={"images": {"vg": "/home/ann/secret/images"}})
    assert data["config"] == {"images": {"vg": "images"}} and str(run) not in json.dumps(data)


def test_a_file_that_was_written_after_its_record_is_refused_and_one_only_touched_is_not():
    os.utime(SPLIT)
    os.utime(f"{SPLIT}.prov.json", (0, 0))
    assert write_manifest(BED, Path("."), ManifestSettings())["hashed again"] == 1
    Path(SPLIT).write_bytes(Path(SPLIT).read_bytes() + b" ")
    with pytest.raises(InputError, match=f"{SPLIT} is not as it was written .*: delete it and run again"):
        written()


def test_a_file_that_is_gone_is_in_it_and_counted():
    Path(SPLIT).unlink()
    shutil.rmtree(Path(SHARDS[0]).parent)  # with the records: only their reader knows of them
    assert write_manifest(BED, Path("."), ManifestSettings())["missing"] == 3
    assert {SPLIT, *SHARDS} <= json.loads((BED / MANIFEST).read_text())["files"].keys()


def test_what_is_no_run_and_no_manifest_is_told_in_a_sentence(run):
    with pytest.raises(InputError, match="holds no record of a run"):
        write_manifest(Path("results/none"), Path("."), ManifestSettings())
    (run / "m.json").write_text("{}")
    with pytest.raises(InputError, match="is no manifest of a run, it lacks 'results'"):
        read_manifest(run / "m.json")


def test_git_tells_the_commit_and_whether_anything_was_changed(run, monkeypatch):
    assert told(written()["git"]) == "no commit that is known (the workflow's folder is no git repository)"
    if not shutil.which("git"):
        pytest.skip("needs git, which is not on this machine")
    project = run / "project"
    project.mkdir()
    (project / "a.py").write_text("")
    name = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    for command in (("init", "-q"), ("add", "."), (*name, "commit", "-qm", "First")):
        subprocess.run(["git", "-C", project, *command], check=True)
    clean = state(project)
    assert len(clean["commit"]) == 40 and clean["clean"] and told(clean).endswith("(clean)")
    (project / "b.py").write_text("")
    assert state(project) == clean | {"clean": False}
    monkeypatch.setenv("PATH", "")
    assert state(project) == {"commit": None, "why": "git is not installed"}
