"""The files of a crate: those in its folder, those outside that are only described, and downloads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256 as new_sha256
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.model.file import File
from rocrate.rocrate import ROCrate

from compvqa.provenance.lineage import Lineage
from compvqa.records.record import sha256
from compvqa.scenes.download import Download

MANY = 100  # files in a folder outside of the crate, from which on the folder is described and not each of them
FORMATS = {
    ".css": "text/css",
    ".csv": "text/csv",
    ".h5": "application/x-hdf5",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".tar": "application/x-tar",
    ".tex": "application/x-tex",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
    ".zip": "application/zip",
}


def reference(entity: Entity) -> dict[str, str]:
    """What stands for an entity in another's property."""
    return {"@id": entity.id}


def one(references: Iterable[dict]) -> dict | list[dict]:
    """The references, each once; a single one is no list, as the specification wishes."""
    found = list({item["@id"]: item for item in references}.values())
    return found[0] if len(found) == 1 else found


def quoted(name: str) -> str:
    """A path or name as part of an identifier."""
    return quote(name, safe="/")


def encoding(path: str) -> str:
    """The media type of a file, by its name."""
    name = PurePosixPath(path)
    text = name.suffix in (".smk", ".cff", ".toml", ".lock", ".mplstyle", ".j2", ".tab", ".txt", "")
    return FORMATS.get(name.suffix.lower(), "text/plain" if text else "application/octet-stream")


class CrateFiles:
    """The entities of files, made as they are asked for.

    ``made`` are their identifiers. A file outside of the crate's folder, or one that is there no more, or whose content
    has changed since, is described under an identifier that begins with ``#`` and is no part of the crate.
    """

    def __init__(self, crate: ROCrate, lineage: Lineage, code: Sequence[Path]):
        self.crate, self.results = crate, lineage.results
        self.prefix = f"{lineage.results.as_posix()}/"
        self.current = {path: run.outputs[path] for path, run in lineage.made_by.items()}
        self.made: dict[tuple[str, str], dict[str, str]] = {}
        self.code: dict[tuple[str, str], dict[str, str]] = {}
        for path in code:
            digest = sha256(path)
            entity = self._file(self.short(path.as_posix()), digest)
            self.code.setdefault((path.name, digest), reference(entity))
        self.folders = self._folders(lineage)

    def short(self, path: str) -> str:
        """A path as it is inside the crate's folder; one outside as it is."""
        return path.removeprefix(self.prefix)

    def entity(self, name: str) -> Entity:
        """The entity of the file ``name`` of the crate."""
        return self.crate.dereference(quote(name))

    def of(self, path: str, digest: str) -> dict[str, str]:
        """A reference to the file that had this path and sha256."""
        key = (path, digest)
        if key not in self.made:
            self.made[key] = self._described(path, digest)
        return self.made[key]

    def _described(self, path: str, digest: str) -> dict[str, str]:
        if path.startswith(self.prefix):
            is_current = self.current.setdefault(path, digest) == digest
            if is_current and (self.results / self.short(path)).is_file():
                return reference(self._file(self.short(path), digest))
        elif (PurePosixPath(path).name, digest) in self.code:
            return self.code[PurePosixPath(path).name, digest]
        elif folder := self.folders.get(PurePosixPath(path).parent.as_posix()):
            return folder
        identifier = "#" + quoted(path)
        if self.current.setdefault(path, digest) != digest:
            identifier += f"@{digest[:16]}"
        return reference(self._outside(identifier, "File", path, digest, encodingFormat=encoding(path)))

    def _file(self, name: str, digest: str) -> Entity:
        size = str((self.results / name).stat().st_size)
        about = {"name": name, "sha256": digest, "contentSize": size, "encodingFormat": encoding(name)}
        return self.crate.add(File(self.crate, dest_path=name, properties=about))

    def _outside(self, identifier: str, type_: str, name: str, digest: str, **more: str) -> Entity:
        about = {"@type": type_, "name": name, "sha256": digest, **more}
        return self.crate.add(ContextEntity(self.crate, identifier, about))

    def _folders(self, lineage: Lineage) -> dict[str, dict[str, str]]:
        """The folders outside of the crate that have many files, each with the sha256 of the list of these."""
        files: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for run in lineage.runs:
            for path, digest in [*run.inputs.items(), *run.outputs.items()]:
                if not path.startswith(self.prefix):
                    files[PurePosixPath(path).parent.as_posix()].add((path, digest))
        made = {}
        for folder, found in sorted(files.items()):
            if len(found) >= MANY:
                lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(found))
                digest = new_sha256(lines.encode()).hexdigest()
                said = f"{len(found)} files; sha256 is that of their list, as sha256sum prints it"
                made[folder] = reference(
                    self._outside(f"#{quoted(folder)}/", "Dataset", folder, digest, description=said)
                )
        return made

    def record(self, path: Path) -> dict[str, str] | None:
        """A reference to a record, if it lies in the crate's folder."""
        name = path.as_posix()
        return self.of(name, sha256(path)) if name.startswith(self.prefix) else None

    def module(self, name: str) -> dict[str, str]:
        """A reference to a module's source among the code; to the workflow where it has no file of its own."""
        base = f"code/workflow/{name.replace('.', '/')}"
        places = (f"{base}.py", f"{base}/__init__.py", "code/workflow/Snakefile")
        return next(reference(entity) for place in places if (entity := self.entity(place)))

    def web(self, row: Download, day: str, terms: Entity) -> dict[str, str]:
        """A reference to what was downloaded, by its URL."""
        about = {"name": row.file, "version": row.version, "sdDatePublished": day, "encodingFormat": encoding(row.file)}
        about |= {"license": terms} | ({"contentSize": row.bytes} if row.bytes else {})
        return reference(self.crate.add(File(self.crate, source=row.url, properties=about)))
