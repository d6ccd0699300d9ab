# Takes the config; gives COVR's chains from overlap to questions, and what their filters need.
from compvqa.covr.filters.images.presence import ScoringSettings
from compvqa.covr.filters.words.settings import MINILM
from compvqa.covr.judging.distractors import NO_FILTERS
from compvqa.scenes.lexicon import KINDS as WORD_KINDS

# Chains by their methods: the main one, whose files lie in T, and those it is judged beside.
ARMS = {f"{DATASET.overlap.method}-{DATASET.presence.method}": ""}
ARMS |= {name: f"arms/{name}/" for name in DATASET.judged.arms if name not in ARMS}
EASY = "easy/"  # the chain of VBEasyDistractors: the main one, but for its questions
TEMPLATE_KINDS = sorted({TEMPLATES.load(name)["kind"] for name in TEMPLATES.names()})
ENCODER_OF_WORDS = DATASET.word_filter.encoder
WORD_CHECKPOINT = (
    []
    if ENCODER_OF_WORDS.checkpoint == MINILM
    else staged((ENCODER_OF_WORDS.checkpoint, ENCODER_OF_WORDS.revision or "main"))
)
CONTAINERS["graph"] = CONFIG.containers.neo4j if DATASET.candidates.backend == "neo4j" else CONFIG.containers.cpu


wildcard_constraints:
    arm="((arms/[a-z0-9_]+-[a-z0-9_]+|easy)/)?",


def method(stage, arm):
    """The method of overlap or presence in a chain: the main one's by the config, another's by its name."""
    if not filtered(arm):
        return getattr(DATASET, stage).method
    return Path(arm).name.split("-")[["overlap", "presence"].index(stage)]


def word_methods(arm):
    """The method of overlap of each kind of names in a chain: what the config says of kinds goes with its method."""
    same = method("overlap", arm) == DATASET.overlap.method
    return {kind: DATASET.overlap.of(kind) if same else method("overlap", arm) for kind in WORD_KINDS}


def learned_words(arm):
    """The kinds of names whose overlap a chain has from a trained model."""
    return [kind for kind, chosen in word_methods(arm).items() if chosen == "learned"]


def family(stage):
    """The family of overlap or presence: models, where some chain has it learned."""
    learned = learned_words if stage == "overlap" else presence_models
    return "models" if any(map(learned, ARMS.values())) else "data"


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
    own = {} if method(stage, arm) == getattr(DATASET, stage).method else {"methods": {}}
    return DATASET.section(stage, method=method(stage, arm), **(own if stage == "overlap" else {}))


def question_settings(arm):
    """The section questions as JSON; a chain that is only judged asks about a share of its seeds."""
    changed = {"distractors": "random"} if arm == EASY else {"seed_share": DATASET.judged.seed_share}
    return DATASET.section("questions", **(changed if arm else {}))


def word_filters(kinds):
    """The files of the trained word filters of some kinds, and what these say of the pairs held out from them."""
    return expand([rules.word_filter.output[name] for name in ("weights", "model", "scored")], names=kinds)


def presence_settings(arm="", **further):
    """What the stages that score presence in a chain get, as JSON: how, what other sections say of it, and further keys."""
    section = DATASET.presence
    scoring = section.model_dump(mode="json", include=set(ScoringSettings.model_fields))
    chosen = {"method": method("presence", arm), "folds": section.examples.folds, "tried": DATASET.related.tried}
    return as_json({**scoring, **chosen, **further})


def presence_models(arm=""):
    """The modules of the models that score presence in a chain."""
    return [module_of(DATASET.presence.model)] if method("presence", arm) == "learned" else []


def presence_inputs(arm=""):
    """The files of the folds' models and of the features, where presence is learned."""
    if not presence_models(arm):
        return []
    folds = range(DATASET.presence.examples.folds)
    files = [
        f"{T}/filters/images/{fold}/{file}"
        for fold in folds
        for file in ("model.safetensors", "model.json", "saw.parquet")
    ]
    features = rules.features.output
    own = [features.saw] if features.get("saw") else []  # released features come from somebody else's encoder
    return [*files, features.regions, features.features, *own, *checkpoint_of(DATASET.presence.model)]


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
    same = method("presence", arm) == DATASET.presence.method
    return [f"{T}/filters/images/thresholds.json"] if DATASET.presence.calibrated and same else []


def risks_of(arm):
    """The tables of the risks of a chain's questions, where there is a target: what tells risks is there then."""
    asked = DATASET.balance.target_risk is not None
    return gather.shards(f"{T}/{arm}risk/{{scatteritem}}.parquet") if asked and not filtered(arm) else []


if any(map(presence_models, ARMS.values())):
    CHECKPOINTS.append(checkpoint_of(DATASET.presence.model))
    DEFINED["models"][1].append(DATASET.presence.model)
if any(map(learned_words, ARMS.values())):
    CHECKPOINTS.append(WORD_CHECKPOINT)
DEFINED["templates"] = (TEMPLATES, TEMPLATES.names())
PRETRAINS = True
