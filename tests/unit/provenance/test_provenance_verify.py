"""What was deleted, added or edited after a run is noticed, and told by kind; what only was not kept is no reproach."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compvqa import tables
from compvqa.cli import auditing
from compvqa.errors import InputError
from compvqa.provenance import verify as verification
from compvqa.provenance.history import History
from compvqa.provenance.manifest import MANIFEST, ManifestSettings, write_manifest
from compvqa.provenance.verify import Asked, Verdict, verify
from compvqa.records.record import sha256
from fixtures.small_run import GATHERED, NUMBERS, RAW, SHARDS, SPLIT, copy, run_all

BED = Path("results/bed")
RECORD = Path(f"{GATHERED}.prov.json")
TEMPORARY = SHARDS[0]
app = typer.Typer()
auditing.add_to(app)


def write(**settings) -> None:
    write_manifest(BED, Path("."), ManifestSettings(temporary=(f"{TEMPORARY[:-9]}*",), **settings))


@pytest.fixture(autouse=True)
def run(tmp_path, monkeypatch) -> Path:
    """The folder of a run with its manifest, whose first shard is temporary."""
    monkeypatch.chdir(tmp_path)
    run_all()
    write()
    return tmp_path


def found() -> Verdict:
    return verify(Asked.testbed(BED))


def kinds(verdict: Verdict | None = None) -> dict[str, set[str]]:
    """The paths of the findings by their kind."""
    told = (verdict or found()).by_kind()
    return {kind: {finding.path for finding in findings} for kind, findings in told.items()}


def rewrite(path: Path, **changed: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def forge(path: str) -> None:
    """Edit a row of a table as its stage would have written it, and its sha256 in all records."""
    before = sha256(Path(path))
    with tables.recipe(tables.recipe_of(path)):
        tables.write(path, NUMBERS, [{"n": 7}])
    for record in BED.rglob("*.prov.json"):
        record.write_text(record.read_text().replace(before, sha256(Path(path))))


def test_a_run_as_it_was_made_agrees():
    verdict = found()
    assert (verdict.findings, verdict.status(), verdict.records, verdict.files) == ([], 0, 4, 5)


def test_a_temporary_file_may_be_gone():
    Path(TEMPORARY).unlink()
    verdict = found()
    assert (verdict.findings, verdict.temporary) == ([], 1)


@pytest.mark.parametrize(
    ("gone", "missing"),
    [
        ([GATHERED], {GATHERED}),
        ([SPLIT], {SPLIT}),
        (["results/bed/splits"], {SPLIT, f"{SPLIT}.prov.json"}),
        ([str(RECORD)], {str(RECORD)}),
        ([GATHERED, str(RECORD)], {GATHERED, str(RECORD)}),
        ([SHARDS[1]], {SHARDS[1]}),
    ],
)
def test_what_was_deleted_is_missing(gone, missing):
    for path in map(Path, gone):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    verdict = found()
    assert kinds(verdict) == {"missing": missing} and verdict.status() == 1


def test_what_was_added_is_extra_with_and_without_a_record():
    (BED / "splits/mine.parquet").write_text("")
    copy("split", [GATHERED], "results/bed/splits/forged.parquet")
    extra = {"results/bed/splits/mine.parquet", "results/bed/splits/forged.parquet.prov.json"}
    assert kinds() == {"extra": extra}


def test_what_is_made_to_be_handed_on_and_what_nobody_records_is_not_extra():
    copy("publish_split", [SPLIT], "results/bed/publish/huggingface/test.parquet")
    (BED / "asked/viewer").mkdir(parents=True)
    for name in ("report.html", "manifest.json.sig", "splits/.snakemake_timestamp", "asked/viewer/index.html"):
        (BED / name).write_text("")
    assert kinds() == {}
    Path("results/bed/publish/huggingface/test.parquet").unlink()
    assert kinds() == {"missing": {"results/bed/publish/huggingface/test.parquet"}}


@pytest.mark.parametrize("path", [RAW, SHARDS[1], GATHERED, SPLIT])
def test_a_changed_byte_anywhere_is_altered(path):
    Path(path).write_bytes(Path(path).read_bytes() + b" ")
    verdict = found()
    assert kinds(verdict) == {"altered": {path}} and verdict.status() == 1
    assert verdict.findings[0].told.startswith(f"{path} has the sha256")


@pytest.mark.parametrize(
    "changed",
    [{"counts": {"in": 9, "out": 2}}, {"started": "2020-01-01T00:00:00+00:00"}, {"versions": {}}, {"modules": []}],
)
def test_an_edited_record_is_altered(changed):
    rewrite(RECORD, **changed)
    assert str(RECORD) in kinds()["altered"]


def test_a_record_whose_seed_was_edited_is_noticed_without_a_manifest_and_without_files():
    for path in (BED / MANIFEST, *map(Path, SHARDS), Path(GATHERED)):
        path.unlink()
    rewrite(RECORD, seed=2)
    (told,) = verify(Asked.of(History(Path(".")), [SPLIT])).by_kind()["altered"]
    assert "what it lists gives" in told.told


def test_a_row_edited_with_its_sha256_in_all_records_is_noticed_by_the_manifest_alone():
    forge(GATHERED)
    assert kinds()["altered"] == {GATHERED, str(RECORD), f"{SPLIT}.prov.json"}
    (BED / MANIFEST).unlink()
    assert kinds(verify(Asked.of(History(Path(".")), [SPLIT]))) == {"unverifiable": {f"{BED}/{MANIFEST}"}}


def test_a_stage_that_ran_again_without_its_readers_makes_them_outdated():
    copy("read", [RAW], SHARDS[0], {"limit": 4})
    assert kinds()["outdated"] == {str(RECORD)}
    write()
    assert kinds() == {"outdated": {str(RECORD)}}  # nobody has edited anything


def test_a_manifest_that_is_written_again_after_a_change_agrees_again():
    first = (BED / MANIFEST).read_bytes()
    write()
    assert (BED / MANIFEST).read_bytes() == first
    Path(GATHERED).unlink()
    run_all(limit=4)
    assert found().status() == 1
    write()
    assert found().status() == 0


def test_a_run_that_is_verified_before_it_has_a_manifest_says_what_it_cannot_notice():
    (BED / MANIFEST).unlink()
    Path(SHARDS[1]).unlink()
    verdict = verify(Asked.of(History(Path(".")), [SPLIT], "results/bed"))
    assert kinds(verdict) == {"unverifiable": {f"{BED}/{MANIFEST}", SHARDS[1]}} and verdict.status() == 4
    assert "cannot be noticed" in verdict.findings[0].told
    (BED / "mine.csv").write_text("")
    assert "extra" in kinds(verify(Asked.of(History(Path(".")), [SPLIT], "results/bed")))


def test_raw_files_that_were_not_kept_cannot_be_checked_and_are_no_error():
    with tables.recipe("of a run elsewhere"):
        tables.write("resources/given.parquet", NUMBERS, [{"n": 1}])
    copy("other", ["resources/given.parquet"], "results/bed/other.parquet")
    write()
    assert found().status() == 0
    shutil.rmtree("resources")
    verdict = found()
    assert kinds(verdict) == {"unverifiable": {RAW, "resources/given.parquet"}} and verdict.status() == 4


def test_results_that_other_code_made_are_told_by_stage(monkeypatch):
    monkeypatch.setattr(verification, "code_digest", lambda *modules: "0" * 24)
    verdict = found()
    assert kinds(verdict) == {"made by other code": {"read", "gather", "split"}} and verdict.status() == 3
    assert "0" * 24 in verdict.findings[0].told


def test_a_plugin_that_is_not_here_is_named_with_the_variable_that_finds_it(monkeypatch):
    rewrite(RECORD, modules=["compvqa.street.models.boww"])
    write()
    (told,) = [finding.told for finding in found().findings if "boww" in finding.told]
    assert re.fullmatch(
        r"gather ran code \w+ \(once\), which is not here \(compvqa\.street\.models\.boww is not a module .*\): "
        r"name the folder of the plugins that it ran with in COMPVQA_PLUGINS\.",
        told,
    )


def test_a_part_of_a_run_is_verified_by_itself():
    copy("other", [RAW], "results/bed/other.parquet")
    write()
    Path("results/bed/other.parquet").unlink()
    history = History(Path("."))
    assert verify(Asked.of(history, [SPLIT])).findings == []
    assert verify(Asked.of(history, [SPLIT], "results/bed/splits")).findings == []
    Path(RECORD).unlink()
    assert kinds(verify(Asked.of(History(Path(".")), [SPLIT]))) == {"missing": {str(RECORD)}}


def ask(*arguments: object) -> tuple[int, str]:
    """The command's status and what it prints; of an error its sentence, as the command line tells it."""
    done = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    if isinstance(done.exception, InputError):
        return 1, done.output + str(done.exception)
    return done.exit_code, done.output


def test_the_command_tells_each_kind_and_exits_by_the_worst():
    status, told = ask("--verify")
    assert status == 0 and f"results/bed: 4 records and 5 files agree\n  {MANIFEST}: sha256" in told
    Path(RAW).unlink()
    assert ask("--verify", BED)[0] == 4
    for number in range(12):
        (BED / f"{number}.txt").write_text("")
    Path(SPLIT).unlink()
    status, told = ask("--verify", BED)
    assert status == 1 and all(f"{kind}\n" in told for kind in ("missing: 1", "extra: 12", "unverifiable: 1"))
    assert "and 2 more (--all tells them)" in told and told.splitlines()[-1].startswith(f"{SPLIT} is gone")
    assert "--all tells them" not in ask("--verify", BED, "--all")[1]


def test_the_command_writes_all_that_it_found_to_a_file():
    for number in range(12):
        (BED / f"{number}.txt").write_text("")
    assert ask("--verify", BED, "--out", "found.json")[0] == 1
    (found,) = json.loads(Path("found.json").read_text()).values()
    assert [finding["kind"] for finding in found["findings"]] == ["extra"] * 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--manifest-sha256", "0"], "tell what --verify is to find"),
        (["--verify", "--signer", "ann"], "give the file of allowed signers too"),
        (["--diff", "a", "b", "--manifest-sha256", "0"], "tell what --verify is to find"),
        (["--diff", "a", "b", "--verify"], "--diff and --verify are of different audits: give one of them"),
        (["--example", "q", "few"], "--example tells of one question, and not of few"),
        (["--verify", "results"], "results is no test-bed's folder: name one of those in it"),
        (["--verify", "--out", "found.pdf"], "must end in"),
        (["--sign", "key", "results/bed/splits"], "has no manifest.json to sign"),
    ],
)
def test_options_that_do_not_go_together_are_told_in_a_sentence(arguments, words):
    status, told = ask(*arguments)
    assert status == 1 and words in told


@pytest.mark.parametrize("changed", [{"files": []}, {"files": {"a": {}}}, {"records": None}, {"results": 3}])
def test_a_manifest_with_other_things_in_it_is_told_in_a_sentence(changed):
    rewrite(BED / MANIFEST, **changed)
    status, told = ask("--verify", BED)
    assert status == 1 and f"{MANIFEST} is no manifest of a run, it was altered" in told


def test_a_record_without_inputs_is_told_in_a_sentence():
    rewrite(Path(RECORD), inputs=None)
    status, told = ask("--verify", BED)
    assert status == 1 and f"{RECORD} is no whole record" in told


def test_what_is_told_is_written_where_there_is_no_folder_yet():
    assert ask("--verify", BED, "--out", "new/found.txt")[0] == 0
    assert "agree" in Path("new/found.txt").read_text()


def test_a_manifest_that_was_edited_too_is_noticed_by_its_sha256_alone():
    known = sha256(BED / MANIFEST)
    assert ask("--verify", "--manifest-sha256", known.upper())[0] == 0
    forge(GATHERED)
    write()
    assert ask("--verify")[0] == 0  # nobody vouches for it
    status, told = ask("--verify", "--manifest-sha256", known)
    assert status == 1 and f"not {known}: it is another one" in told


@pytest.fixture
def key(tmp_path) -> Path:
    if not shutil.which("ssh-keygen"):
        pytest.skip("needs ssh-keygen (OpenSSH), which is not on this machine")
    for name in ("ann", "eve"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    (tmp_path / "allowed").write_text(f"ann@example.org {(tmp_path / 'ann.pub').read_text()}")
    return tmp_path / "ann"


def test_a_signed_manifest_tells_who_vouches_for_it(key):
    status, told = ask("--verify", "--signers", "allowed")
    assert status == 1 and "manifest.json.sig is not there" in told
    assert ask("--sign", key) == (0, "signed: results/bed/manifest.json.sig\n")
    for signer in ([], ["--signer", "ann@example.org"]):
        status, told = ask("--verify", "--signers", "allowed", *signer)
        assert status == 0 and "signed by ann@example.org" in told
    forge(GATHERED)
    write()
    assert ask("--verify")[0] == 0
    status, told = ask("--verify", "--signers", "allowed")
    assert status == 1 and "is no signature of" in told


def test_a_signature_of_somebody_else_and_a_key_that_is_none_are_told_in_a_sentence(key):
    assert ask("--sign", key.with_name("eve"))[0] == 0
    status, told = ask("--verify", "--signers", "allowed")
    assert status == 1 and "is of nobody whom allowed names" in told
    status, told = ask("--sign", "allowed")
    assert status == 1 and "could not be signed with allowed: ssh-keygen says" in told


def test_without_ssh_keygen_a_sentence_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    status, told = ask("--sign", "key")
    assert status == 1 and told == "ssh-keygen is not installed here: OpenSSH 8.2 or later has it; install it."
