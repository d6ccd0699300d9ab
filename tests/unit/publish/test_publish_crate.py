"""A crate says what the records say, and the validator of the profile finds nothing wrong with it."""

import json
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compvqa.provenance.lineage import Lineage
from compvqa.publish.crate import CrateSettings, write_crate
from compvqa.scenes.download import read_sources
from fixtures.crates import issues
from fixtures.lineages import RESULTS, chain, digest

PEOPLE = {"publish": {"creators": ["Ann"], "organization": "A lab", "url": "https://example.org", "licence": "mit"}}
# What the validator recommends and a crate that describes its own tools and holds no README can not follow
IMPOSSIBLE = ("The SoftwareApplication id SHOULD be an absolute URI", "The README.md SHOULD", "Web-based Data Entity")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")


@pytest.fixture
def project(root, tmp_path):
    """A workflow's folder with some of ours."""
    kept = (
        "workflow/Snakefile",
        "workflow/compvqa/covr/questions/balance.py",
        "config/paper/covr/table3.yaml",
        "config/sources.tsv",
        "LICENSE",
    )
    for name in kept:
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, path)
    return tmp_path / "project"


def made(project, targets=("paper/table3.html",), **said):
    """The entities of the crate of the chain, by their identifiers."""
    lineage = Lineage.read(RESULTS, [RESULTS / target for target in targets])
    write_crate(lineage, project, CrateSettings.model_validate(said), read_sources(project / "config/sources.tsv"))
    return entities()


def entities():
    graph = json.loads((RESULTS / "ro-crate-metadata.json").read_text())["@graph"]
    found = {entity["@id"]: entity for entity in graph}
    assert len(found) == len(graph)
    return found


def ids(value):
    return [item["@id"] for item in (value if isinstance(value, list) else [value])]


def test_the_profile_holds(project, monkeypatch):
    chain()
    made(project, run={"testbed": "bed"})
    assert issues(RESULTS, "REQUIRED", monkeypatch) == set()


def test_with_people_named_it_follows_the_recommendations_too(project, monkeypatch):
    chain()
    made(project, targets=("old.parquet",), **PEOPLE)
    left = {text for _, text in issues(RESULTS, "RECOMMENDED", monkeypatch)}
    assert {text for text in left if not text.startswith(IMPOSSIBLE)} == set()


@pytest.mark.parametrize(
    ("entity", "key", "words"),
    [
        ("./", "mainEntity", "Main Workflow must be specified"),
        ("#orchestration", "object", "OrganizeAction must reference the ControlAction"),
        ("code/workflow/Snakefile", "hasPart", "MUST refer to orchestrated tools"),
    ],
)
def test_the_validator_would_tell(project, monkeypatch, entity, key, words):
    chain()
    made(project)
    path = RESULTS / "ro-crate-metadata.json"
    crate = json.loads(path.read_text())
    del next(item for item in crate["@graph"] if item["@id"] == entity)[key]
    path.write_text(json.dumps(crate))
    assert any(words in text for _, text in issues(RESULTS, "REQUIRED", monkeypatch))


def test_each_run_is_an_action_that_reads_and_makes_what_its_record_says(project):
    chain()
    found = made(project)
    action = found["#run/dataset/questions.parquet.prov.json"]
    assert {"scenes.parquet"} < set(ids(action["object"]))
    assert ids(action["result"]) == ["dataset/questions.parquet"]
    assert (action["startTime"], action["endTime"]) == ("2026-01-01T03:10:00+00:00", "2026-01-01T03:20:00+00:00")
    values = [found[name] for name in ids(action["object"]) if name.startswith("#parameter")]
    assert {value["name"]: value["value"] for value in values} == {"memory_limit": "4GB", "seed": "1"}
    tool = found[action["instrument"]["@id"]]
    assert (tool["name"], tool["softwareVersion"]) == ("compvqa balance", f"0.1.0, code {digest('balance')[:24]}")
    assert "#run/old.parquet.prov.json" not in found


def test_files_have_sha256_size_and_format(project):
    chain()
    found = made(project)
    path = RESULTS / "paper/table3.csv"
    assert found["paper/table3.csv"] == {
        "@id": "paper/table3.csv",
        "@type": "File",
        "name": "paper/table3.csv",
        "sha256": digest(path.as_posix()),
        "contentSize": str(path.stat().st_size),
        "encodingFormat": "text/csv",
    }
    assert found["#lexicon.json"]["sha256"] == digest("lexicon.json")


def test_the_sha256_of_the_manifest_stands_in_it(project):
    chain()
    assert "manifest.json" not in made(project)
    (RESULTS / "manifest.json").write_text("{}")
    found = made(project)
    assert found["manifest.json"]["sha256"] == digest("{}") and "manifest.json" in ids(found["./"]["hasPart"])


def test_a_download_has_its_url_and_licence(project):
    chain()
    found = made(project)
    action = found["#run/resources/gqa/train_sceneGraphs.json.prov.json"]
    page = "https://downloads.cs.stanford.edu/nlp/data/gqa/sceneGraphs.zip"
    assert page in ids(action["object"])
    assert ids(found[page]["license"]) == ["https://creativecommons.org/licenses/by/4.0/"]


def test_a_file_that_is_gone_or_was_changed_is_no_part_of_the_crate(project):
    run = chain()
    (RESULTS / "scenes.parquet").unlink()
    run.run("late", [f"{RESULTS}/dataset/questions.parquet"], [f"{RESULTS}/late.csv"])
    run.run(
        "balance",
        [],
        [f"{RESULTS}/dataset/questions.parquet"],
        contents={f"{RESULTS}/dataset/questions.parquet": "new"},
    )
    found = made(project, targets=("late.csv",))
    parts = ids(found["./"]["hasPart"])
    before = f"#{RESULTS}/dataset/questions.parquet@{digest(f'{RESULTS}/dataset/questions.parquet')[:16]}"
    assert before in found and before not in parts
    assert found["dataset/questions.parquet"]["sha256"] == digest("new")
    assert all((RESULTS / unquote(name)).is_file() for name in parts if not name.startswith("https:"))


def test_a_folder_with_many_raw_files_is_one_thing(project):
    run = chain()
    run.run("features", [f"resources/images/{n}.png" for n in range(100)], [f"{RESULTS}/features.h5"])
    found = made(project, targets=("features.h5",))
    assert "#resources/images/" in ids(found["#run/features.h5.prov.json"]["object"])
    assert found["#resources/images/"]["description"].startswith("100 files")
    assert not any(name.endswith(".png") for name in found)


def test_no_folder_of_this_machine_and_no_host_is_told(project):
    chain()
    made(project, run={"testbed": "bed", "images": {"vg": "/home/ann/secret/images"}})
    told = (RESULTS / "ro-crate-metadata.json").read_text() + (RESULTS / "code/run.json").read_text()
    for word in ("/home", "secret", "Linux", str(project), str(Path.cwd())):
        assert word not in told
    assert "raw.json" in told and '"images"' in told


def test_a_file_of_the_workflow_is_told_by_its_place_in_the_crate(project):
    definition = project / "config/paper/covr/table3.yaml"
    chain().run("table", ["table3.yaml"], [f"{RESULTS}/t.html"], contents={"table3.yaml": definition.read_text()})
    action = made(project, targets=("t.html",))["#run/t.html.prov.json"]
    assert "code/config/paper/covr/table3.yaml" in ids(action["object"])
    assert (RESULTS / "code/config/paper/covr/table3.yaml").read_bytes() == definition.read_bytes()


def test_the_same_records_give_the_same_bytes(project):
    chain()
    made(project)
    first = (RESULTS / "ro-crate-metadata.json").read_bytes()
    made(project)
    assert (RESULTS / "ro-crate-metadata.json").read_bytes() == first


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=60).filter(
    lambda name: name not in (".", "..")
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES | st.sampled_from(["a'b`c\"d", "<script>x<", "#?%20 &", "n" * 240]), value=st.text(max_size=10_000))
def test_any_name_and_any_setting_pass_through(project, tmp_path_factory, monkeypatch, name, value):
    monkeypatch.chdir(tmp_path_factory.mktemp("named"))
    raw = f"resources/{name}"
    chain().run("odd", [raw], [f"{RESULTS}/odd.csv"], {"title": value})
    found = made(project, targets=("odd.csv",))
    action = found["#run/odd.csv.prov.json"]
    told = [found[item] for item in ids(action["object"])]
    assert raw in [entity["name"] for entity in told if entity["@type"] == "File"]
    (title,) = [entity["value"] for entity in told if entity["name"] == "title"]
    assert value.startswith("/") or "\\" in value or ":" in value or title == value
