"""PyTorch takes seconds and half a gigabyte to import: only what trains, extracts features or predicts does so.

Told from processes: all commands run under a hook that notes imports, those of the chain in its own run.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import astuple, fields, replace
from pathlib import Path

import numpy as np
import pytest

from compvqa import tables
from compvqa.cli import commands
from compvqa.scenes.download import Download
from compvqa.scenes.tables import SCENES
from fixtures.project import Project
from fixtures.released import detections, write_tsv
from fixtures.sitecustomize import MAY

pytestmark = pytest.mark.xdist_group("finished")  # one process, so that the chain runs once
LEARNED = "--models"  # which overlap, presence, others and image-scores are given where trained models predict

BED, SPLIT, SHORT = "results/tiny", "results/tiny/splits/iid.parquet", "config/prompts/short.yaml"
WORLD = "resources/sprites-tiny"
SCENE_TABLES, ASKED = f"--scenes {BED}/scenes", f"--dataset {BED}/dataset/questions.parquet"
SOLIDS = '{"scenes": 1, "width": 60, "height": 40, "light_samples": 1}'
FEW = '{"per_scene": 2}'
SOLID_SCENES = '{"name": "clevr", "reader": "clevr", "files": {"train": "made/solids/CLEVR_train_scenes.json"}}'
ASKING = "--templates config/templates/clevr --words config/words/clevr.json"
COVR = '{"train": "given/covr.jsonl", "dev": "given/covr.jsonl"}'
RELEASED = '{"image_space": "sprites", "reader": "lxmert_tsv", "files": ["given/features.tsv"]}'
FEATURES = f'{{"sources": [{RELEASED}], "most_missing": 1}}'
PARTS = " ".join(f"made/hub/data/iid/{part}.parquet" for part in ("train", "dev", "test"))
IMAGES = "made/hub/images/pictures-00000-of-00001.parquet"
VLM = json.dumps({"model": {"inspect": "mockllm/model"}, "prompt": {"text": "{question}"}})
KEPT = f"--cache made --logs made --config '{VLM}'"
SEEN = f"--scenes {BED}/scenes/scenes.parquet --images sprites={WORLD}/images"
SHOWN = f"--pictures sprites={WORLD}/images --world {WORLD}"
CARD = f"--made {BED}/dataset/questions.parquet.prov.json --split config/splits/iid.yaml"
# A held-out pair, on a pool of three scenes and one variant of each object.
LOOK = {"width": 60, "height": 40, "light_samples": 1, "min_objects": 1, "max_objects": 2, "min_pixels": 1}
POOLS = {"variants": 1, "pools": {"train": {"scenes": 3, "pair": "absent"}}, "all": LOOK}
POOL, MINIMAL = (
    json.dumps({"side": side, "walks": [{"pair": ["large", "rubber"]}], "world": POOLS})
    for side in ("train", "minimal")
)
TAKEN = {"train": ("train", 3), "iid": ("train", 3), "ood": ("minimal", 1)}
HOPE = {"pools": {pool: {"sides": [side], "scenes": n} for pool, (side, n) in TAKEN.items()}, "variants": 1}
PAIR = json.dumps({"pair": ["large", "rubber"], "hope": HOPE | {"sizes": [1, 2, 3], "questions": {"per_scene": 2}}})
POOLED_FILES = {side: f"made/pools/CLEVR_{side}_scenes.json" for side in ("train", "minimal")}
POOLED_SCENES = json.dumps({"name": "clevr", "reader": "clevr", "files": POOLED_FILES})
POOLED, LEFT = "--scenes made/pooled", "--dropped made/l.parquet --taken made/taken.parquet"
CONTRAST = json.dumps({"describe": "contrast"})
# Commands that import PyTorch and that no rule of that chain runs: those of models that look at whole pictures, or that
# others trained.
ELSEWHERE = {"pictures", "gather-pictures", "take-weights"}
# What the chain of config/tiny-full.yaml leaves out. None of it may import torch, so one process runs it all.
OTHERS = f"""
schema
download mine cats.csv --folder given --sources given/sources.tsv --lock given/lock.tsv
simulate made/raw --ontology given --gqa 1 --imsitu 0
clevr world made/drawn --config '{SOLIDS}'
clevr gather-world made/solids --shard made/drawn
ingest made/source --config '{SOLID_SCENES}'
scenes made/placed --source made/source
clevr questions made/q.parquet --dropped made/left.parquet --scenes made/placed {ASKING} --config '{FEW}'
clevr gather-questions made/qs.parquet --dropped made/qs_dropped.parquet --shard made/q.parquet
clevr write-questions made/qs.parquet made/q.json --part train {ASKING}
clevr read-questions made/read --file train=made/q.json {ASKING}
clevr execute made/solids/CLEVR_train_scenes.json --questions made/q.json
clevr lint config/templates/clevr/zero_hop.json --scenes made/placed --most 1
clevr pool made/pool --config '{POOL}'
clevr pool made/minimal --config '{MINIMAL}'
clevr gather-world made/pools --shard made/pool --shard made/minimal
ingest made/pool_source --config '{POOLED_SCENES}'
scenes made/pooled --source made/pool_source
clevr pair-scenes made/taken.parquet {POOLED} --words config/words/clevr.json --config '{PAIR}'
clevr pair-questions made/p.parquet --set train {LEFT} {POOLED} {ASKING} --config '{PAIR}'
clevr pair-questions made/m.parquet --set minimal {LEFT} {POOLED} {ASKING} --config '{PAIR}'
clevr gather-pair made/pair.parquet --questions made/p.parquet --questions made/m.parquet {POOLED} --config '{PAIR}'
clevr prelim-questions made/e.parquet --dropped made/l.parquet {POOLED} {ASKING}
crops made/cut {POOLED} --images clevr=made/pools/images --config '{CONTRAST}'
gather-crops made/crops {POOLED} --images clevr=made/pools/images --shard made/cut --config '{CONTRAST}'
clevr read-hope no.h5 made/h.json --vocab no.json --scenes made/pools/CLEVR_train_scenes.json
word-released made/w.parquet --file given/no.csv
judge given/no.csv --testbed {BED} --truth resources/tiny/truth
word-pairs made/pairs.csv {SCENE_TABLES} --most 2
annotate words made/pairs.csv --annotator Ann
read-questions made/dataset --scenes made/scenes --config '{COVR}'
read-paraphrases made/paraphrases.parquet --file given/paraphrases.csv {ASKED}
read-features made/features {SCENE_TABLES} --config '{FEATURES}'
ask made/a.parquet --replies made/r.parquet --run vlm.iid.iid.1 --part test {ASKED} {SEEN} {KEPT}
ask-cost --part test {ASKED} {SEEN} --config '{VLM}' --pictures qwen2-vl
chats made/chats.jsonl --form trl --prompt {SHORT} --part train {ASKED} {SEEN}
export-tasks made/tasks --form vlmevalkit --testbed tiny --split {SPLIT} --prompt {SHORT} {ASKED} {SEEN}
read-replies made/answers.csv --replies given/replies.csv --prompt {SHORT} {ASKED}
bundle-replies made/viewer --logs made/logs
score {BED}/runs/visualbert-tiny.iid.iid.1/predictions.parquet --split {SPLIT} {ASKED}
gather-scores made/s.parquet --contrasts made/c.parquet --tallies made/t.parquet --evaluation {BED}/evaluation
publish-questions made/all.parquet {ASKED} --scenes {BED}/scenes/scenes.parquet
publish-split {PARTS} --questions made/all.parquet --split {SPLIT} --record made/iid.prov.json
publish-pictures {IMAGES} --questions made/all.parquet {SHOWN} --record made/images.prov.json
publish-card made/hub --questions made/all.parquet {CARD} --record made/card.prov.json
crate {BED} --project .
audit iid
export-neo4j {SCENE_TABLES} --out made/neo4j
load-neo4j {SCENE_TABLES} {ASKED}
checkpoint nobody/none --out made/list.json --hub made/cache
""".strip().splitlines()
# What asks a server runs until there is none, and what reads a file until it lacks one.
REFUSED = {"load-neo4j --scenes": "needs NEO4J_URI", "checkpoint nobody/none": "could not be fetched"}
REFUSED |= {"ask made/a.parquet": "make inspect", "bundle-replies made/viewer": "make inspect"}
REFUSED |= {"clevr read-hope": "cannot be opened", "clevr prelim-questions": "have no side counted"}
REFUSED |= {"word-released made/w.parquet": "does not exist", "judge given/no.csv": "does not exist"}
RUN = """
import json, shlex, sys
from compvqa.cli import app, commands
from compvqa.errors import InputError

commands()
refused = {}
for line in sys.argv[1:]:
    try:
        app(shlex.split(line), standalone_mode=False)
    except InputError as error:
        refused[" ".join(line.split()[:2])] = str(error)
print(json.dumps(refused))
"""


def noted(folder: Path) -> list[tuple[list[str], list[str]]]:
    """The arguments of each process, and by what way it imported heavy modules."""
    notes = [json.loads(path.read_text()) for path in folder.iterdir()]
    return [(note["arguments"], [" > ".join([*led, name]) for name, led in note["heavy"].items()]) for note in notes]


def give(project: Project) -> None:
    """Write what :data:`OTHERS` read besides the chain's results."""
    given = project.folder / "given"
    given.mkdir()
    columns = [field.name for field in fields(Download)]
    cats = Download("mine", "cats.csv", "https://127.0.0.1/cats.csv", "1", "lock", "MIT", "", "")
    files = {"gqa_objects.txt": "cat,9,animal,S\n", "gqa_attributes.txt": "red;9;color\n"}
    files |= {"cats.csv": "cat\n", "sources.tsv": "\t".join(columns) + "\n" + "\t".join(astuple(cats)) + "\n"}
    files |= {"gqa_relations.txt": "on,9,direct\n", "covr.jsonl": "{}\n", "paraphrases.csv": "question_id,text\n"}
    files |= {"replies.csv": "index,prediction\n"}
    for name, text in files.items():
        (given / name).write_text(text)
    image = tables.read(project.folder / BED / "scenes/scenes.parquet", SCENES)["image"][0].as_py()
    write_tsv(given / "features.tsv", [(image.partition(":")[2], detections(np.random.default_rng(0), 3))])


def test_in_the_chain_only_what_trains_extracts_or_predicts_imports_torch(finished):
    notes = noted(finished.folder.with_name("imports"))
    lines = [" ".join(arguments[1:]) for arguments, _ in notes if arguments[:1] == ["compvqa"]] + OTHERS
    ran = {name for name in commands() for line in lines if f"{line} ".startswith(f"{name} ")}
    assert ran == set(commands()) - ELSEWHERE, "give OTHERS a line for a new command"
    assert any(arguments[:1] == ["snakemake"] for arguments, _ in notes)
    wrong = [
        f"{' '.join(arguments[:2])}: {ways or 'no torch'}"
        for arguments, ways in notes
        if bool(ways) != (not MAY.keys().isdisjoint(arguments[:2]) or LEARNED in arguments)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_command_besides_imports_torch(finished, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(finished.folder, folder, symlinks=True)
    project = replace(finished, folder=folder).noting_imports(tmp_path / "imports")
    give(project)
    done = subprocess.run(
        [sys.executable, "-c", RUN, *OTHERS],
        cwd=folder,
        env=os.environ | project.environment | {"PYTHONPATH": "workflow", "HF_HUB_OFFLINE": "1", "NEO4J_URI": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    refused = json.loads(done.stdout.splitlines()[-1])
    assert refused.keys() == REFUSED.keys() and all(words in refused[name] for name, words in REFUSED.items()), refused
    ((_, ways),) = noted(tmp_path / "imports")
    assert ways == []
