"""The crate of a run: its records as a Workflow Run RO-Crate, by the profile Provenance Run Crate 0.5.

The folder of a run's results is the crate. ``ro-crate-metadata.json`` in it describes the files that lie there, and
``code/`` holds the workflow that made them. Files outside, raw ones above all, are described with their sha256 and are
not copied. Sizes and sha256 are those of the records; no output is read again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from pydantic import Field
from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from compvqa.errors import InputError
from compvqa.files import write_json
from compvqa.provenance.history import Record
from compvqa.provenance.lineage import Lineage
from compvqa.provenance.manifest import MANIFEST
from compvqa.provenance.sources import Licence, common, licence, origins
from compvqa.publish.crate_files import CrateFiles, one, quoted, reference
from compvqa.publish.settings import PublishSettings
from compvqa.records.record import without_folders
from compvqa.scenes.download import Download
from compvqa.settings import Settings
from compvqa.tables import running

METADATA = "ro-crate-metadata.json"
CODE = "code"
MAIN = f"{CODE}/workflow/Snakefile"
RUN_CONFIG = f"{CODE}/run.json"
COMPLETED = "http://schema.org/CompletedActionStatus"
PARTS = ("workflow", "rules", "config", "envs")  # of the workflow's folder, and single files beside them
SINGLE = ("README.md", "LICENSE", "CITATION.cff", "pyproject.toml", "requirements.lock")
KEPT = {".py", ".smk", ".yaml", ".json", ".tsv", ".md", ".html", ".css", ".j2", ".mplstyle", ".rst"}
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
LANGUAGE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
ENGINE = "https://snakemake.github.io"
_TYPES = {bool: "Boolean", int: "Integer", float: "Float", str: "Text"}


class CrateSettings(Settings):
    """What a crate says besides the records."""

    publish: PublishSettings = PublishSettings()
    run: dict = Field(default_factory=dict, description="the configuration of the run, all of it")


def write_crate(
    lineage: Lineage, project: Path, settings: CrateSettings, downloads: Iterable[Download] = ()
) -> dict[str, int]:
    """Write the metadata and the workflow's code into the folder of results; counts of what is described.

    ``project`` is the workflow's folder. The time grows with the number of files that the records name.
    """
    results = lineage.results
    code = [*copy_code(project, results / CODE), *_run_config(results / RUN_CONFIG, settings.run)]
    code += [results / MANIFEST] if (results / MANIFEST).is_file() else []  # its sha256 stands for the whole run
    crate = ROCrate(version="1.1")
    crate.metadata["conformsTo"] = [{"@id": crate.metadata.profile}, {"@id": list(PROFILES)[-1]}]
    crate.metadata.extra_terms = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
    files = CrateFiles(crate, lineage, code)
    Builder(crate, files, lineage, settings, downloads).build()
    metadata = crate.metadata.generate()
    metadata["@graph"] = [{key: _single(value) for key, value in entity.items()} for entity in metadata["@graph"]]
    write_json(results / METADATA, metadata, recipe=False)
    return {"runs": len(lineage.runs), "files": len(files.made), "raw files": len(lineage.raw())}


def _single(value: object) -> object:
    """The only item of a list, as the specification wishes it written."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def copy_code(project: Path, folder: Path) -> list[Path]:
    """Copy what the workflow is made of to ``folder``, anew; the files, sorted."""
    if not (project / "workflow/Snakefile").is_file():
        raise InputError(f"{project} has no workflow/Snakefile: give the workflow's folder.")
    shutil.rmtree(folder, ignore_errors=True)
    found = [path for part in PARTS for path in (project / part).rglob("*") if _kept(path)]
    found += [path for name in SINGLE if (path := project / name).is_file()]
    made = []
    for path in sorted(found):
        target = folder / path.relative_to(project)
        target.parent.mkdir(parents=True, exist_ok=True)
        made.append(Path(shutil.copyfile(path, target)))
    return made


def _kept(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts[-3:])
    return path.is_file() and not hidden and (path.suffix in KEPT or path.name == "Snakefile")


def _run_config(path: Path, config: dict) -> Iterator[Path]:
    """The file with the configuration of the run, if it is known."""
    if config:
        write_json(path, without_folders(config), recipe=False)
        yield path


class Builder:
    """Puts the entities of a run into a crate."""

    def __init__(
        self,
        crate: ROCrate,
        files: CrateFiles,
        lineage: Lineage,
        settings: CrateSettings,
        downloads: Iterable[Download],
    ):
        self.crate, self.files, self.lineage, self.settings = crate, files, lineage, settings
        self.origins = origins(downloads)
        self.tools: dict[str, Entity] = {}
        self.values: set[str] = set()

    def build(self) -> None:
        """Add all entities: the root, the workflow, its tools and steps, and an action for each run."""
        agent = self._people()
        actions = [self._action(run, agent) for run in self.lineage.runs]
        controls = [self._control(run, action) for run, action in zip(self.lineage.runs, actions, strict=True)]
        workflow = self._workflow()
        whole = self._whole(workflow, agent)
        engine = self._software(ENGINE, "Snakemake", self._version("snakemake"), ENGINE)
        organize = {"instrument": engine, "object": one(map(reference, controls)), "result": whole, **agent}
        self._add("#orchestration", "OrganizeAction", name="Snakemake orders and starts the jobs", **organize)
        self._root(workflow, [whole, *actions], agent)

    def _add(self, identifier: str, type_: str | list[str], /, **properties: object) -> Entity:
        kept = {key: value for key, value in properties.items() if value is not None and value != []}
        return self.crate.add(ContextEntity(self.crate, identifier, {"@type": type_, **kept}))

    def _software(self, identifier: str, name: str, version: str, url: object, **more: object) -> Entity:
        about = {"name": name, "softwareVersion": version, "url": url, **more}
        return self._add(identifier, "SoftwareApplication", **about)

    def _version(self, package: str) -> str:
        """The versions of a package that the runs had."""
        return ", ".join(sorted({run.data["versions"].get(package, "unknown") for run in self.lineage.runs}))

    def _people(self) -> dict[str, object]:
        """Who ran the workflow, as the property of an action, if the config says so."""
        publish = self.settings.publish
        place = None
        if publish.organization:
            place = self._add("#organization", "Organization", name=publish.organization, url=publish.url or None)
        found = [
            self._add(f"#creator-{number}", "Person", name=name, affiliation=place)
            for number, name in enumerate(publish.creators, 1)
        ]
        return {"agent": one(map(reference, found or [place]))} if found or place else {}

    def _action(self, run: Record, agent: dict[str, object]) -> Entity:
        made = [self.files.of(path, digest) for path, digest in run.outputs.items()]
        read = [self.files.of(path, digest) for path, digest in run.inputs.items()]
        read += [*self._fetched(run), *self._settings(run)]
        first = next(iter(run.outputs), Path(run.path).name)
        return self._add(
            _id("run", self.files.short(run.path)),
            "CreateAction",
            name=f"{run.stage}: {self.files.short(first)}",
            description=_said(run.stage),
            identifier=f"recipe:{run.data['recipe']}",
            instrument=self._tool(run),
            object=one(read),
            result=one(made),
            startTime=run.data["started"],
            endTime=run.data["ended"],
            actionStatus=COMPLETED,
            subjectOf=self.files.record(Path(run.path)),
            **agent,
        )

    def _fetched(self, run: Record) -> Iterator[dict]:
        """Where a download came from."""
        for row in {row.url: row for path in run.outputs if (row := self.origins.get(path))}.values():
            if run.stage == "download":
                terms = self._licence(licence(row.licence))
                yield self.files.web(row, run.data["ended"], terms)

    def _tool(self, run: Record) -> Entity:
        """The stage as a tool: one for each version of its code."""
        identifier = _id("tool", run.stage, run.data["code"])
        versions = run.data["versions"]
        if identifier not in self.tools:
            module = next(iter(run.data.get("modules", ())), "compvqa")
            self.tools[identifier] = self._software(
                identifier,
                f"compvqa {run.stage}",
                f"{versions.get('compvqa', 'unknown')}, code {run.data['code']}",
                self.files.module(module),
                description=_said(run.stage),
            )
        tool = self.tools[identifier]
        known = {item["@id"] for item in tool.properties().get("softwareRequirements", ())}
        for package, version in sorted(versions.items()):
            name = f"#package/{package}-{version}"
            if name not in known:
                page = "https://www.python.org/" if package == "python" else f"https://pypi.org/project/{package}/"
                tool.append_to("softwareRequirements", self._software(name, package, version, page))
        return tool

    def _settings(self, run: Record) -> Iterator[dict]:
        """The run's settings and seed as values of its tool's parameters."""
        settings = run.data["settings"]
        values = dict(settings) if isinstance(settings, dict) else {}
        values |= {} if run.data["seed"] is None else {"seed": run.data["seed"]}
        for key, value in values.items():
            shown = without_folders(value)
            text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, sort_keys=True)
            parameter = _id("parameter", run.stage, run.data["code"], key)
            identifier = f"{parameter}/{blake2b(text.encode(), digest_size=6).hexdigest()}"
            if parameter not in self.crate:
                kind = _TYPES.get(type(shown), "PropertyValue")
                made = self._add(parameter, "FormalParameter", name=key, additionalType=kind)
                self._tool(run).append_to("input", made)
            if identifier not in self.values:
                self.values.add(identifier)
                self._add(identifier, "PropertyValue", name=key, value=text, exampleOfWork={"@id": parameter})
            yield {"@id": identifier}

    def _control(self, run: Record, action: Entity) -> Entity:
        step = {"@id": _id("step", run.stage, run.data["code"])}
        name = f"job of {action['name']}"
        where = _id("control", self.files.short(run.path))
        return self._add(where, "ControlAction", name=name, instrument=step, object=action, actionStatus=COMPLETED)

    def _workflow(self) -> Entity:
        steps = []
        for position, (identifier, tool) in enumerate(self.tools.items(), 1):
            step = "#step" + identifier.removeprefix("#tool")
            about = {"name": tool["name"], "workExample": tool, "position": str(position)}
            steps.append(self._add(step, "HowToStep", **about))
        language = {"name": "Snakemake", "url": ENGINE, "version": self._version("snakemake")}
        parameter = None
        if self.settings.run:
            parameter = self._add("#parameter/workflow/config", "FormalParameter", name="config", additionalType="File")
            self.files.entity(RUN_CONFIG)["exampleOfWork"] = parameter
        main = self.files.entity(MAIN)
        main.properties()["@type"] = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
        for key, value in {
            "name": "compvqa",
            "version": self._version("compvqa"),
            "url": self.settings.publish.url or None,
            "programmingLanguage": self._add(LANGUAGE, "ComputerLanguage", **language),
            "license": self._licence(licence("MIT")),
            "conformsTo": self._add(BIOSCHEMAS, "CreativeWork", name="ComputationalWorkflow profile of Bioschemas"),
            "input": parameter,
            "hasPart": one(map(reference, self.tools.values())),
            "step": one(map(reference, steps)),
        }.items():
            if value is not None:
                main[key] = value
        return main

    def _whole(self, workflow: Entity, agent: dict[str, object]) -> Entity:
        """The run of the workflow as a whole: from raw files and config to what it was started for."""
        last = {path: run.outputs[path] for path, run in self.lineage.made_by.items()}
        read = [self.files.of(path, digest) for path, digest in self.lineage.raw()]
        read += [reference(self.files.entity(RUN_CONFIG))] if self.settings.run else []
        return self._add(
            "#run",
            "CreateAction",
            name=f"Run of compvqa for {self.lineage.results.name}",
            description=f"{len(self.lineage.runs)} jobs, each with a record, an action here.",
            instrument=workflow,
            object=one(read),
            result=one(self.files.of(path, last[path]) for path in self.lineage.targets),
            startTime=min(run.data["started"] for run in self.lineage.runs),
            endTime=max(run.data["ended"] for run in self.lineage.runs),
            actionStatus=COMPLETED,
            **agent,
        )

    def _licence(self, terms: Licence) -> Entity:
        return self._add(terms.page or _id("licence", terms.text), "CreativeWork", name=terms.text)

    def _root(self, workflow: Entity, actions: Sequence[Entity], agent: dict[str, object]) -> None:
        publish, root = self.settings.publish, self.crate.root_dataset
        used = {row for path in self.origins.keys() & dict(self.lineage.raw()).keys() if (row := self.origins[path])}
        terms = licence(publish.licence) if publish.licence else common(licence(row.licence) for row in used)
        profiles = [
            self._add(page, "CreativeWork", name=name, version=page.rsplit("/")[-1]) for page, name in PROFILES.items()
        ]
        root["conformsTo"] = profiles
        root["name"] = publish.name or f"compvqa: {self.lineage.results.name}"
        root["description"] = publish.description or (
            "A test-bed for compositional generalization in visual question answering, what was made of it, and how "
            "each file of it was made."
        )
        root["datePublished"] = max(run.data["ended"] for run in self.lineage.runs)
        root["license"] = self._licence(terms)
        root["mainEntity"] = workflow
        root["mentions"] = list(actions)
        if running():
            root["identifier"] = f"recipe:{running()}"
        if agent:
            root["author"] = agent["agent"]
        if publish.organization:
            root["publisher"] = {"@id": "#organization"}


def _id(kind: str, *names: str) -> str:
    """The identifier of what is described, not filed."""
    return "#" + "/".join([kind, *(quoted(name) for name in names)])


def _said(stage: str) -> str:
    return f"The stage {stage} of the workflow: python -m compvqa {stage.replace('_', '-')}"
