# What runs there are, what each needs and gives, and what that ends in: models, splits with their setups, checkpoints. These
# are functions that rules of several stages ask; a run is <model>.<split>.<variant>.<seed>.
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
    named = CONFIG.models.variants_on(split) if split != IID else ()
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
    found = CONFIG.models.seeds_of.get(split, found)
    return found[:1] if fine_tuned(model) else found


def untrained(split):
    """The variants that baselines answer a split in: those that change nothing but what is learnt from. All that is asked
    in the main chain is answered in that of the split iid."""
    if split == IID:
        return [IID]
    found, named = setup_of(split).variants, CONFIG.models.variants_on(split)
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
