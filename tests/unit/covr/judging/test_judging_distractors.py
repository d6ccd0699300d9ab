"""Distractors judged against the truth: who drops them, and why they are false."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings

from compvqa import tables
from compvqa.covr.filters.images.presence import PRESENCE
from compvqa.covr.judging.distractors import DISTRACTORS, NO_FILTERS, DistractorSettings, by_arm, distractors, kind_of
from compvqa.covr.subgraphs import statements
from compvqa.covr.subgraphs.related import RelatedSettings
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.subgraph import make
from compvqa.covr.subgraphs.tables import CANDIDATES, SEEDS
from compvqa.errors import InputError
from compvqa.scenes.graph import Object, SceneGraph
from fixtures.presence import make_up_presence
from unit.covr.subgraphs.graph_store import PAIRS, Store, overlaps
from unit.covr.subgraphs.graph_worlds import worlds, write_scenes

CHECKED = "getvariable('per_key') * (2 + count(*)) // 2"  # scenes checked of a key, in the search's statements
WHITE_DOG = make("dog", "white")
LEXICON = {
    "nouns": {"puppy": {"hypernyms": ["dog"]}, "dog": {}, "cat": {}},
    "attributes": {name: {"group": "color"} for name in ("white", "black")},
    "relations": {},
}
# scene -> what is annotated, what is so without wrong annotations, all that is there
SCENES = {
    "lacks": (["black dog"], ["black dog"], ["black dog", "white cat"]),
    "missing": (["black dog"], ["black dog"], ["black dog", "white dog"]),
    "wrong": (["black dog"], ["white dog"], ["white dog"]),
    "names": (["white puppy"], ["white puppy"], ["white puppy"]),
    "start": (["white dog"], ["white dog"], ["white dog"]),
}
# scene -> key, name there, presence of a dog and of a white dog in the image
CANDIDATE_ROWS = {
    "lacks": ("0_attr", "black", 0.9, 0.3),
    "missing": ("0_attr", "black", 0.9, 0.6),
    "wrong": ("0_attr", "black", 0.9, None),
    "names": ("0_name", "puppy", 0.06, 0.9),
    "start": ("pos", None, 0.9, 0.9),
}
NEW = ("0_attr", "black")  # of a scene that a search without filters has not found under its cap


def graph(scene_id, things):
    pairs = (thing.split() for thing in things)
    return SceneGraph(
        scene_id, {str(n): Object(str(n), noun, {color: "color"}) for n, (color, noun) in enumerate(pairs)}
    )


@pytest.fixture
def world(tmp_path):
    """A folder with the tables of three chains, and what :func:`distractors` is given of them."""
    folders = ("scenes", "truth/missing_only", "truth/complete")
    for place, folder in enumerate(folders):
        write_scenes(tmp_path / folder, [graph(name, things[place]) for name, things in sorted(SCENES.items())])
    (tmp_path / "lexicon.json").write_text(json.dumps(LEXICON))
    seed = {"seed": 7, "subgraph_key": WHITE_DOG.key, "scene_id": "start", "split": "train"}
    tables.write(tmp_path / "seeds.parquet", SEEDS, [{**seed, "tree": WHITE_DOG.json(), "n_instances": 1}])
    write_candidates(tmp_path / "all.parquet", sorted(SCENES))
    write_candidates(tmp_path / "fewer.parquet", ["missing", "start", "wrong"])
    rows = [presence_row(scene, part.key, p) for scene, part, p in presences()]
    rows += [presence_row("wrong", WHITE_DOG.key, 0.9, masked=True)]
    tables.write(tmp_path / "presence.parquet", PRESENCE, rows)
    tables.write(tmp_path / "nothing.parquet", PRESENCE, [])
    every, fewer = [tmp_path / "all.parquet"], [tmp_path / "fewer.parquet"]
    seen, nothing = [tmp_path / "presence.parquet"], [tmp_path / "nothing.parquet"]
    arms = {NO_FILTERS: (every, nothing), "toy-none": (fewer, nothing), "toy-toy": (fewer, seen)}
    return tmp_path, arms


def write_candidates(path, scenes):
    """The candidates in that order, by rank."""
    rows = []
    for scene in scenes:
        key, name, *_ = CANDIDATE_ROWS.get(scene, NEW)
        differs = {"nodes": [0], "names": [name]} if name else {"nodes": [], "names": []}
        rows.append({"seed": 7, "key": key, "scene_id": scene, "rank": len(rows), **differs})
    tables.write(path, CANDIDATES, rows)


def presences():
    """The simple subgraphs' scores, as far as they have one."""
    by_graph = {part.key: part for part in simple_subgraphs(WHITE_DOG)}
    assert by_graph.keys() == {make("dog").key, WHITE_DOG.key}
    for scene, (_, _, *scores) in CANDIDATE_ROWS.items():
        for part, p in zip((make("dog"), WHITE_DOG), scores, strict=True):
            if p is not None:
                yield scene, part, p


def presence_row(scene_id, key, p, masked=False):
    return {"scene_id": scene_id, "subgraph_key": key, "masked": masked, "p": p, "fold": 0}


def judge(folder, arms, seed=0, **options):
    candidates, presence = zip(*arms.values(), strict=True)
    given = (folder / "scenes", folder / "truth", folder / "lexicon.json", folder / "out.parquet")
    counts = distractors(
        [folder / "seeds.parquet"], candidates, presence, *given, DistractorSettings(arms=tuple(arms), **options), seed
    )
    return tables.read(folder / "out.parquet", DISTRACTORS).to_pylist(), counts


def test_each_false_distractor_has_its_cause_and_each_filter_what_it_drops(world):
    found, counts = judge(*world)
    told = {(row["arm"], row["scene_id"]): (row["kind"], row["cause"], row["dropped"]) for row in found}
    by_words = {"lacks", "names"}
    assert told == {
        (arm, scene): (
            "object" if scene == "names" else "attribute",
            "" if scene == "lacks" else {"names": "overlapping names"}.get(scene, scene),
            "words" if arm != NO_FILTERS and scene in by_words else "images" if (arm, scene) == SEEN else "",
        )
        for arm in world[1]
        for scene in SCENES.keys() - {"start"}
    }
    scores = {row["scene_id"]: row["score"] for row in found if row["arm"] == "toy-toy"}
    assert scores == pytest.approx({"lacks": 0.3, "missing": 0.6, "wrong": None, "names": 0.06})
    assert counts == {
        **{
            "in": 4,
            "dropped: beyond a cap": 0,
            "out": 12,
            "false: missing": 1,
            "false: wrong": 1,
            "false: overlapping names": 1,
        },
        **{"toy-none dropped by words": 2, "toy-toy dropped by words": 2, "toy-toy dropped by images": 1},
    }


SEEN = ("toy-toy", "missing")


def test_thresholds_are_those_of_the_chain_and_the_papers_stand_beside(world):
    found, _ = judge(*world, related=RelatedSettings(tau_attribute=0.7))
    of_arm = {row["scene_id"]: row for row in found if row["arm"] == "toy-toy"}
    assert of_arm["missing"]["dropped"] == ""
    taus = {row["kind"]: (row["tau"], row["tau_paper"]) for row in of_arm.values()}
    assert taus == {"attribute": pytest.approx((0.7, 0.5)), "object": pytest.approx((0.05, 0.05))}


def test_only_what_would_be_asked_about_is_judged(world):
    found, _ = judge(*world, asked=2)
    assert {row["scene_id"] for row in found} == {"lacks", "missing"}


def test_of_each_kind_so_many_are_drawn_and_are_part_of_a_larger_draw(world):
    def drawn(n, seed=0):
        return {row["scene_id"] for row in judge(*world, per_kind=n, seed=seed)[0]}

    draws = [drawn(n) for n in (1, 2, 3)]
    assert [Counter(CANDIDATE_ROWS[scene][0] for scene in found) for found in draws] == [
        {"0_attr": n, "0_name": 1} for n in (1, 2, 3)
    ]
    assert draws[0] < draws[1] < draws[2]
    assert len({frozenset(drawn(1, seed)) for seed in range(8)}) > 1


def test_chains_without_one_that_has_no_filter_or_without_their_tables_are_refused(world):
    folder, arms = world
    with pytest.raises(InputError, match="chain none-none is missing"):
        judge(folder, {"toy-none": arms["toy-none"]})
    with pytest.raises(InputError, match="tables of 1 chains, but 2 chains: none-none, toy-none"):
        by_arm([NO_FILTERS, "toy-none"], [1])


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("pos", None),
        ("no_mult", None),
        ("0_attr", "attribute"),
        ("2_name", "object"),
        ("1_relation", "relation"),
        ("0_name_neg_object_2", "object"),
        ("0_attr_neg_attr_root", "attribute"),
        ("0_name_neg_attr_root", "mixed"),
        ("0_attr_neg_relation_1", "mixed"),
    ],
)
def test_kinds_are_those_that_thresholds_go_by(key, kind):
    assert kind_of(key) == kind
    assert (RelatedSettings().tau(key) is None) == (kind is None)


def test_a_classifier_that_knows_the_truth_drops_the_false_ones_alone(world):
    folder, arms = world
    given = ([folder / "seeds.parquet"], arms[NO_FILTERS][0], folder / "scenes", folder / "truth")
    made = make_up_presence(*given, folder / "lexicon.json", noise=0)
    tables.write(folder / "made.parquet", PRESENCE, made)
    half = RelatedSettings(tau_object=0.5, tau_relation=0.5, tau_attribute=0.5)
    found, _ = judge(folder, arms | {"none-toy": (arms[NO_FILTERS][0], [folder / "made.parquet"])}, related=half)
    of_arm = [row for row in found if row["arm"] == "none-toy"]
    assert [row["dropped"] == "images" for row in of_arm] == [row["cause"] != "" for row in of_arm]


def test_one_after_all_of_a_full_list_is_not_judged(world):
    """A search with filters that asks about two lists others; of those that it lacks, only one before them is known."""
    folder, arms = world
    write_candidates(folder / "all.parquet", ["lacks", "missing", "wrong"])
    write_candidates(folder / "fewer.parquet", ["missing", "new"])
    found, counts = judge(folder, {name: arms[name] for name in (NO_FILTERS, "toy-none")}, asked=2)
    assert counts["dropped: beyond a cap"] == 0
    assert {row["scene_id"]: row["dropped"] for row in found if row["arm"] == "toy-none"} == {
        "lacks": "words",
        "missing": "",
    }
    write_candidates(folder / "fewer.parquet", ["lacks", "new"])
    found, counts = judge(folder, {name: arms[name] for name in (NO_FILTERS, "toy-none")}, asked=2)
    assert counts["dropped: beyond a cap"] == 1
    assert {row["scene_id"] for row in found} == {"lacks"}


@settings(max_examples=8, deadline=None)
@given(worlds(scenes=14), overlaps())
def test_caps_drop_nothing_in_the_name_of_the_word_filter(tmp_path_factory, graphs, overlap):
    """What is judged of a search that keeps few scenes of a seed is as of one that keeps all.

    All scenes are checked, however few are kept: by what is not checked they may differ (see the module).
    """
    folder = tmp_path_factory.mktemp("caps")
    capped = {"per_key": 2, "considered": 10**6}
    checking = [statement.replace(CHECKED, "getvariable('considered')") for statement in statements.BEFORE]
    assert checking != list(statements.BEFORE)

    def searched(name, pairs, sizes):
        store = Store(folder / name, graphs, pairs)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(statements, "BEFORE", checking)
            found = store.search(**sizes)[1]
        return store, {(row["seed"], row["key"], row["scene_id"]) for row in found}

    unfiltered, _ = searched("unfiltered", dict.fromkeys(PAIRS, 1.0), capped)
    filtered, _ = searched("filtered", overlap, capped)
    _, passing = searched("uncapped", overlap, {"per_key": 10**6, "considered": 10**6})
    for part in ("missing_only", "complete"):
        write_scenes(folder / "truth" / part, graphs)
    (folder / "lexicon.json").write_text("{}")
    tables.write(folder / "nothing.parquet", PRESENCE, [])
    candidates = [[store.folder / "candidates0.parquet"] for store in (unfiltered, filtered)]
    given_ = (filtered.scenes, folder / "truth", folder / "lexicon.json", folder / "out.parquet")
    counts = distractors(
        [unfiltered.folder / "seeds0.parquet"],
        candidates,
        [[folder / "nothing.parquet"]] * 2,
        *given_,
        DistractorSettings(arms=(NO_FILTERS, "toy-none"), asked=2),
        0,
    )
    found = tables.read(folder / "out.parquet").to_pylist()
    assert len(found) == 2 * (counts["in"] - counts["dropped: beyond a cap"])
    for row in found:
        passes = (row["seed"], row["key"], row["scene_id"]) in passing
        assert row["dropped"] == ("words" if row["arm"] == "toy-none" and not passes else "")
