# Takes the config; gives CONFIG (checked), T (the results' folder), JOBS (the folder of what jobs cost), and what every
# rule's params are made of.
import os
import re
import sys
from pathlib import Path
from shlex import quote
from urllib.parse import quote as percent_encoded, unquote

from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

PROJECT = Path(workflow.current_basedir).parent
# Where definitions, plugins and rules are found: beside the user's configs, then in the project.
BESIDE = list(dict.fromkeys(Path(file).resolve().parent for file in workflow.configfiles))
FOLDERS = [*[folder for folder in BESIDE if folder != PROJECT / "config"], PROJECT / "config"]
PLUGINS = os.pathsep.join(
    filter(
        None,
        [*[str(f / "plugins") for f in FOLDERS if (f / "plugins").is_dir()], dict(os.environ).get("COMPVQA_PLUGINS")],
    )
)
os.environ.update(COMPVQA_PLUGINS=PLUGINS)
sys.path.insert(0, str(PROJECT / "workflow"))

from compvqa.asking.prompts import Prompt
from compvqa.asking.settings import AskedModel
from compvqa.config import load_config
from compvqa.definitions import Definitions
from compvqa.errors import InputError
from compvqa.evaluation.answers import IID
from compvqa.evaluation.facets import of_language
from compvqa.files import check_writable
from compvqa.interrupts import be_patient
from compvqa.links import without_patterns
from compvqa.models.declared import SCENES, has_backbone, reads, sees
from compvqa.paper.needs import Plan, lacking
from compvqa.paper.reference import load as load_page, pages_of
from compvqa.publish.pictures import picture_files
from compvqa.records.digest import files_digest
from compvqa.run import validate
from compvqa.scenes.download import read_sources
from compvqa.scenes.ingest import has_places
from compvqa.settings import as_json
from compvqa.splits.setups import check_use, find_setup, module_of as module_of_setup
from compvqa.splits.splitters import read_definition
from compvqa.stages import modules_of, stage_code

MODELS = Definitions(*[folder / "models" for folder in FOLDERS])
PROMPTS = Definitions(*[folder / "prompts" for folder in FOLDERS])
PAPER = Definitions(*[folder / "paper" for folder in FOLDERS], nested=True)
try:
    CONFIG = without_patterns(load_config(config), Path(".snakemake/given"))
    DATASET = CONFIG.dataset  # the settings of the engine
    LANGUAGE = DATASET.language  # of the programs
    # Splits of the language come before those of all languages.
    SPLITS = Definitions(*[path for f in FOLDERS for path in (f / "splits" / LANGUAGE, f / "splits")])
    for definitions, names in (
        (SPLITS, CONFIG.splits.names),
        (MODELS, CONFIG.models.trained),
        (PAPER, CONFIG.paper.show),
    ):
        definitions.digest(*names)
    for stage, plugins in {
        "ingest": {"reader": [source.reader for source in CONFIG.sources]},
        "scores": {"contrast": list(CONFIG.scores.contrasts), "language": CONFIG.dataset.language},
        "baseline": {"model": list(CONFIG.models.baselines), "language": LANGUAGE},
    }.items():
        modules_of(stage, **plugins)
    CONFIG.check_models(
        {name: reads(MODELS.load(name)["model"]) for name in CONFIG.models.trained}
        | {name: reads(name) for name in CONFIG.models.baselines}
    )
    # Vision-language models, and their prompts, as files.
    ASKED_MODELS = {name: validate(AskedModel, MODELS.load(name), f"models/{name}") for name in CONFIG.models.asked}
    for asked in ASKED_MODELS.values():
        validate(Prompt, PROMPTS.load(asked.prompt), f"prompts/{asked.prompt}")
    of_language(LANGUAGE, CONFIG.scores.facets)
    for name in CONFIG.splits.names:
        check_use(
            read_definition(SPLITS.load(name)),
            CONFIG.models.curve.splits,
            CONFIG.models.variants if name in CONFIG.models.splits else [],
        )
except InputError as error:
    raise WorkflowError(str(error)) from None
be_patient()
LOOK = files_digest(PROJECT / "workflow/compvqa/paper/templates")
T = f"results/{CONFIG.testbed}"
TEMPLATES = Definitions(*[folder / "templates" / LANGUAGE for folder in FOLDERS])
JOBS = f"benchmarks/jobs/{CONFIG.testbed}"
# The splits by the chain whose dataset they divide; those of the main one, "", are published. An engine may have none.
CHAIN_OF = {name: read_definition(SPLITS.load(name)).chain for name in CONFIG.splits.names}
MAIN_SPLITS = [name for name, chain in CHAIN_OF.items() if not chain]
HAS_MAIN = bool(MAIN_SPLITS or not CHAIN_OF)
# What models answer and scores are of: all of the main chain, and what else is trained on; all where there is no main chain.
ANSWERED = [name for name, chain in CHAIN_OF.items() if not chain or not HAS_MAIN or name in CONFIG.models.splits]
# Where checkpoints of the Hugging Face Hub are kept: jobs read them there, and only `fetch` asks the hub.
HUB = "resources/hub"
# The rules that make features: of whole pictures, of crops without labels, of released files, or of drawn regions.
FEATURED = "pictures" if CONFIG.has_grids() else "crops" if CONFIG.has_crops() else "features"
FEATURED = "read_features" if CONFIG.features.released.sources else FEATURED
LEXICON = [f"{T}/lexicon.json"] if CONFIG.lexicon else []
PARAPHRASES = [f"{T}/dataset/paraphrases.parquet"] if CONFIG.paraphrases or DATASET.paraphrased else []
ONE_GPU = min(1, CONFIG.models.gpus)  # of jobs that use one at most: all but the training of question models
# What the engine's rules (rules/engines) add for the shared ones: files that pages read by name, the inputs that a
# command is given where they are not these files, and what a page cannot do without; definitions that are used; lists of
# checkpoints; further targets; and whether there is a rule `pretrain`, whose weights models start from.
SHOWN, GIVEN, REQUIRED = {}, {}, {}
DEFINED = {
    "splits": (SPLITS, list(CONFIG.splits.names)),
    "models": (MODELS, list(CONFIG.models.trained)),
    "paper": (PAPER, list(CONFIG.paper.show)),
}
CHECKPOINTS = []
ALSO = []
PRETRAINS = False
SCENE_TABLES = ["scenes", "objects", "attributes", "relations", "modifiers"]
PLACED = [source.name for source in CONFIG.sources if has_places(source.reader)]  # they know where things are in space
PLACES = ["positions", "directions"]
SCENE_FILES = expand(f"{T}/scenes/{{table}}.parquet", table=SCENE_TABLES + PLACES * bool(PLACED))
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
    f"COMPVQA_PLUGINS={quote(PLUGINS)} PYTHONNOUSERSITE=1 OMP_WAIT_POLICY=PASSIVE HF_HUB_CACHE={HUB} HF_HUB_OFFLINE=1; "
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
    "blender": CONFIG.containers.cpu,  # no image of ours has bpy: name one in the config that has
    "inspect": CONFIG.containers.cpu,  # nor inspect_ai
}
BIND = "".join(f" --bind {quote(str(folder))}" for folder in dict.fromkeys([PROJECT, *FOLDERS[:-1]]))
if "APPTAINER" in DEPLOYED:
    if BIND not in workflow.deployment_settings.apptainer_args:
        workflow.deployment_settings.apptainer_args += BIND
    for container in CONTAINERS.values():
        if "://" not in container and not Path(container).exists():
            raise WorkflowError(
                f"There is no image {container}: build it as docs/environments.md says, or name another in the config"
                " (containers)."
            )


def found_rules(name):
    """The file of rules of this name, of an engine or a world: the user's own, beside his config, or the project's."""
    files = [folder / "rules" / name for folder in [*FOLDERS[:-1], PROJECT]]
    return str(next((file for file in files if file.is_file()), files[-1]))


def near(path):
    """A path as seen from here, so that nothing runs again when the whole folder moves."""
    return os.path.relpath(path)


def data(value):
    """A value of the config, for params and input: Snakemake takes no brace in what a function gives for a wildcard."""
    return lambda wildcards: value


def code_of(stage, **plugins):
    """The code of a stage, worked out only for the jobs that a process plans: one that runs a job plans that one."""
    return lambda wildcards: stage_code(stage, **plugins)


def split_settings(name, m=None):
    """A split's definition and what all splits share, as JSON; with another M, unscaled, if one is given."""
    definition, shared = SPLITS.load(name), CONFIG.splits.model_dump(mode="json", exclude={"names"})
    if m is not None:
        definition, shared = {**definition, "m": m}, {**shared, "m_scale": 1}
    return as_json({"definition": definition, "settings": shared})


def model_settings(name, *sections, **changed):
    """A model's module and size, some of it changed, and further sections of its file, as JSON. Where its images are
    zeroed, what the file says under ``zeroed`` comes in the place of that."""
    model = MODELS.load(name)
    if changed.get("images") == "zeroed":
        update_config(model, model.get("zeroed", {}))
    size = {**model.get("settings", {}), **changed}
    return as_json({"model": model["model"], "settings": size} | {key: model.get(key, {}) for key in sections})


def module_of(model):
    """The module of a model: the name of a baseline, or as its file says."""
    return model if model in CONFIG.models.baselines else MODELS.load(model)["model"]


def start_of(model):
    """The pretrained weights that a model's training starts from; none where it has no backbone or starts from released
    ones, or where no model is pretrained."""
    own = MODELS.load(model).get("settings", {}).get("checkpoint") or not has_backbone(module_of(model))
    seed, starts = CONFIG.models.pretraining_seed, PRETRAINS and CONFIG.models.pretrained and not own
    return [f"{T}/pretrained/{model}.{seed}/model.safetensors"] if starts else []


def saw_of(model):
    """The lists of images that a model has seen before it is trained on questions: its encoder's and its pretraining's."""
    saw = [os.path.join(os.path.dirname(path), "saw.parquet") for path in start_of(model)]
    return saw + (ENCODER_SAW if features_of(model) else [])


def asked_of(model):
    """What the pretraining of a model asked."""
    return [os.path.join(os.path.dirname(path), "asked.parquet") for path in start_of(model)]


def seen_of(model, split):
    """What the guard found that a model has seen of a split, where it has seen anything before its training on it."""
    return [f"{T}/seen_before/{model}.{split}.parquet"] if saw_of(model) else []


def features_of(model):
    """The files of the features that a model reads; none for one that sees no image."""
    return FEATURES[sees(module_of(model))] if sees(module_of(model)) else []


def features_folder(model):
    """The words of the command line that name the folder of these."""
    return ["--features", os.path.dirname(features_of(model)[0])] if features_of(model) else []


def checkpoint_of(model):
    """The files that say which released weights, words and answers a model starts from: these themselves, where they are
    a file, and the lists of what was fetched from a hub."""
    settings = MODELS.load(model).get("settings", {})
    named = [settings[key] for key in ("checkpoint", "words", "answers") if settings.get(key)]
    return [path for name in named for path in ([name] if is_file(name) else staged((name, "main")))]


def is_file(checkpoint):
    """Whether a checkpoint is a file, not a folder or a name of a hub's."""
    return Path(checkpoint).suffix in (".bin", ".gz", ".safetensors", ".json")


def staged(checkpoint):
    """The list of what was fetched of a checkpoint (its name and revision), if a hub has it."""
    name, revision = checkpoint
    on_hub = not is_file(name) and not Path(name).is_absolute() and not Path(name).is_dir()
    return [f"{HUB}/{encoded(name.replace(os.sep, '--'))}@{encoded(revision)}.json"] if on_hub else []


def encoded(text):
    """A text as part of a file's name, from which ``unquote`` of urllib makes it again."""
    return percent_encoded(text, safe="")


def checkpoints():
    """For each checkpoint that the config names, the files that :func:`checkpoint_of` gives."""
    return [*map(checkpoint_of, CONFIG.models.trained), *CHECKPOINTS]


def given_files():
    """The files and folders of pictures outside the workflow that the config names, and released weights of its models."""
    raw = [path for paths in CONFIG.raw().values() for path in paths]
    lexicon = CONFIG.lexicon.files() if CONFIG.lexicon else []
    return [*map(str, [*raw, *lexicon, *DATASET.given(), *CONFIG.features.released.files, *CONFIG.images.values()])]


def definition_of(split):
    """A split's file, checked."""
    return read_definition(SPLITS.load(split))


def fine_tuned(model):
    """Whether a model comes with all its weights, from those who trained it: it is one run, which is asked and scored."""
    return bool(MODELS.load(model).get("fine_tuned"))


def setup_of(split):
    """The setup of a split: its parts, the variants that are trained on them, and what is predicted."""
    return find_setup(definition_of(split).setup)


def setup_module(split):
    """The module of a split's setup."""
    return module_of_setup(definition_of(split).setup)


def variants(model, split):
    """The variants that a model is trained in on a split; one without images only for a model that sees some. Of one that
    was fine-tuned elsewhere there is that on all of the data."""
    curve = CONFIG.models.curve
    if fine_tuned(model):
        return [IID] * (split == IID)
    named = CONFIG.models.variants if split != IID else ()
    asked = {"": split in (IID, *trained_on(model)), "easy": CONFIG.models.easy}
    asked |= {"curve": split in curve.splits and model in (curve.models or CONFIG.models.trained), "asked": False}
    found = setup_of(split).variants
    return [
        f"{name}{m}"
        for name, variant in found.items()
        if asked[variant.asked]
        and (variant.asked or not named or name in named)
        and ("images" not in variant.model or sees(module_of(model)))
        for m in (curve.sizes if variant.asked == "curve" else [""])
    ]


def trained_on(model):
    """The splits that a model is trained on, besides iid and for curves."""
    return CONFIG.models.splits_of.get(model, CONFIG.models.splits)


def seeds(model, split):
    """The seeds of a model's runs on a split."""
    found = split != IID and CONFIG.models.split_seeds or CONFIG.models.seeds
    return found[:1] if fine_tuned(model) else found


def untrained(split):
    """The variants that baselines answer a split in: those that change nothing but what is learnt from. All that is asked
    in the main chain is answered in that of the split iid."""
    if split == IID:
        return [IID]
    found, named = setup_of(split).variants, CONFIG.models.variants
    return [name for name, of in found.items() if not (of.asked or of.model) and (not named or name in named)]


def asked_in(model, split):
    """The variants that a vision-language model is asked in on a split: its own, one without pictures, and, if the model has
    shots, one whose shots are of what the split leaves out."""
    found = setup_of(split).variants
    blind = [name for name, of in found.items() if of.model == {"images": "zeroed"} and of.asked in ("", "asked")]
    return [
        next(iter(found)),
        *blind,
        *[name for name, of in found.items() if of.left_out and ASKED_MODELS[model].shots],
    ]


def learnt_by(split, variant):
    """The parts that a baseline learns from: the main chain's own, or those of a split."""
    setup = setup_of(split)
    fit = setup.variant(variant).fit
    return [setup.part(name).side for name in fit] if split == IID else fit


def shots_of(split, variant):
    """The words of the command line that say where the shots of a run come from."""
    setup = setup_of(split)
    left_out = setup.variant(variant).left_out
    sides = [setup.part(name).side for name in left_out]
    return repeated("--shot-part", sides or learnt_by(split, variant)) + repeated("--left-out-of", left_out)


def dataset_of(split, variant=None):
    """The questions that a split draws from, or that a run is trained on."""
    other = setup_of(split).variant(variant).chain if variant else ""
    return dataset_in(other or definition_of(split).chain)


def dataset_in(chain):
    """The questions of a chain, the main one without a name."""
    return f"{T}/{chain and f'{chain}/'}dataset/questions.parquet"


def split_of(split, variant):
    """The table that says which of these, where they are not the dataset's own parts."""
    found = setup_of(split).variant(variant)
    if found.chain:
        return []
    return f"{T}/splits/{split}{f'.{variant}' if found.asked == 'curve' else ''}.parquet"


def predicted_by(split):
    """The parts that the runs of a split answer, and its table. Those of the split iid are scored on every split, and
    answer whatever any asks, by the dataset's own parts."""
    if split != IID:
        return setup_of(split).predicted, f"{T}/splits/{split}.parquet"
    asked = [setup.part(name).side for setup in map(setup_of, MAIN_SPLITS) for name in setup.predicted]
    return list(dict.fromkeys(asked)), []


# What a run ends in: the datasets that its splits divide, and the pages. Questions are shown of the first.
DIVIDED = list(dict.fromkeys(map(dataset_of, CONFIG.splits.names))) or [dataset_in("")]
INDEX = [f"{T}/paper/index.html"]


def scored_of(chain):
    """The splits of a chain that are scored."""
    return [name for name in ANSWERED if CHAIN_OF[name] == chain]


def answers_of(chain):
    """The answers of the runs of these: in the main chain of those trained on iid as well, which has all parts."""
    splits = {*scored_of(chain), *([] if chain else [IID])}
    files = {f"{T}/runs/{run}/predictions.parquet": run for run in RUNS}
    files |= {f"{T}/baselines/{run}.parquet": run for run in BASELINES}
    files |= {f"{T}/asked/{run}.parquet": run for run in ASKED}
    return [path for path, run in files.items() if run.split(".")[1] in splits]


def seen_in(chain):
    """What models have seen of these splits before they were trained on them."""
    splits = {*scored_of(chain), *([] if chain else [IID])}
    return [path for (model, split), files in SEEN.items() if split in splits for path in files]


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
            words += repeated("--input", [f"{what}={near(folder)}" for folder in OWN[what]])
        else:
            words += repeated("--input", GIVEN.get(what, [f"{what}={path}" for path in files]))
    return words


def definition(name):
    """Hashes of what defines a table or figure: it, those whose rows it has, and definitions that it reads."""
    data = PAPER.load(name)
    others = [beside(name, page) for page in pages_of(data.get("rows_from"))]
    hashes = [PAPER.digest(*sorted({name, *others}))]
    read = {"templates": TEMPLATES, "definitions": SPLITS, "models": MODELS}
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
