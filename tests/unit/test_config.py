"""The configuration: what it accepts, refuses, and finds by name."""

import re

import pytest

from compvqa.config import Definitions, load_config, read_config, schema
from compvqa.errors import InputError

MINE = {
    "testbed": "mine",
    "sources": [{"name": "a", "reader": "gqa", "files": {"train": "a.json"}}],
    "lexicon": {"file": "lexicon.json"},
}
FILES = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}
RELEASED = {"sources": [], "lexicon": None, "released": FILES}
CSV = {"image_space": "vg", "reader": "csv", "files": ["a.csv"]}
TSV = {"image_space": "vg", "reader": "lxmert_tsv", "files": ["a.tsv"]}


@pytest.mark.parametrize("name", ["config", "tiny", "simulated", "covr", "covr-released", "covr-submission"])
def test_the_configs_of_the_project_are_valid(root, name):
    config = read_config(root / "config" / f"{name}.yaml")
    for folder, names in (
        ("splits", config.splits.names),
        ("models", config.models.trained),
        ("paper", config.paper.show),
    ):
        assert all((root / "config" / folder / f"{name}.yaml").is_file() for name in names)


@pytest.mark.parametrize("part", ["README.md", "config", "docs", "rules", "workflow"])
def test_nothing_that_users_run_or_read_needs_a_folder_beside_the_project(root, part):
    paths = [root / part] if (root / part).is_file() else (root / part).rglob("*")
    kinds = ("", ".md", ".yaml", ".smk", ".tsv", ".py", ".json")
    texts = (path for path in paths if path.suffix in kinds)
    beside = re.compile(r"(\.\./){2,}|(?<![\w./])\.\./(?!rules|config|envs|docs|workflow)\w")
    found = {path.name: beside.findall(path.read_text()) for path in texts if path.is_file()}
    assert found and not {name: places for name, places in found.items() if places}


def test_the_schema_in_the_project_is_the_generated_one(root):
    made = (root / "workflow/schemas/config.schema.json").read_text()
    assert made == schema(), "write it anew: python -m compvqa schema > workflow/schemas/config.schema.json"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lexicon": {}}, "give either file or gqa"),
        ({"world": "drawn {x}"}, "has none of {}<> in its name"),
        ({"images": {"a=b": "pictures"}}, "'a=b' is no image space"),
        ({"containers": {"cpu": "$(touch a)"}}, "containers.cpu has the wrong value"),
        ({"lexicon": None}, "give sources and a lexicon, or the files of released questions"),
        ({"sources": []}, "give sources and a lexicon, or the files of released questions"),
        ({"released": FILES}, "released questions have no scene graphs: give no sources"),
        (RELEASED | {"neo4j": {"load": True}}, "neo4j.load needs scene graphs"),
        (RELEASED | {"lexicon": MINE["lexicon"]}, "released questions have no scene graphs"),
        (RELEASED | {"paraphrases": "p.csv"}, "have their paraphrases with them"),
        (RELEASED | {"models": {"easy": True}}, "models.easy needs questions that are made here"),
        (RELEASED | {"released": {"train": "a"}}, "config key released.dev is missing: add it"),
        ({"sources": MINE["sources"] * 2}, "two sources have one name"),
        ({"testbed": "My Bed"}, "config key testbed has the wrong value 'My Bed'"),
        ({"judged": {"arms": ["none-none"]}}, "judged.arms needs the truth"),
        ({"judged": {"arms": ["lexicon-none"]}, "truth": "truth"}, "none-none must be one of them"),
        ({"judged": {"arms": ["none-none", "lexicon"]}, "truth": "truth"}, "lexicon is not of the form"),
        ({"models": {"easy": True}}, "models.easy does nothing without models.trained"),
        ({"models": {"splits": ["iid"]}}, "models.splits does nothing without models.trained"),
        ({"models": {"curve": {"models": ["vilbert"]}}}, "curve.models names vilbert, which is not in models.trained"),
        ({"presence": {"method": "learned"}}, "presence.method learned needs region features"),
        ({"presence": {"calibrated": True}}, "presence.calibrated needs"),
        ({"features": {"released": {"sources": [CSV]}}}, "released.sources.0.reader has the wrong value 'csv'"),
        ({"features": {"released": {"sources": [TSV]}}}, "no source for the image space a: add one, or name the space"),
        ({"sources": [{"files": {"tarin": "a.json"}}]}, "sources.0.files .* no file 'tarin', did you mean 'train'"),
        ({"balance": {"per_template": 3}}, "balance.per_template is unknown"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(change, words):
    with pytest.raises(InputError, match=words) as told:
        load_config(MINE | change)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("origin", [MINE, MINE | RELEASED])
def test_only_a_model_that_reads_regions_needs_region_features(origin):
    config = load_config(origin | {"models": {"trained": ["lstm-tiny", "visualbert"]}})
    config.check_trained({"lstm-tiny": ()})
    with pytest.raises(InputError, match="models.trained names visualbert, which needs region features: give feat"):
        config.check_trained({"lstm-tiny": (), "visualbert": ("regions",)})
    with_them = {"features": {"released": {"sources": [TSV], "lacks": ["a"]}}}
    load_config(origin | with_them).check_trained({"visualbert": ("regions",)})


def test_a_disabled_source_is_left_out():
    off = MINE["sources"][0] | {"name": "b", "enabled": False}
    assert [source.name for source in load_config(MINE | {"sources": [*MINE["sources"], off]}).sources] == ["a"]


def test_a_definition_s_digest_follows_its_content_not_its_comments(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("x: 1\n")
    before = Definitions(tmp_path).digest("a")
    path.write_text("# said anew\nx:   1\n")
    assert Definitions(tmp_path).digest("a") == before == Definitions(tmp_path).digest()
    path.write_text("x: 2\n")
    assert Definitions(tmp_path).digest("a") != before
    with pytest.raises(InputError, match=r"has no b.yaml: correct the name \(there are a\)"):
        Definitions(tmp_path).load("b")


def test_a_nested_file_is_named_with_its_folder_and_a_bare_name_is_told_where_it_is(tmp_path):
    for name in ("covr/table6", "other/table6", "covr/words"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(f"x: {name}\n")
    pages = Definitions(tmp_path, nested=True)
    assert pages.names() == ["covr/table6", "covr/words", "other/table6"]
    assert pages.load("other/table6") == {"x": "other/table6"}
    for bare, places in (("words", "covr/words"), ("old-table6", "covr/table6 or other/table6")):
        with pytest.raises(InputError, match=rf"has no {bare}.yaml: its files lie in folders, so write {places}\.$"):
            pages.load(bare)
    with pytest.raises(InputError, match="names no file of"):
        Definitions(tmp_path).load("covr/table6")


@pytest.mark.parametrize("name", ["../splits/iid", "a b", "$(touch a)", "A", ""])
def test_what_names_no_file_is_refused_whatever_is_there(tmp_path, name):
    with pytest.raises(InputError, match=r"names no file of config/.*: names have a-z, 0-9, _ and - alone\.$"):
        Definitions(tmp_path).load(name)
