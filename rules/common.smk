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
from compvqa.files import check_writable, read_yaml
from compvqa.interrupts import be_patient
from compvqa.links import without_patterns
from compvqa.models.declared import SCENES, has_backbone, reads, sees
from compvqa.paper.needs import Plan, lacking
from compvqa.paper.reference import load as load_page, pages_of
from compvqa.publish.pictures import archives_of, picture_files
from compvqa.records.digest import files_digest
from compvqa.run import validate
from compvqa.scenes.download import read_sources
from compvqa.scenes.ingest import has_places
from compvqa.settings import as_json
from compvqa.splits.setups import check_use, find_setup, module_of as module_of_setup
from compvqa.splits.splitters import read_definition
from compvqa.stages import modules_of, stage_code
from one_clock import with_one_clock

MODELS = Definitions(*[folder / "models" for folder in FOLDERS])
PROMPTS = Definitions(*[folder / "prompts" for folder in FOLDERS])
PAPER = Definitions(*[folder / "paper" for folder in FOLDERS], nested=True)
try:
    for file in workflow.configfiles:
        read_yaml(file)  # Snakemake takes the last of two keys of one name silently
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
            CONFIG.models.variants_on(name) if name in CONFIG.models.splits else [],
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
