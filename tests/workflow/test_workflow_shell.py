"""Config values are data: whatever they hold, each reaches its command as it is, and none is run."""

import json
import os
import subprocess
from itertools import count
from string import Formatter

import pytest
import yaml
from snakemake.utils import update_config

from compvqa.config import WORDNET, whole
from fixtures.warm import python

# Strings of the config that name something of ours: a file of config/, a plugin, a folder that the workflow fills.
NAMES = {
    *("testbed", "world", "sources.name", "sources.reader", "dataset.overlap.method", "dataset.presence.method"),
    *("dataset.kind", "dataset.presence.model", "splits.names", "features.released.sources.reader", "models.baselines"),
    *("dataset.candidates.backend", "models.trained", "sources.settings", "features.pictures.backbone"),
    *("models.asked", "scores.contrasts", "scores.facets", "models.variants", "models.variants_of", "features.crops"),
    "models.seeds_of",
    *("models.splits", "models.curve.splits", "models.curve.models", "dataset.judged.arms", "paper.show"),
    *("containers.cpu", "containers.gpu", "dataset.overlap.methods"),
    *("containers.neo4j", "models.splits_of", "publish.datasheet", "publish.version", "publish.published"),
}
RELEASED = {
    "testbed": "hostile",
    "dataset": {"kind": "covr_released", "train": "", "dev": "", "test": ""},
    "features": {"released": {"sources": [{"image_space": "", "reader": "lxmert_tsv", "files": [""]}]}},
    "models": {"trained": ["lxmert-test"]},
    "paper": {"show": ["covr/table6"]},
}
ORIGINS = {
    "released": ["sources", "lexicon", "truth", "aside", "paraphrases", "images"],
    "made": ["features"],
}


class Hostile:
    """A config whose every string that is not a name is hostile, and all these strings by their numbers."""

    def __init__(self, base: dict, left_out: list[str]):
        self.schema, self.strings, self.numbers = whole().model_json_schema(), {}, count(1)
        self.left_out = {*left_out, "lexicon.gqa", "dataset.presence.annotated"}
        self.config = self.filled(self.schema, base)

    def filled(self, node, base, where=""):
        if where in NAMES or where in self.left_out:
            return base
        if "$ref" in node:
            return self.filled(self.schema["$defs"][node["$ref"].split("/")[-1]], base, where)
        if "oneOf" in node:  # the kinds of dataset
            return self.filled({"$ref": node["discriminator"]["mapping"][base["kind"]]}, base, where)
        if "anyOf" in node:
            return self.filled(
                next((one for one in node["anyOf"] if one.get("type") == "string"), node["anyOf"][0]), base, where
            )
        kind = node.get("type")
        if kind == "object" and "properties" in node:
            at = f"{where}." if where else ""
            found = {key: self.filled(sub, (base or {}).get(key), at + key) for key, sub in node["properties"].items()}
            return {key: value for key, value in found.items() if value is not None}
        if kind == "object":
            return {key: self.filled(node["additionalProperties"], None, where) for key in base or [self.text()]}
        if kind == "array" and "items" in node:
            found = [self.filled(node["items"], item, where) for item in base or [None]]
            return [item for item in found if item not in (None, {})] or base
        free = kind == "string" and not {"enum", "const"} & set(node)
        return self.text() if free else base

    def text(self):
        number = next(self.numbers)
        bad = 'it\'s "$(touch hit)" `touch hit`\n touch hit\t;$PROJECT;touch hit &|>hit * ä日 \\{x} {{y}} <z> {0} {'
        self.strings[number] = f"-@{number}:{bad}:{number}@"
        return self.strings[number]


def base(root, *names):
    """Some configs of the project, one on top of the other."""
    merged = {}
    for name in names:
        update_config(merged, yaml.safe_load((root / "config" / name).read_text()))
    return merged


def shell_lines(root, folder, configs, targets):
    """What fixtures.shell_lines prints."""
    words = ("-m", "fixtures.shell_lines", root / "workflow/Snakefile", folder, *configs, "--", *targets)
    paths = os.pathsep.join(str(root / part) for part in ("workflow", "tests"))
    done = python(*words, folder=root, environment={"PYTHONPATH": paths})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def arguments(folder, lines):
    """Each argument that the commands of these shell lines get."""
    script = "set -feuo pipefail; IFS=; PROJECT='a  checkout'\n"
    script += "python() { printf '%s\\0' \"$@\" >> told; }; tee() { cat; }\n"
    subprocess.run(["bash", "-c", script + "\n".join(lines)], cwd=folder, check=True)
    return (folder / "told").read_text().split("\0")


def unquoted(template):
    """The fields of a line that are not quoted."""
    return [field for _, field, spec, _ in Formatter().parse(template) if field is not None and spec != "q"]


@pytest.mark.parametrize("origin", ["made", "released"])
def test_every_value_of_the_config_reaches_its_command_as_it_is(root, tmp_path, origin):
    made = base(root, "tiny.yaml", "tiny-full.yaml")
    made["dataset"] |= {"word_labels": {"files": [""]}, "overlap": {"method": "learned"}, "neo4j": {"load": True}}
    hostile = Hostile(made if origin == "made" else RELEASED, ORIGINS[origin])
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(hostile.config, allow_unicode=True))
    for text in hostile.strings.values():
        (tmp_path / text).touch()
    if origin == "made":  # a folder that must hold two files
        wordnet = tmp_path / hostile.config["lexicon"]["wordnet"]
        wordnet.unlink()
        wordnet.mkdir()
        for name in WORDNET:
            (wordnet / name).touch()
    bed = f"results/{hostile.config['testbed']}"
    more = [f"{bed}/filters/images/labels.parquet", "results/tiny/easy/questions/questions.parquet"]
    targets = ["all", "publish", "crate", *(more if origin == "made" else [])]
    planned = shell_lines(root, tmp_path, [tmp_path / "config.yaml"], targets)
    assert not {rule: fields for rule, line in planned["templates"].items() if (fields := unquoted(line))}

    words = "\0".join(arguments(tmp_path, planned["lines"].values()))
    for link in tmp_path.glob(".snakemake/given/*"):  # the names of paths in which Snakemake would see patterns
        words = words.replace(str(link.relative_to(tmp_path)), os.path.relpath(link.readlink(), "../.."))
    assert not (tmp_path / "hit").exists()
    seen = set()
    for number, text in hostile.strings.items():
        for word in words.split("\0"):
            parts = word.count(f"@{number}:") + word.count(f":{number}@")
            whole = word.count(text) + word.count(json.dumps(text, ensure_ascii=False)[1:-1])
            assert parts == 2 * whole, word
            seen |= {number} if whole else set()
    assert seen == set(hostile.strings)
