"""Whether a run's files are still what its manifest and its records say: all rehashed, what differs told by kind.

What nobody signed proves nothing against somebody who edits files, records and manifest together: then only the sha256
of the manifest, kept elsewhere or signed, tells (docs/audit.md).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from compvqa import tables
from compvqa.errors import InputError
from compvqa.provenance.hashing import hashes
from compvqa.provenance.history import History, Record
from compvqa.provenance.manifest import MANIFEST, SIGNATURE, Manifest, later, read_manifest
from compvqa.records.digest import code_digest
from compvqa.records.intact import BY_HAND
from compvqa.records.record import PROJECT, SUFFIX, hashed_recipe

KINDS = ("altered", "missing", "extra", "outdated", "made by other code", "unverifiable")  # the most serious first
ALTERED, MISSING, EXTRA, OUTDATED, OTHER_CODE, UNVERIFIABLE = KINDS
FETCHED = ("download", "checkpoint")  # stages whose outputs are what they are by checksum, whatever code fetched them
EXIT = {OTHER_CODE: 3, UNVERIFIABLE: 4}  # what the command ends with; 1 for the kinds before them, 2 for wrong usage
# What nobody records, besides records: in the test-bed's folder, and by its name anywhere in it
OWN = (MANIFEST, SIGNATURE, "report.html")
VIEWER = "asked/viewer/"  # of models' replies: a folder that inspect_ai makes, with times in it
NAMES = (f"*{SUFFIX}", ".snakemake_timestamp", ".DS_Store", ".nfs*")
REMAKE = "run the workflow to its end, with --forcerun manifest if it has nothing to do"


@dataclass(frozen=True)
class Finding:
    """Something that is not as it was: its kind (of :data:`KINDS`), its path, and a sentence."""

    kind: str
    path: str
    told: str


@dataclass
class Verdict:
    """What was compared: numbers of records, of files hashed, and of temporary ones that are gone; and the findings."""

    records: int = 0
    files: int = 0
    temporary: int = 0
    findings: list[Finding] = field(default_factory=list)

    def by_kind(self) -> dict[str, list[Finding]]:
        """The findings of each kind that there are, the most serious first."""
        found = {kind: [finding for finding in self.findings if finding.kind == kind] for kind in KINDS}
        return {kind: findings for kind, findings in found.items() if findings}

    def status(self) -> int:
        """What the command exits with: 0, or what the most serious kind stands for."""
        return next((EXIT.get(kind, 1) for kind in self.by_kind()), 0)


@dataclass(frozen=True)
class Asked:
    """What is verified: records, and all that lies in ``folder``; the test-bed's manifest, if it has one."""

    history: History
    records: tuple[Record, ...]
    bed: str  # the test-bed's folder
    folder: str | None = None
    manifest: Manifest | None = None

    @staticmethod
    def of(history: History, files: Sequence[str], folder: str | None = None) -> Asked:
        """``files`` that a run made and all behind them, or all in a ``folder`` that has them."""
        bed = "/".join(Path(folder or files[0]).parts[:2])
        if folder and "/" not in bed:
            raise InputError(f"{folder} is no test-bed's folder: name one of those in it.")
        path = history.root / bed / MANIFEST
        manifest = read_manifest(path) if path.is_file() else None
        return Asked(history, tuple(history.behind(files)), bed, folder, manifest)

    @staticmethod
    def testbed(folder: Path) -> Asked:
        """All of a test-bed's folder, which has a manifest: it tells which folder it was."""
        bed, here = read_manifest(folder / MANIFEST).folder, os.path.abspath(folder)  # a link stays what it is called
        if not here.endswith(f"/{bed}"):
            raise InputError(f"{folder} was {bed} when its {MANIFEST} was written: give it that name again.")
        history = History(Path(here.removesuffix(bed)))
        return Asked.of(history, [path for record in history.below(bed) for path in record.outputs], bed)


def verify(asked: Asked) -> Verdict:
    """Hash everything that was asked for, and compare it with the manifest and the records."""
    return _Verification(asked).verdict()


class _Verification:
    """The files of a run as they are now, beside what its manifest and its records say of them."""

    def __init__(self, asked: Asked):
        self.asked, self.history, self.records = asked, asked.history, asked.records
        self.readers: dict[str, list[Record]] = {}
        for record in self.records:
            for path in record.inputs:
                self.readers.setdefault(path, []).append(record)
        self.named = {path for record in self.records for path in (*record.inputs, *record.outputs)}
        manifest = asked.manifest
        self.files = {path: about for path, about in manifest.files.items() if self._asked(path)} if manifest else {}
        self.given = {path: digest for path, digest in manifest.given.items() if self._asked(path)} if manifest else {}
        self.told_records = self._told_records(manifest) if manifest else {}
        self.found = hashes(self.history.root, {*self.named, *self.files, *self.given, *self.told_records})
        self.temporary = 0

    def _asked(self, path: str) -> bool:
        """Whether what the manifest tells of a path is asked for: of one that a record names, or in the folder."""
        bed, folder = self.asked.bed, self.asked.folder
        return folder == bed or path in self.named or bool(folder) and path.startswith(f"{folder}/")

    def _told_records(self, manifest: Manifest) -> dict[str, str]:
        """The sha256 of the records that the manifest tells of, those of them that are asked for."""
        makers = {about["record"] for about in self.files.values()} | {record.path for record in self.records}
        return {path: digest for path, digest in manifest.records.items() if path in makers or self._asked(path)}

    def verdict(self) -> Verdict:
        """All findings, and what was compared."""
        of_files = (self._manifest, self._files, self._extra)
        of_records = (self._records, self._order, self._recipes, self._code)
        findings = [finding for found in (*of_files, *of_records) for finding in found()]
        hashed = sum(digest is not None for path, digest in self.found.items() if not path.endswith(SUFFIX))
        return Verdict(len(self.records), hashed, self.temporary, findings)

    def _manifest(self) -> Iterator[Finding]:
        if self.asked.manifest is None:
            path = f"{self.asked.bed}/{MANIFEST}"
            told = f"{path} is not there: what was deleted together with its record cannot be noticed; {REMAKE}."
            yield Finding(UNVERIFIABLE, path, told)

    def _files(self) -> Iterator[Finding]:
        for path in sorted({*self.named, *self.files, *self.given}):
            digest = self.found[path]
            finding = self._gone(path) if digest is None else self._differs(path, digest)
            if finding:
                yield finding

    def _gone(self, path: str) -> Finding | None:
        """What is said of a file that is gone; a temporary one is counted."""
        maker = self.history.maker(path)
        if path.startswith(PROJECT):
            return Finding(OTHER_CODE, path, f"{path.removeprefix(PROJECT)} was used, and is not in this checkout.")
        if not path.startswith(f"{self.asked.bed}/"):
            return Finding(UNVERIFIABLE, path, f"{path} is not there to be hashed: it was not kept, or lies elsewhere.")
        if self.files.get(path, {}).get("temporary"):
            self.temporary += 1
            return None
        if maker and self.asked.manifest is None:
            return Finding(UNVERIFIABLE, path, f"{path} is gone: only a manifest tells whether it was temporary.")
        by = maker or next(iter(self.readers.get(path, ())), None)
        told = f"{path} is gone, of which {by.path if by else MANIFEST} tells: snakemake makes it again if you name it."
        return Finding(MISSING, path, told)

    def _differs(self, path: str, found: str) -> Finding | None:
        """What is said of a file with the sha256 ``found``, if that is not what its maker, readers or manifest tell."""
        maker = self.history.maker(path)
        if maker and maker.stage in BY_HAND:
            return None
        told = [maker] if maker else self.readers.get(path, [])
        for record in told:
            digest = (record.outputs if maker else record.inputs)[path]
            if digest != found:
                text = f"{path} has the sha256 {found}, not {digest} of {record.path}"
                if path.startswith(PROJECT):
                    return Finding(OTHER_CODE, path, f"{text}: this checkout has another.")
                return Finding(ALTERED, path, f"{text}: it changed after it was used or made.")
        digest = self.files[path]["sha256"] if path in self.files else self.given.get(path, found)
        if digest != found:
            text = f"{path} has the sha256 {found}, not {digest} of {MANIFEST}"
            return Finding(ALTERED, path, f"{text}: it was made again after that, or edited together with its record.")
        return None

    def _records(self) -> Iterator[Finding]:
        """Records that are gone, that changed or that were added since the manifest was written."""
        for path, digest in self.told_records.items():
            found = self.found[path]
            if found is None and path.startswith(f"{self.asked.bed}/"):
                yield Finding(MISSING, path, f"{path} is gone, of which {MANIFEST} tells: run its stage again.")
            elif found is None:
                yield Finding(UNVERIFIABLE, path, f"{path} is not there to be hashed: it was not kept.")
            elif found != digest:
                text = f"{path} is not the record that {MANIFEST} knows: its stage ran again, or it was edited"
                yield Finding(ALTERED, path, f"{text}; {REMAKE}.")
        if self.asked.manifest:
            for record in self.records:
                if record.path not in self.told_records and not later(self.asked.bed, record.path):
                    text = f"{record.path} is not in {MANIFEST}: its stage ran after that was written, or it was added"
                    yield Finding(EXTRA, record.path, f"{text}; {REMAKE}.")

    def _order(self) -> Iterator[Finding]:
        """Records that read something else than what its maker says that it made; of each the first."""
        for record in self.records:
            for path, digest in record.inputs.items():
                maker = self.history.maker(path)
                if maker and maker.outputs[path] != digest:
                    text = f"{record.path} says that {path} had the sha256 {digest}, but {maker.path} that it made"
                    told = f"{text} {maker.outputs[path]}: run {record.stage} again."
                    yield Finding(OUTDATED, record.path, told)
                    break

    def _recipes(self) -> Iterator[Finding]:
        """Records whose recipe is not the hash of what they list, and tables that carry another than their record's."""
        for record in self.records:
            stage, code, settings, seed = (record.data[key] for key in ("stage", "code", "settings", "seed"))
            fingerprints = [self._fingerprint(path, digest) for path, digest in record.inputs.items()]
            known = [fingerprint for fingerprint in fingerprints if fingerprint]
            whole = len(known) == len(fingerprints)
            expected = hashed_recipe(stage, code, settings, seed, known) if whole else record.recipe
            if expected != record.recipe:
                text = f"{record.path} has the recipe {record.recipe}, but what it lists gives {expected}"
                yield Finding(ALTERED, record.path, f"{text}: it was changed.")
            for path, digest in record.outputs.items():
                if path.endswith(".parquet") and self.found.get(path) == digest:
                    carried = tables.recipe_of(self.history.root / path)
                    if carried != record.recipe:
                        text = f"{path} carries the recipe {carried}, not {record.recipe} of {record.path}"
                        yield Finding(ALTERED, path, f"{text}: another run made it.")

    def _fingerprint(self, path: str, digest: str) -> str | None:
        """What stands for an input in a recipe: a table's own recipe, or else the sha256; None if it is not known."""
        if not path.endswith(".parquet"):
            return f"sha256:{digest}"
        maker = self.history.maker(path)
        if (maker.outputs[path] if maker else self.found[path]) != digest:
            return None  # it was made anew since, with another recipe, or is gone
        recipe = maker.recipe if maker else tables.recipe_of(self.history.root / path)
        return f"recipe:{recipe}" if recipe else f"sha256:{digest}"

    def _extra(self) -> Iterator[Finding]:
        """Files in the folder that neither a record nor the manifest names."""
        if self.asked.folder is None:
            return
        root, own = self.history.root, {f"{self.asked.bed}/{name}" for name in OWN}
        for folder, _, names in os.walk(root / self.asked.folder):
            for name in sorted(names):
                path = (Path(folder) / name).relative_to(root).as_posix()
                if path.startswith(f"{self.asked.bed}/{VIEWER}"):
                    continue
                if path in self.found or path in own or any(fnmatchcase(name, pattern) for pattern in NAMES):
                    continue
                yield Finding(EXTRA, path, f"{path} was written by no stage that left a record: remove it.")

    def _code(self) -> Iterator[Finding]:
        """Stages whose code is another here than it was, each code once."""
        silent = [record for record in self.records if "modules" not in record.data]
        if silent:
            told = f"{silent[0].path} does not say which modules ran, as {len(silent) - 1:,} more: compvqa was older."
            yield Finding(UNVERIFIABLE, silent[0].path, told)
        telling = (record for record in self.records if "modules" in record.data and record.stage not in FETCHED)
        ran = Counter((record.stage, record.data["code"], *record.data["modules"]) for record in telling)
        for (stage, code, *modules), n in sorted(ran.items()):
            here = _here(modules)
            if here != f"{code} here":
                times = "once" if n == 1 else f"{n:,} times"
                yield Finding(OTHER_CODE, stage, f"{stage} ran code {code} ({times}), which is {here}.")


def _here(modules: Sequence[str]) -> str:
    """The digest of modules as they are here, or that one is not here, and how it would be."""
    try:
        return f"{code_digest(*modules)} here"
    except ModuleNotFoundError as error:
        return f"not here ({error}): name the folder of the plugins that it ran with in COMPVQA_PLUGINS"
