# Takes the config; gives CONFIG (checked), T (the results' folder), JOBS (the folder of what jobs cost), and what every
# rule's params are made of.
import os
import re
import sys
from pathlib import Path
from shlex import quote
from urllib.parse import quote as percent_encoded, unquote

from snakemake.exceptions import WorkflowError

PROJECT = Path(workflow.current_basedir).parent
sys.path.insert(0, str(PROJECT / "workflow"))

from compvqa.config import Definitions, as_json, load_config
from compvqa.errors import InputError
from compvqa.evaluation.answers import IID
from compvqa.covr.judging.distractors import NO_FILTERS
from compvqa.files import check_writable
from compvqa.covr.filters.images.presence import ScoringSettings
from compvqa.covr.filters.names.settings import MINILM
from compvqa.interrupts import be_patient
from compvqa.links import without_patterns
from compvqa.models.declared import REGIONS, has_backbone, reads
from compvqa.paper.needs import Plan, lacking
from compvqa.paper.reference import load as load_page
from compvqa.records.digest import files_digest
from compvqa.scenes.download import read_sources
from compvqa.splits.setups import check_use, find_setup, module_of as module_of_setup
from compvqa.splits.splitters import read_definition
from compvqa.stages import modules_of, stage_code

SPLITS = Definitions(PROJECT / "config/splits")
MODELS = Definitions(PROJECT / "config/models")
PAPER = Definitions(PROJECT / "config/paper", nested=True)
TEMPLATES = Definitions(PROJECT / "config/templates/covr")
try:
    CONFIG = without_patterns(load_config(config), Path(".snakemake/given"))
    for definitions, names in (
        (SPLITS, CONFIG.splits.names),
        (MODELS, CONFIG.models.trained),
        (PAPER, CONFIG.paper.show),
    ):
        definitions.digest(*names)
    CONFIG.check_trained({name: reads(MODELS.load(name)["model"]) for name in CONFIG.models.trained})
    for stage, plugins in {
        "ingest": {"reader": [source.reader for source in CONFIG.sources]},
        "overlap": {"method": CONFIG.overlap.method},
        "candidates": {"backend": CONFIG.candidates.backend},
        "presence": {"method": CONFIG.presence.method, "models": []},
        "scores": {"contrast": list(CONFIG.scores.contrasts), "language": CONFIG.language},
        "baseline": {"model": list(CONFIG.models.baselines)},
    }.items():
        modules_of(stage, **plugins)
    for name in CONFIG.splits.names:
        check_use(read_definition(SPLITS.load(name)), CONFIG.models.splits, CONFIG.models.curve.splits)
except InputError as error:
    raise WorkflowError(str(error)) from None
be_patient()
LOOK = files_digest(PROJECT / "workflow/compvqa/paper/templates")
TEMPLATE_KINDS = sorted({TEMPLATES.load(name)["kind"] for name in TEMPLATES.names()})
T = f"results/{CONFIG.testbed}"
LANGUAGE = CONFIG.language  # of the programs
JOBS = f"benchmarks/jobs/{CONFIG.testbed}"
SPRITES = str(CONFIG.world)
# Chains from overlap to questions by their methods: the main one, whose files lie in T, and those it is judged beside.
ARMS = {f"{CONFIG.overlap.method}-{CONFIG.presence.method}": ""}
ARMS |= {name: f"arms/{name}/" for name in CONFIG.judged.arms if name not in ARMS}
# The splits of the main chain's dataset: these are scored, shown and published.
MAIN_SPLITS = [name for name in CONFIG.splits.names if not SPLITS.load(name).get("chain")]
# Where checkpoints of the Hugging Face Hub are kept: jobs read them there, and only `fetch` asks the hub.
HUB = "resources/hub"
ENCODER_CHECKPOINT = (CONFIG.word_filter.encoder.checkpoint, CONFIG.word_filter.encoder.revision or "main")
LEXICON = [f"{T}/lexicon.json"] if CONFIG.lexicon else []
PARAPHRASES = [f"{T}/dataset/paraphrases.parquet"] if CONFIG.paraphrases or CONFIG.released else []
ONE_GPU = min(1, CONFIG.models.gpus)  # of jobs that use one at most: all but the training of question models
EASY = "easy/"  # the chain of VBEasyDistractors: the main one, but for its questions
SCENE_TABLES = ["scenes", "objects", "attributes", "relations", "modifiers"]
# How each stage's shell line ends: its part of the config, its code, and its log (also shown). Whatever a shell line says
# between braces is quoted (:q, each element of a list for itself), which tests/workflow/test_workflow_shell.py enforces.
TEE = " 2>&1 | tee {log:q}"
LOG = f" --code {{params.code:q}}{TEE}"
SEED = f" --seed {{params.seed:q}}{LOG}"
STAGE = f" --config {{params.config:q}}{SEED}"

# How jobs get their Python: from conda, from an image, or, with neither, the interpreter that runs this.
DEPLOYED = {deployment.name for deployment in workflow.deployment_settings.deployment_method}
INTERPRETER = "" if DEPLOYED & {"CONDA", "APPTAINER"} else f'PATH={quote(str(Path(sys.executable).parent))}:"$PATH" '
# Jobs run this package, also when the workflow runs in another folder. Without IFS, a variable in a line is one word,
# whatever is in it.
shell.prefix(
    "set -feuo pipefail; IFS=; "
    f"export {INTERPRETER}PROJECT={quote(str(PROJECT))} PYTHONPATH={quote(str(PROJECT / 'workflow'))} "
    f"PYTHONNOUSERSITE=1 OMP_WAIT_POLICY=PASSIVE HF_HUB_CACHE={HUB} HF_HUB_OFFLINE=1; "
)


onstart:
    try:
        for folder in (T, JOBS, "logs"):
            check_writable(folder)
    except InputError as error:
        raise WorkflowError(str(error)) from None


# The image of each family of stages. It must see the package: Snakemake itself binds only the folder it runs in.
CONTAINERS = {
    "data": CONFIG.containers.cpu,
    "models": CONFIG.containers.gpu if CONFIG.models.gpus else CONFIG.containers.cpu,
    "publish": CONFIG.containers.cpu,
    "graph": CONFIG.containers.neo4j if CONFIG.candidates.backend == "neo4j" else CONFIG.containers.cpu,
}
BIND = f" --bind {quote(str(PROJECT))}"
if "APPTAINER" in DEPLOYED:
    if BIND not in workflow.deployment_settings.apptainer_args:
        workflow.deployment_settings.apptainer_args += BIND
    for container in CONTAINERS.values():
        if "://" not in container and not Path(container).exists():
            raise WorkflowError(
                f"There is no image {container}: build it as docs/environments.md says, or name another in the config"
                " (containers)."
            )


wildcard_constraints:
    arm="((arms/[a-z0-9_]+-[a-z0-9_]+|easy)/)?",


def data(value):
    """A value of the config, for params and input: Snakemake takes no brace in what a function gives for a wildcard."""
    return lambda wildcards: value


def code_of(stage, **plugins):
    """The code of a stage, worked out only for the jobs that a process plans: one that runs a job plans that one."""
    return lambda wildcards: stage_code(stage, **plugins)


def method(stage, arm):
    """The method of overlap or presence in a chain: the main one's by the config, another's by its name."""
    if not filtered(arm):
        return getattr(CONFIG, stage).method
    return Path(arm).name.split("-")[["overlap", "presence"].index(stage)]


def family(stage):
    """The family of overlap or presence: models, where some chain has it learned."""
    return "models" if "learned" in {method(stage, arm) for arm in ARMS.values()} else "data"


def filtered(arm):
    """The chain whose related images a chain asks about."""
    return "" if arm == EASY else arm


def searched(arm):
    """The chain whose seeds and candidates a chain uses: the first one with its overlap of names."""
    return next((other for other in ARMS.values() if method("overlap", other) == method("overlap", arm)), arm)


def found(table, wildcards):
    """A shard's seeds or candidates, as a chain uses them."""
    return f"{T}/{searched(wildcards.arm)}graphs/{table}/{wildcards.scatteritem}.parquet"


def filter_settings(stage, arm):
    """The section overlap or presence with the method of a chain, as JSON."""
    return CONFIG.section(stage, method=method(stage, arm))


def question_settings(arm):
    """The section questions as JSON; a chain that is only judged asks about a share of its seeds."""
    changed = {"distractors": "random"} if arm == EASY else {"seed_share": CONFIG.judged.seed_share}
    return CONFIG.section("questions", **(changed if arm else {}))


def split_settings(name, m=None):
    """A split's definition and what all splits share, as JSON; with another M, unscaled, if one is given."""
    definition, shared = SPLITS.load(name), CONFIG.splits.model_dump(mode="json", exclude={"names"})
    if m is not None:
        definition, shared = {**definition, "m": m}, {**shared, "m_scale": 1}
    return as_json({"definition": definition, "settings": shared})


def model_settings(name, *sections, **changed):
    """A model's module and size, some of it changed, and further sections of its file, as JSON."""
    model = MODELS.load(name)
    size = {**model.get("settings", {}), **changed}
    return as_json({"model": model["model"], "settings": size} | {key: model.get(key, {}) for key in sections})


def module_of(model):
    """The module of a model: the name of a baseline, or as its file says."""
    return model if model in CONFIG.models.baselines else MODELS.load(model)["model"]


def start_of(model):
    """The pretrained weights that a model's training starts from; none where it has no backbone or starts from released
    ones, or where there are no graphs to pretrain on."""
    own = MODELS.load(model).get("settings", {}).get("checkpoint") or not has_backbone(module_of(model))
    return (
        [] if own or CONFIG.released else [f"{T}/pretrained/{model}.{CONFIG.models.pretraining_seed}/model.safetensors"]
    )


def features_of(model):
    """The regions and features that a model reads; none for one that sees no image."""
    return [rules.features.output.regions, rules.features.output.features] if REGIONS in reads(module_of(model)) else []


def checkpoint_of(model):
    """The files that say which released weights and words a model starts from: the weights themselves, where they are a
    file, and the lists of what was fetched from a hub."""
    settings = MODELS.load(model).get("settings", {})
    named = [settings[key] for key in ("checkpoint", "words") if settings.get(key)]
    return [path for name in named for path in ([name] if is_weights(name) else staged((name, "main")))]


def is_weights(checkpoint):
    """Whether a checkpoint is a file, not a folder or a name of a hub's."""
    return Path(checkpoint).suffix in (".bin", ".safetensors")


def staged(checkpoint):
    """The list of what was fetched of a checkpoint (its name and revision), if a hub has it."""
    name, revision = checkpoint
    on_hub = name != MINILM and not is_weights(name) and not Path(name).is_absolute() and not Path(name).is_dir()
    return [f"{HUB}/{encoded(name.replace(os.sep, '--'))}@{encoded(revision)}.json"] if on_hub else []


def encoded(text):
    """A text as part of a file's name, from which ``unquote`` of urllib makes it again."""
    return percent_encoded(text, safe="")


def checkpoints():
    """For each checkpoint that the config names, the files that :func:`checkpoint_of` gives."""
    models = [*CONFIG.models.trained, *[CONFIG.presence.model for arm in ARMS.values() if presence_models(arm)]]
    words = any(method("overlap", arm) == "learned" for arm in ARMS.values()) and not CONFIG.released
    return [checkpoint_of(model) for model in dict.fromkeys(models)] + [staged(ENCODER_CHECKPOINT)] * words


def given_files():
    """The files outside the workflow that the config names, and the released weights of its models."""
    sources = [path for source in CONFIG.sources for path in source.files.values()]
    questions = CONFIG.released.parts.values() if CONFIG.released else []
    lexicon = CONFIG.lexicon.files() if CONFIG.lexicon else []
    labels = [] if CONFIG.released else CONFIG.word_labels.files
    return [*map(str, [*sources, *questions, *lexicon, *labels, *CONFIG.features.released.files])]


def definition_of(split):
    """A split's file, checked."""
    return read_definition(SPLITS.load(split))


def setup_of(split):
    """The setup of a split: its parts, the variants that are trained on them, and what is predicted."""
    return find_setup(definition_of(split).setup)


def setup_module(split):
    """The module of a split's setup."""
    return module_of_setup(definition_of(split).setup)


def variants(model, split):
    """The variants that a model is trained in on a split; one without images only for a model that reads regions."""
    curve = CONFIG.models.curve
    asked = {"": split in (IID, *CONFIG.models.splits), "easy": CONFIG.models.easy}
    asked["curve"] = split in curve.splits and model in (curve.models or CONFIG.models.trained)
    found = setup_of(split).variants
    return [
        f"{name}{m}"
        for name, variant in found.items()
        if asked[variant.asked] and ("images" not in variant.model or REGIONS in reads(module_of(model)))
        for m in (curve.sizes if variant.asked == "curve" else [""])
    ]


def dataset_of(split, variant=None):
    """The questions that a split draws from, or that a run is trained on."""
    other = setup_of(split).variant(variant).chain if variant else ""
    chain = other or definition_of(split).chain
    return f"{T}/{chain and f'{chain}/'}dataset/questions.parquet"


def split_of(split, variant):
    """The table that says which of these, where they are not the dataset's own parts."""
    found = setup_of(split).variant(variant)
    if found.chain:
        return []
    return f"{T}/splits/{split}{f'.{variant}' if found.asked == 'curve' else ''}.parquet"


def presence_settings(arm=""):
    """What the stages that score presence in a chain get, as JSON: how, and what other sections say of it."""
    section = CONFIG.presence
    scoring = section.model_dump(mode="json", include=set(ScoringSettings.model_fields))
    chosen = {"method": method("presence", arm), "folds": section.examples.folds, "tried": CONFIG.related.tried}
    return as_json({**scoring, **chosen})


def presence_models(arm=""):
    """The modules of the models that score presence in a chain."""
    return [module_of(CONFIG.presence.model)] if method("presence", arm) == "learned" else []


def presence_inputs(arm=""):
    """The files of the folds' models and of the features, where presence is learned."""
    if not presence_models(arm):
        return []
    folds = range(CONFIG.presence.examples.folds)
    files = [
        f"{T}/filters/images/{fold}/{file}"
        for fold in folds
        for file in ("model.safetensors", "model.json", "saw.parquet")
    ]
    features = rules.features.output
    own = [features.saw] if features.get("saw") else []  # released features come from somebody else's encoder
    return [*files, features.regions, features.features, *own, *checkpoint_of(CONFIG.presence.model)]


def presence_options(arm=""):
    """The words of the command line that name them."""
    return ["--models", f"{T}/filters/images", "--features", f"{T}/features"] if presence_models(arm) else []


def presence_gpus(arm=""):
    """GPUs that a job asks for to score presence."""
    return ONE_GPU if presence_models(arm) else 0


def presence_code(stage, arm="", **plugins):
    """The code of a stage that scores presence in a chain."""
    return stage_code(stage, method=method("presence", arm), models=presence_models(arm), **plugins)


def thresholds_of(arm):
    """The file of calibrated thresholds, where a chain uses them."""
    same = method("presence", arm) == CONFIG.presence.method
    return [f"{T}/filters/images/thresholds.json"] if CONFIG.presence.calibrated and same else []


def repeated(option, values):
    """The words of a command line that give an option once for each value; the shell line quotes them (:q)."""
    return [f"{option}={value}" for value in values]


def read_by(name):
    """What a table or figure reads, by the names that it has for it: files of SHOWN in paper.smk; of other tables, those of
    its paper."""
    inputs = PAPER.load(name)["inputs"]
    return {what: SHOWN.get(beside(name, what) if what.endswith(".csv") else what) for what in inputs}


def beside(name, other):
    """The name of another page of the paper that a page is of."""
    return f"{os.path.dirname(name)}/{other}"


def shown(name):
    """The files that a table or figure waits for."""
    return [path for files in read_by(name).values() for path in files]


def given(name):
    """The inputs of a table or figure as words of the command line."""
    words = []
    for what, files in read_by(name).items():
        if what in OWN:
            words += repeated("--own", [f"{what}={OWN[what]}"])
        else:
            words += repeated("--input", GIVEN.get(what, [f"{what}={path}" for path in files]))
    return words


def definition(name):
    """Hashes of what defines a table or figure: it, those whose rows it has, and definitions that it reads."""
    data = PAPER.load(name)
    others = [beside(name, data["rows_from"])] if "rows_from" in data else []
    hashes = [PAPER.digest(*sorted({name, *others}))]
    read = {"templates": TEMPLATES, "definitions": SPLITS}
    return hashes + [folder.digest() for what, folder in read.items() if what in data["inputs"]]


def titles(name):
    """How the report calls a table or figure."""
    return {"what": PAPER.load(name)["title"], "of": PAPER.load(name)["citation"]}


def memory(megabytes, per_mb=0, of=()):
    """Memory that grows with the MB of the inputs (or of those named by ``of``) and with each attempt, and what Snakemake
    itself takes in a job of a cluster."""
    return lambda wildcards, input, attempt: int((megabytes + per_mb * size_mb(input, of)) * attempt) + 500


def minutes(number, per_mb=0, of=()):
    """Run time that grows in the same way."""
    return lambda wildcards, input, attempt: int((number + per_mb * size_mb(input, of)) * attempt)


def size_mb(input, of=()):
    """The size of the inputs that are there; Snakemake asks again when all are, before it submits a job."""
    files = [path for name in of for path in ([input[name]] if isinstance(input[name], str) else input[name])] or input
    return sum(os.path.getsize(path) for path in files if os.path.isfile(path)) / 1e6


scattergather:
    shards=CONFIG.shards,
