"""mlcroissant finds nothing wrong with the metadata, and reads by them what the files hold."""

import json

import mlcroissant as mlc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compvqa.files import write_json
from compvqa.publish.croissant import croissant
from compvqa.records.record import sha256
from fixtures.published import PARTS, Published


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    made = Published(tmp_path_factory.mktemp("published"))
    made.finish(creators=["Ann"], organization="A lab", url="https://example.org")
    return made


def opened(published):
    return mlc.Dataset(jsonld=str(published.folder / "croissant.json"))


def test_the_metadata_have_no_errors_and_no_warnings(published):
    issues = opened(published).metadata.issues
    assert (set(issues.errors), set(issues.warnings)) == (set(), set())
    told = json.loads((published.folder / "croissant.json").read_text())
    assert told["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert told["datePublished"].startswith("2026-05-04")
    assert told["license"] == "https://creativecommons.org/licenses/by/4.0/"


def test_each_file_has_its_sha256(published):
    told = json.loads((published.folder / "croissant.json").read_text())["distribution"]
    filled = {f"data/{name}/{part}.parquet" for name in PARTS for part, ids in PARTS[name].items() if ids}
    assert {file["contentUrl"] for file in told} == filled
    assert all(file["sha256"] == sha256(published.folder / file["contentUrl"]) for file in told)


def plain(value):
    return (
        value.decode() if isinstance(value, bytes) else [plain(v) for v in value] if isinstance(value, list) else value
    )


@pytest.mark.parametrize("records", [f"{name}/{part}" for name in PARTS for part, ids in PARTS[name].items() if ids])
def test_the_records_are_the_rows(published, records):
    read = [{key.rsplit("/")[-1]: plain(v) for key, v in row.items()} for row in opened(published).records(records)]
    assert read == pq.read_table(published.file(*records.split("/"))).to_pylist()


def test_a_file_that_was_changed_is_refused(tmp_path):
    published = Published(tmp_path)
    published.finish()
    pq.write_table(pq.read_table(published.file("iid", "dev")), published.file("iid", "train"))
    with pytest.raises(mlc.GenerationError) as told:
        list(opened(published).records("iid/train"))
    assert "not identical" in str(told.value.__cause__)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
    | st.sampled_from(["</script>", "`'\"", "n" * 10_000])
)
def test_any_name_passes_through(published, tmp_path, name):
    write_json(tmp_path / "croissant.json", croissant(published.describe(name=name, description=name, citation=name)))
    read = mlc.Dataset(jsonld=str(tmp_path / "croissant.json")).metadata
    assert (read.name, read.description, read.cite_as) == (name, name, name)
