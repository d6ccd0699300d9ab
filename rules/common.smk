# Takes the config; gives CONFIG (checked), T (the results' folder), and what every rule's params are made of.
import json
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

PROJECT = Path(workflow.current_basedir).parent
sys.path.insert(0, str(PROJECT / "workflow"))

from compvqa.config import load_config
from compvqa.errors import InputError
from compvqa.provenance.digest import code_digest

try:
    CONFIG = load_config(config, PROJECT / "config")
except InputError as error:
    raise WorkflowError(str(error)) from None

T = f"results/{CONFIG.testbed}"
SPRITES = "resources/sprites"
SCENE_TABLES = ["scenes", "objects", "attributes", "relations", "modifiers"]
# How each stage's shell line ends: its part of the config, its code, and its log (also shown).
STAGE = "--config {params.config:q} --seed {params.seed} --code {params.code} 2>&1 | tee {log}"

# Jobs run this interpreter and this package, also when the workflow runs in another folder.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
shell.prefix(f"set -euo pipefail; export PYTHONPATH='{PROJECT / 'workflow'}' PYTHONNOUSERSITE=1 OMP_WAIT_POLICY=PASSIVE; ")


def settings(section):
    """A section of the config as the JSON that a stage gets."""
    return json.dumps(CONFIG.section(section), sort_keys=True, ensure_ascii=False)


def memory(megabytes):
    """Memory that grows with each attempt."""
    return lambda wildcards, attempt: megabytes * attempt


def minutes(number):
    """Run time that grows with each attempt."""
    return lambda wildcards, attempt: number * attempt


scattergather:
    shards=CONFIG.shards,
