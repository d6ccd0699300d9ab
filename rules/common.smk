# Takes the config; gives CONFIG (checked), T (the results' folder), and what every rule's params are made of.
import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

PROJECT = Path(workflow.current_basedir).parent
sys.path.insert(0, str(PROJECT / "workflow"))

from compvqa.config import Definitions, as_json, load_config
from compvqa.errors import InputError
from compvqa.filters.images import ScoringSettings
from compvqa.provenance.digest import files_digest
from compvqa.scenes.download import read_sources
from compvqa.stages import stage_code

SPLITS = Definitions(PROJECT / "config/splits")
MODELS = Definitions(PROJECT / "config/models")
PAPER = Definitions(PROJECT / "config/paper")
TEMPLATES = Definitions(PROJECT / "config/templates/covr")
try:
    CONFIG = load_config(config)
    for definitions, names in (
        (SPLITS, CONFIG.splits.names),
        (MODELS, CONFIG.models.trained),
        (PAPER, CONFIG.paper.show),
    ):
        definitions.digest(*names)
except InputError as error:
    raise WorkflowError(str(error)) from None
LOOK = files_digest(PROJECT / "workflow/compvqa/paper/templates")
TEMPLATE_KINDS = sorted({TEMPLATES.load(path.stem)["kind"] for path in TEMPLATES.folder.glob("*.yaml")})
T = f"results/{CONFIG.testbed}"
SPRITES = str(CONFIG.world)
PRESENCE_ENV = "../envs/models.yaml" if CONFIG.presence.method == "learned" else "../envs/data.yaml"
# Whether the features' encoder is trained here, on images outside the test-bed
OWN_ENCODER = CONFIG.aside is not None and not CONFIG.features.released.sources
SCENE_TABLES = ["scenes", "objects", "attributes", "relations", "modifiers"]
# How each stage's shell line ends: its part of the config, its code, and its log (also shown).
LOG = " --code {params.code} 2>&1 | tee {log}"
SEED = f" --seed {{params.seed}}{LOG}"
STAGE = f" --config {{params.config:q}}{SEED}"

# Jobs run this interpreter and this package, also when the workflow runs in another folder.
shell.prefix(
    "set -euo pipefail; "
    f"export PATH='{Path(sys.executable).parent}':\"$PATH\" PROJECT='{PROJECT}' PYTHONPATH='{PROJECT / 'workflow'}' "
    "PYTHONNOUSERSITE=1 OMP_WAIT_POLICY=PASSIVE; "
)


def split_settings(name):
    """A split's definition and what all splits share, as JSON."""
    shared = CONFIG.splits.model_dump(mode="json", exclude={"names"})
    return as_json({"definition": SPLITS.load(name), "settings": shared})


def model_settings(name, *sections, **changed):
    """A model's module and size, some of it changed, and further sections of its file, as JSON."""
    model = MODELS.load(name)
    size = {**model.get("settings", {}), **changed}
    return as_json({"model": model["model"], "settings": size} | {key: model.get(key, {}) for key in sections})


def module_of(model):
    """The module of a model: the name of a baseline, or as its file says."""
    return model if model in CONFIG.models.baselines else MODELS.load(model)["model"]


def presence_settings():
    """What the stages that score presence get, as JSON: how, and what other sections say of it."""
    section = CONFIG.presence
    scoring = section.model_dump(mode="json", include=set(ScoringSettings.model_fields))
    return as_json({**scoring, "folds": section.examples.folds, "tried": CONFIG.related.tried})


def presence_models():
    """The modules of the models that score presence."""
    return [module_of(CONFIG.presence.model)] if CONFIG.presence.method == "learned" else []


def presence_inputs():
    """The files of the folds' models and of the features, where presence is learned."""
    if not presence_models():
        return []
    folds = range(CONFIG.presence.examples.folds)
    files = [
        f"{T}/filters/images/{fold}/{file}"
        for fold in folds
        for file in ("model.safetensors", "model.json", "saw.parquet")
    ]
    encoder = [f"{T}/features/encoder_saw.parquet"] if OWN_ENCODER else []
    return [*files, f"{T}/features/regions.parquet", f"{T}/features/features.npy", *encoder]


def presence_options():
    """The command-line options that name them."""
    return f"--models {T}/filters/images --features {T}/features" if presence_models() else ""


def presence_gpus():
    """GPUs that a job asks for to score presence."""
    return CONFIG.models.gpus if presence_models() else 0


def repeated(option, values):
    """A command-line option that is given once for each value."""
    return " ".join(f"{option} {value}" for value in values)


def shown(name):
    """The files that a table or figure waits for (by SHOWN in paper.smk)."""
    return [path for given in PAPER.load(name)["inputs"] for path in SHOWN[given]]


def given(name):
    """The inputs of a table or figure as command-line options."""
    inputs = []
    for what in PAPER.load(name)["inputs"]:
        inputs += GIVEN[what] if what in GIVEN else [f"{what}={path}" for path in SHOWN[what]]
    return repeated("--input", inputs)


def definition(name):
    """Hashes of what defines a table or figure: it, those whose rows it has, the question templates if it reads them."""
    data = PAPER.load(name)
    hashes = [PAPER.digest(*sorted({name, data.get("rows_from", name)}))]
    return hashes + ([TEMPLATES.digest()] if "templates" in data["inputs"] else [])


def titles(name):
    """How the report calls a table or figure."""
    return {"what": PAPER.load(name)["title"], "of": PAPER.load(name)["citation"]}


def memory(megabytes):
    """Memory that grows with each attempt."""
    return lambda wildcards, attempt: megabytes * attempt


def minutes(number):
    """Run time that grows with each attempt."""
    return lambda wildcards, attempt: number * attempt


scattergather:
    shards=CONFIG.shards,
