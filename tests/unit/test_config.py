"""The configuration: what it accepts, refuses, and finds by name."""

import re

import pytest
import yaml
from snakemake.utils import update_config

from compvqa.config import load_config, read_config, schema
from compvqa.defaults import defaults
from compvqa.definitions import Definitions
from compvqa.errors import InputError
from compvqa.splits.setups import find_setup

MINE = {
    "testbed": "mine",
    "sources": [{"name": "a", "reader": "gqa", "files": {"train": "a.json"}}],
    "lexicon": {"file": "lexicon.json"},
    "dataset": {"kind": "covr"},
}
FILES = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}
CLEVR = {
    "testbed": "mine",
    "sources": [{"name": "a", "reader": "clevr", "files": {"train": "a.json", "valB": "b.json"}}],
    "dataset": {"kind": "clevr"},
}
RELEASED = {"sources": [], "lexicon": None, "dataset": {"kind": "covr_released"} | FILES}
CSV = {"image_space": "vg", "reader": "csv", "files": ["a.csv"]}
TSV = {"image_space": "vg", "reader": "lxmert_tsv", "files": ["a.tsv"]}


CONFIGS = ("config", "tiny", "simulated", "covr", "covr-released", "covr-submission", "clevr-small", "clevr")


@pytest.mark.parametrize("name", [*CONFIGS, "clevr-cogent", "clevr-official"])
def test_the_configs_of_the_project_are_valid(root, name):
    config = read_config(root / "config" / f"{name}.yaml")
    for folder, names in (
        ("splits", config.splits.names),
        ("models", config.models.trained),
        ("paper", config.paper.show),
    ):
        folders = (root / "config" / folder / config.dataset.language, root / "config" / folder)
        assert all(any((inside / f"{name}.yaml").is_file() for inside in folders) for name in names)


HOPE = ("clevr-hope-small", "clevr-hope-medium", "clevr-hope", "clevr-hope-controlled", "clevr-prelim")


@pytest.mark.parametrize("name", [*CONFIGS, "clevr-cogent", "clevr-official", *HOPE])
def test_sample_questions_are_of_a_part_that_the_dataset_has(root, name):
    config = read_config(root / "config" / f"{name}.yaml")
    defined = Definitions(root / "config/splits" / config.dataset.language, root / "config/splits")
    setups = {defined.load(split)["setup"] for split in config.splits.names}
    assert config.samples.part in {part.side for setup in setups for part in find_setup(setup).parts}


@pytest.mark.parametrize("part", ["README.md", "config", "docs", "rules", "workflow"])
def test_nothing_that_users_run_or_read_needs_a_folder_beside_the_project(root, part):
    paths = [root / part] if (root / part).is_file() else (root / part).rglob("*")
    kinds = ("", ".md", ".yaml", ".smk", ".tsv", ".py", ".json")
    texts = (path for path in paths if path.suffix in kinds)
    beside = re.compile(r"(?<![\w./])(?:\.\./)+(?!rules|config|envs|docs|tests|workflow|\.)[\w]")
    found = {path.name: beside.findall(path.read_text()) for path in texts if path.is_file()}
    assert found and not {name: places for name, places in found.items() if places}


def test_the_schema_in_the_project_is_the_generated_one(root):
    made = (root / "workflow/schemas/config.schema.json").read_text()
    assert made == schema(), "write it anew: python -m compvqa schema > workflow/schemas/config.schema.json"


def test_the_list_of_all_defaults_is_the_generated_one_and_says_the_defaults(root):
    text = (root / "workflow/schemas/defaults.yaml").read_text()
    assert text == defaults(), "write it anew: python -m compvqa schema --defaults > workflow/schemas/defaults.yaml"
    every, *others = yaml.safe_load_all(text)
    assert [other.get("dataset", other.get("world"))["kind"] for other in others] == [
        *("clevr", "clevr_hope", "clevr_prelim", "clevr_released", "covr", "covr_released"),
        *("clevr", "clevr_pools", "sprites"),
    ]
    given = MINE | {"world": {"kind": "sprites"}}
    told = (
        every
        | {key: MINE[key] for key in ("testbed", "sources", "lexicon")}
        | next(other for other in others if other.get("dataset", {}).get("kind") == "covr")
    )
    told |= {"world": {"kind": "sprites", "settings": others[-1]["world"]["settings"]}}
    assert load_config(told) == load_config(given)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lexicon": {}}, "give either file or gqa"),
        (
            {"publish": {"pictures": "once"}},
            "pictures is once, and images names no folder of pictures: name that of each",
        ),
        (
            RELEASED | {"publish": {"pictures": "fetched"}},
            "pictures is fetched, and images names no folder of pictures",
        ),
        ({"world": {"kind": "sprites", "folder": "drawn {x}"}}, "has none of {}<> in its name"),
        ({"images": {"a=b": "pictures"}}, "'a=b' is no image space"),
        ({"containers": {"cpu": "$(touch a)"}}, "containers.cpu has the wrong value"),
        ({"lexicon": None}, "give sources and a lexicon, or the files of released questions"),
        ({"sources": []}, "give sources and a lexicon, or the files of released questions"),
        ({"dataset": RELEASED["dataset"]}, "released questions have no scene graphs: give no sources"),
        (RELEASED | {"lexicon": MINE["lexicon"]}, "released questions have no scene graphs"),
        (RELEASED | {"paraphrases": "p.csv"}, "have their paraphrases with them"),
        (RELEASED | {"models": {"easy": True}}, "models.easy needs questions that are made here"),
        (RELEASED | {"dataset": {"kind": "covr_released", "train": "a"}}, "config key dataset.dev is missing: add it"),
        ({"sources": MINE["sources"] * 2}, "two sources have one name"),
        ({"testbed": "My Bed"}, "config key testbed has the wrong value 'My Bed'"),
        ({"dataset": {"kind": "covr", "judged": {"arms": ["none-none"]}}}, "judged.arms needs the truth"),
        ({"dataset": {"kind": "covr", "judged": {"arms": ["lexicon-none"]}}}, "none-none must be one of them"),
        ({"dataset": {"kind": "covr", "judged": {"arms": ["none-none", "lexicon"]}}}, "lexicon is not of the form"),
        ({"models": {"easy": True}}, "models.easy does nothing without models.trained"),
        (
            {"models": {"trained": ["lstm"], "splits_of": {"lxmert": []}}},
            "splits_of names lxmert, which is not in models.tr",
        ),
        (
            {"models": {"trained": ["a"], "splits_of": {"a": ["iid"]}}},
            "splits_of names iid, which is not in models.splits",
        ),
        (
            {"models": {"trained": ["a"], "variants_of": {"has-count": ["comp"]}}},
            "variants_of names has-count, which is not in models.splits",
        ),
        (
            {"models": {"trained": ["a"], "seeds_of": {"has-count": [1]}}},
            "seeds_of names has-count, which is not in models.splits",
        ),
        ({"models": {"splits": ["iid"]}}, "models.splits does nothing without models.trained"),
        ({"models": {"curve": {"models": ["vilbert"]}}}, "curve.models names vilbert, which is not in models.trained"),
        (
            {"dataset": {"kind": "covr", "presence": {"method": "learned"}}},
            "presence.method learned needs region features",
        ),
        ({"dataset": {"kind": "covr", "presence": {"calibrated": True}}}, "presence.calibrated needs"),
        ({"features": {"released": {"sources": [CSV]}}}, "released.sources.0.reader has the wrong value 'csv'"),
        ({"features": {"released": {"sources": [TSV]}}}, "no source for the image space a: add one, or name the space"),
        ({"sources": [{"files": {"tarin": "a.json"}}]}, "sources.0.files .* no file 'tarin', did you mean 'train'"),
        ({"dataset": {"kind": "covr", "balance": {"per_template": 3}}}, "dataset.balance.per_template is unknown"),
        ({"dataset": {"kind": "covr", "train": "a"}}, "config key dataset.train is unknown"),
        (
            {"dataset": {"kind": "vqa"}},
            "dataset.kind says 'vqa', which nothing makes: name one of clevr, clevr_hope, clevr_prelim, clevr_",
        ),
        ({"dataset": "covr"}, "dataset.kind says None, which nothing makes"),
        ({"world": "drawn"}, "config key world names what makes the scenes: write"),
        ({"world": {"kind": "clouds"}}, "there is no world 'clouds'"),
        ({"world": {"kind": "sprites", "settings": {"cats": 3}}}, "config key world.settings.cats is unknown"),
        ({"balance": {}}, "config key balance has moved: write it under `dataset:`, with `kind: covr`"),
        (
            {"released": FILES},
            "config key released has moved: write its keys under `dataset:`, with `kind: covr_released`",
        ),
        ({"sprites": {}}, "config key sprites has moved: write `world: {kind: sprites, settings: …}`"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(change, words):
    with pytest.raises(InputError, match=words) as told:
        load_config(MINE | change)
    assert "\n" not in str(told.value)


def test_what_is_wrong_between_keys_is_told_without_the_whole_config():
    with pytest.raises(InputError, match=r"^the config is wrong: two sources have one name\.$"):
        load_config(MINE | {"sources": MINE["sources"] * 2})


DRAWN = {"images": {"a": "pictures"}, "truth": "truth", "aside": "aside"}  # all that a learned image filter needs
RELEASED_FEATURES = {"features": {"released": {"sources": [TSV], "lacks": ["a"]}}}


@pytest.mark.parametrize(
    ("method", "given"), [("none", {}), ("none", DRAWN), ("learned", RELEASED_FEATURES), ("learned", DRAWN)]
)
def test_a_target_risk_is_taken_only_where_a_learned_image_filter_and_images_apart_tell_risks(method, given):
    dataset = {"kind": "covr", "presence": {"method": method}}
    assert load_config(MINE | given | {"dataset": dataset}).dataset.balance.target_risk is None
    aimed = MINE | given | {"dataset": dataset | {"balance": {"target_risk": 0.02}}}
    if method == "learned" and "aside" in given:
        assert load_config(aimed).dataset.balance.target_risk == 0.02
        return
    with pytest.raises(InputError) as told:
        load_config(aimed)
    assert str(told.value) == (
        "the config is wrong: dataset.balance.target_risk needs risks of questions, which only a learned image filter "
        "with images apart tells: set dataset.presence.method to learned and give aside, or set target_risk to null."
    )


@pytest.mark.parametrize(
    ("names", "target"),
    [
        (["config"], 0.02),
        (["config", "demo-full"], 0.02),
        (["config", "covr-pairs"], None),
        (["covr"], None),
        (["simulated"], None),
        (["tiny"], None),
        (["tiny", "tiny-full"], 0.9),
    ],
)
def test_the_configs_of_the_project_have_a_target_risk_where_risks_are_told(root, names, target):
    data: dict = {}
    for name in names:
        update_config(data, yaml.safe_load((root / "config" / f"{name}.yaml").read_text()))
    assert load_config(data).dataset.balance.target_risk == target


def test_models_that_are_asked_have_splits_too():
    assert load_config(MINE | {"models": {"asked": ["vlm-5-shots"], "splits": ["some"]}, "splits": {"names": ["some"]}})


@pytest.mark.parametrize("origin", [MINE, MINE | RELEASED])
def test_only_a_model_that_reads_regions_needs_region_features(origin):
    config = load_config(origin | {"models": {"trained": ["lstm-tiny", "visualbert"]}})
    config.check_models({"lstm-tiny": ()})
    with pytest.raises(InputError, match="models.trained names visualbert, which needs region features: give feat"):
        config.check_models({"lstm-tiny": (), "visualbert": ("regions",)})
    with_them = {"features": {"released": {"sources": [TSV], "lacks": ["a"]}}}
    load_config(origin | with_them).check_models({"visualbert": ("regions",)})


def test_only_a_baseline_that_looks_at_scenes_needs_sources_of_them():
    for origin in (CLEVR, MINE):
        load_config(origin).check_models({"executor": ("scenes",)})
    with pytest.raises(InputError, match="models.baselines names executor, which looks at scene graphs: give sources"):
        load_config(RELEASED | {"testbed": "mine"}).check_models({"maj": (), "executor": ("scenes",)})


PICTURED = {"features": {"pictures": {"backbone": "efficientnet-lite0"}}, "images": {"a": "pictures"}}


def test_grids_stand_in_for_regions_and_pooled_vectors_come_with_them_alone():
    scenes = [{"name": "clevr", "reader": "clevr", "files": {"train": "scenes.json"}}]
    origin = {"testbed": "t", "sources": scenes, "dataset": {"kind": "clevr"}, "models": {"trained": ["a", "b"]}}
    load_config(origin | PICTURED).check_models({"a": ("regions",), "b": ("pooled",)})
    with pytest.raises(InputError, match="names b, which needs pooled vectors: give features.pictures"):
        load_config(origin).check_models({"b": ("pooled",)})
    for change, words in (
        ({"images": {}}, "features.pictures needs the pictures themselves"),
        (
            {"sources": MINE["sources"], "dataset": MINE["dataset"], "lexicon": MINE["lexicon"]},
            "leave features.pictures",
        ),
        ({"features": PICTURED["features"] | {"released": {"sources": [TSV]}}}, "exclude each other"),
    ):
        with pytest.raises(InputError, match=words):
            load_config(origin | PICTURED | change)


def test_crops_give_regions_and_nothing_else_gives_them_beside():
    scenes = [{"name": "clevr", "reader": "clevr", "files": {"train": "scenes.json"}}]
    origin = {"testbed": "t", "sources": scenes, "dataset": {"kind": "clevr"}, "models": {"trained": ["a"]}}
    cropped = {"features": {"crops": {"describe": "contrast"}}, "images": {"a": "pictures"}}
    load_config(origin | cropped).check_models({"a": ("regions",)})
    with pytest.raises(InputError, match="names a, which needs pooled vectors"):
        load_config(origin | cropped).check_models({"a": ("pooled",)})
    with pytest.raises(InputError, match="features.crops needs the pictures themselves"):
        load_config(origin | cropped | {"images": {}})
    with pytest.raises(InputError, match="features.pictures and features.crops exclude each other"):
        load_config(origin | cropped | {"features": cropped["features"] | PICTURED["features"]})


def test_a_disabled_source_is_left_out():
    off = MINE["sources"][0] | {"name": "b", "enabled": False}
    assert [source.name for source in load_config(MINE | {"sources": [*MINE["sources"], off]}).sources] == ["a"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sources": MINE["sources"]}, "CLEVR's questions need scenes whose source tells places"),
        ({"sources": []}, "CLEVR's questions need scenes whose source tells places"),
        ({"models": {"trained": ["lstm"], "easy": True}}, "models.easy needs distractors"),
        ({"dataset": {"kind": "clevr", "questions": {"mode": "compat"}}}, "write `shards: 1`"),
        ({"dataset": {"kind": "clevr", "parts": {"val": {"dev": 0.5}}}}, "the shares of val are 0.5 together, not 1"),
        ({"dataset": {"kind": "clevr_released"}}, "dataset.files is missing"),
        ({"dataset": {"kind": "clevr_released", "files": {"a/b": "c.json"}}}, "'a/b' names no side"),
        (
            {"world": {"kind": "clevr", "settings": {"sides": {"train": {"scenes": 1, "forbidden": [["red", "rd"]]}}}}},
            "forbidden names 'rd'",
        ),
        ({"world": {"kind": "clevr", "settings": {"sides": {"a b": {"scenes": 1}}}}}, "world.settings.sides.a b"),
    ],
)
def test_what_does_not_fit_clevr_is_refused_in_one_sentence(change, words):
    with pytest.raises(InputError, match=words) as told:
        load_config(CLEVR | change)
    assert "\n" not in str(told.value)
