"""What is made for a held-out pair: its walk over pools, its sets of questions, its minimal tests, and its guard."""

from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
import yaml
from PIL import Image, ImageDraw
from scipy.spatial import ConvexHull

from compvqa import tables
from compvqa.clevr import analysis, executor
from compvqa.clevr.generate import generate, of_block, plans_of
from compvqa.clevr.hope.ask import ask
from compvqa.clevr.hope.gather import gather
from compvqa.clevr.hope.minimal import IID, OOD, items, questions, variants_used
from compvqa.clevr.hope.sets import SETS, HopeSettings, PairSettings, Taken, asking, sets_of, vocabulary_of
from compvqa.clevr.hope.walk import in_turn, taken_of, walk
from compvqa.clevr.language import GROUPS
from compvqa.clevr.lint import sampled
from compvqa.clevr.scene import read_scenes
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.words import cut, read_words
from compvqa.errors import InputError
from compvqa.programs.rows import from_json, to_json
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.pairs import Among, combinations, diversity, informs, occurs, types_of, within
from compvqa.scenes.values import seen
from compvqa.scenes.worlds.clevr import record
from compvqa.scenes.worlds.clevr_pools import ClevrPools, PoolSettings, Sampling, Walk, listed, singles
from compvqa.splits.splitters import read_definition
from fixtures.clevr_scenes import chain

HELD = ("large", "rubber")
POOLS = {"train": (24, "absent"), "iid": (12, "absent"), "ood": (12, "present")}
HOPE = HopeSettings(
    questions={"per_scene": 4, "block": 10},
    pools={name: Taken(sides=(name,), scenes=many) for name, (many, _) in POOLS.items()},
    sizes=(10, 40, 80),
    most={"complex_iid": 30},
    variants=2,
)
PAIR = PairSettings(pair=HELD, hope=HOPE)
# The sheet's table by diversity and whether it has color: variants, OOD, IID and pictures of IID
TABLE = {
    frozenset({"size", "material"}): (40, 3840, 8640, 2880),
    frozenset({"material", "shape"}): (40, 2560, 10880, 3200),
    frozenset({"size", "shape"}): (40, 2560, 10880, 3200),
    frozenset({"material", "color"}): (35, 840, 11970, 3150),
    frozenset({"size", "color"}): (35, 840, 11970, 3150),
    frozenset({"color", "shape"}): (28, 448, 9968, 2576),
}


pytestmark = pytest.mark.xdist_group("clevr hope")


@pytest.fixture(scope="module")
def words(words):
    """The words that ship, with four colors."""
    return cut(words, {"color": ("gray", "red", "green", "cyan")})


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    """The scene tables of small pools, and of single objects in two variants; they are not drawn."""
    path = tmp_path_factory.mktemp("pools")
    look = {"width": 48, "height": 32, "light_samples": 1, "min_pixels": 1, "min_objects": 2, "max_objects": 4}
    look["colors"] = {"gray": (87, 87, 87), "red": (173, 35, 35), "green": (29, 105, 20), "cyan": (41, 208, 208)}
    world = ClevrPools(
        pools={name: {"scenes": many, "pair": pair} for name, (many, pair) in POOLS.items()}, variants=2, all=look
    )
    files = {}
    for side in world.sides:
        walks = [Walk(pair=HELD), Walk(pair=("cyan", "cylinder"))]
        settings = PoolSettings(world=world, side=side, walks=walks)
        found = singles(settings) if side == "minimal" else listed(settings, 1)
        sampling, files[side] = Sampling(settings, 1), path / f"{side}.json"
        scenes = (sampling.scene(scene, place) for place, scene in enumerate(found))
        record.write(files[side], record.info_of(side, world.all), scenes)
    ingest(SourceSettings(name="clevr", reader="clevr", files=files), None, path / "scenes")
    return path / "scenes"


@pytest.fixture(scope="module")
def made(pools, templates, words, tmp_path_factory):
    """All sets of the pair, as tables by their names, and the scenes that it takes."""
    path = tmp_path_factory.mktemp("made")
    walk(pools, PAIR, words, path / "taken.parquet")
    for name in sets_of(PAIR):
        chosen = taken_of(path / "taken.parquet", SETS[name].pool)
        files = path / f"{name}.parquet", path / f"{name}-dropped.parquet"
        generate(pools, templates, words, asking(PAIR, name, words), 1, "t", *files, chosen=chosen, part=name)
    questions(pools, PAIR, templates, words, 1, "t", path / "minimal.parquet")
    return path


def files(made):
    return [made / f"{name}.parquet" for name in (*sets_of(PAIR), "minimal")]


def test_a_pair_takes_what_the_world_listed_for_it_and_each_number_of_objects_in_turn(pools, made):
    scenes = {scene.scene_id: scene for scene in read_scenes(pools)}
    for pool, (many, pair) in POOLS.items():
        taken = taken_of(made / "taken.parquet", pool)
        assert len(taken) == len(set(taken)) == many
        assert [len(scenes[key].objects) for key in taken] == [2, 3, 4] * (many // 3)
        fits = {
            key
            for key, scene in scenes.items()
            if scene.split == pool and occurs(HELD, scene.objects) == (pair == "present")
        }
        for number in (2, 3, 4):
            mine = sorted(key for key in fits if len(scenes[key].objects) == number)
            assert [key for key in taken if len(scenes[key].objects) == number] == mine[: many // 3]


def test_scenes_show_the_diversity_that_the_vocabulary_has(pools, made, words):
    told = seen(HELD, pools, taken_of(made / "taken.parquet", "train"), 1, made)
    assert told.kinds == ("size", "material") and told.diversity == diversity(HELD, vocabulary_of(words)) == 4
    assert told.bits == pytest.approx(informs(HELD, vocabulary_of(words)))


def test_a_pairs_questions_are_the_same_in_any_number_of_shards(pools, made, templates, words, tmp_path):
    names, rows = (*sets_of(PAIR), "minimal"), {}
    for shards in (1, 3):
        paths = [tmp_path / f"{shards}-{shard}.parquet" for shard in range(shards)]
        for shard, path in enumerate(paths):
            files = made / "taken.parquet", PAIR, templates, words, 1, "t", path, path.with_suffix(".dropped")
            ask(names, pools, *files, (shard, shards))
        assert all(tables.read(path).num_rows for path in paths)
        gather(paths, pools, PAIR, tmp_path / f"{shards}.parquet")
        rows[shards] = (tmp_path / f"{shards}.parquet").read_bytes()
    assert rows[1] == rows[3]


def test_lists_that_give_one_more_come_first_and_a_short_one_is_told():
    lists = {3: list("abcd"), 4: list("efgh"), 5: list("ijkl")}
    assert "".join(in_turn(lists, "p", Taken(sides=("p",), scenes=7))) == "aeibfjc"
    with pytest.raises(InputError, match="has 4 scenes of 3 objects that fit, of 5"):
        in_turn(lists, "p", Taken(sides=("p",), scenes=13))


def test_the_dataset_has_all_sets_and_the_guard_counts_what_it_saw(pools, made, tmp_path):
    counts = gather(files(made), pools, PAIR, tmp_path / "q.parquet")
    rows = tables.read(tmp_path / "q.parquet", QUESTIONS).to_pylist()
    scenes = {scene.scene_id: scene for scene in read_scenes(pools)}
    parts = Counter(row["part"] for row in rows)
    assert parts == {
        **{"train_small": 10, "train_medium": 30, "train_large": 40, "complex_iid": 30},
        **{"complex_ood": 12, "complex_matched": 12, IID: 216, OOD: 96},
    }
    assert {part: counts[f"out: {part}"] for part in parts} == parts
    for row in rows:
        program, scene = from_json(row["program"]), scenes[row["scene_ids"][0]]
        assert executor.answer(program, scene) == row["answer"]
        assert analysis.occurs(HELD, program) == (row["part"] in ("complex_ood", OOD))
        if row["part"] != OOD:
            assert occurs(HELD, scene.objects) == (row["part"] == "complex_ood")
    assert counts["with the pair, released: complex_ood"] == counts["scenes with the pair: complex_ood"] == 12
    assert counts["with the pair, released: train_large"] == counts["scenes with the pair: complex_iid"] == 0
    train = {row["number"]: row["part"] for row in rows if row["part"].startswith("train")}
    assert [train[number] for number in sorted(train)] == ["train_small"] * 10 + ["train_medium"] * 30 + [
        "train_large"
    ] * 40


def changed(path, out, change):
    """A table of questions of which one row is another."""
    rows = tables.read(path, QUESTIONS).to_pylist()
    change(rows)
    tables.write(out, QUESTIONS, sorted(rows, key=lambda row: row["question_id"]))
    return out


def with_program(words):
    def change(rows):
        filters = [(f"filter_{group}", word) for group, word in words]
        rows[0]["program"] = to_json(chain(*filters, ("exist",)))

    return change


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("train", "train_.* has 1 of .* questions with it"),
        ("complex_iid", "complex_iid has 1 of"),
        ("complex_ood", "complex_ood has 1 of 12 questions without it"),
        ("scene with it", "of 24 scenes of complex_iid have it|1 of .* scenes of complex_iid have it"),
        ("scene without it", "11 of 12 scenes of complex_ood have it, not 12"),
        ("train in a test", "train and complex_matched share 1 scenes"),
        ("one in both", "complex_ood and complex_matched share"),
    ],
)
def test_the_guard_refuses_what_leaks(pools, made, tmp_path, part, message, monkeypatch):
    given = {path.stem: path for path in files(made)}
    taken = {pool: taken_of(made / "taken.parquet", pool) for pool in POOLS}
    bad = tmp_path / "bad.parquet"
    program = [("size", "large"), ("material", "rubber")]

    def on(scene, number=0):
        return lambda rows: rows[number].update(scene_ids=[scene])

    first = tables.read(given["train"], QUESTIONS).to_pylist()
    (early,) = [number for number, row in enumerate(first) if row["number"] == 0]
    iid = tables.read(given["complex_iid"], QUESTIONS).to_pylist()
    (kept,) = [number for number, row in enumerate(iid) if row["number"] == 0]
    changes = {
        "train": ("train", lambda rows: with_program(program)([rows[early]])),
        "complex_iid": ("complex_iid", lambda rows: with_program(program)([rows[kept]])),
        "complex_ood": ("complex_ood", with_program(program[:1])),
        "scene with it": ("complex_iid", on(taken["ood"][0], kept)),
        "scene without it": ("complex_ood", on(taken["iid"][-1])),
        "train in a test": ("complex_matched", on(first[early]["scene_ids"][0])),
    }
    if part == "one in both":  # then scenes are not looked at for the pair
        monkeypatch.setattr("compvqa.clevr.hope.gather.WITH", {"complex_ood", OOD})
        changes[part] = ("complex_matched", on(taken["ood"][0]))
        message = "scenes of complex_matched have it"
    name, change = changes[part]
    given[name] = changed(given[name], bad, change)
    with pytest.raises(InputError, match=message):
        gather(list(given.values()), pools, PAIR, tmp_path / "q.parquet")
    assert not (tmp_path / "q.parquet").exists()


@pytest.fixture(scope="module")
def vocabulary(root):
    """The attributes of all words that ship."""
    return vocabulary_of(read_words(root / "config/words/clevr.json"))


@pytest.fixture(scope="module")
def pairs(root):
    texts = [path.read_text() for path in sorted((root / "config/splits/clevr").glob("hope-*.yaml"))]
    return [tuple(yaml.safe_load(text)["pair"]) for text in texts if "clevr.held-out-pair" in text]


def test_no_encoder_may_name_a_value_of_the_pair_that_a_file_holds_out(root):
    texts = [path.read_text() for path in sorted((root / "config/splits/clevr").glob("*.yaml"))]
    found = [read_definition(yaml.safe_load(text)) for text in texts]
    assert sum(hasattr(each, "pair") for each in found) > 29
    assert all(each.unnamed() == set(getattr(each, "pair", ())) for each in found)


def test_minimal_tests_have_the_sheets_numbers_to_the_item_for_all_29_pairs(pairs, vocabulary):
    assert len(pairs) == 29
    for pair in pairs:
        found = list(items(pair, vocabulary, 40))
        parts = Counter(item.part for item in found)
        shown = {(item.variant, item.thing) for item in found if item.part == IID}
        assert (variants_used(pair, vocabulary, 40), parts[OOD], parts[IID], len(shown)) == TABLE[
            frozenset(types_of(pair, vocabulary))
        ]
        assert parts[IID] == parts[OOD] * (diversity(pair, vocabulary) - 7 / 4)
        always_no = {part: 1 - sum(item.yes for item in found if item.part == part) / parts[part] for part in parts}
        several = diversity(pair, vocabulary)
        expected = {4: 66.7, 6: 70.6, 16: 73.7, 24: 74.2}[several]
        assert always_no[OOD] == 0.75 and round(100 * always_no[IID], 1) == expected


@pytest.mark.parametrize("among", [None, Among(grid={"color": 4, "shape": 2}), Among(subset=8)])
@pytest.mark.parametrize("pair", [("cyan", "cylinder"), ("cube", "red")])
def test_a_group_is_four_things_that_differ_in_the_pairs_values_alone(pair, among, vocabulary):
    there = set(combinations(pair, vocabulary, among))
    places = [GROUPS.index(kind) for kind in types_of(pair, vocabulary)]
    groups = defaultdict(list)
    for item in items(pair, vocabulary, 28, among):
        groups[item.part, item.number // 4].append(item)
    for (part, _), found in groups.items():
        target, variant = found[0].target, found[0].variant
        assert {(item.target, item.variant) for item in found} == {(target, variant)}
        assert (target == pair) == (part == OOD)
        shown = [tuple(item.thing[place] for place in places) for item in found]
        assert len(shown) == len(set(shown)) and set(shown) <= there and (part == OOD or pair not in shown)
        assert [item.yes for item in found] == [one == target for one in shown]
        assert len({tuple(v for n, v in enumerate(item.thing) if n not in places) for item in found}) == 1
        if len(found) == 4:
            (x, y), (x2, y2) = shown[0], shown[3]
            assert shown[1] == (x, y2) and shown[2] == (x2, y) and x != x2 and y != y2
        else:
            assert part == IID and len(found) == 3
    assert {len(found) for (part, _), found in groups.items() if part == OOD} == {4}


def test_each_distractor_is_as_often_there_as_any_other(vocabulary):
    found = Counter()
    for item in items(("cyan", "cylinder"), vocabulary, 40):
        if item.part == OOD and item.number % 4 == 3:
            found[item.thing[1], item.thing[3]] += 1
    assert len(found) == 14 and set(found.values()) == {2 * 4}


def test_too_few_variants_are_told(vocabulary):
    with pytest.raises(InputError, match="need 14 variants"):
        list(items(("cyan", "cylinder"), vocabulary, 13))


def test_the_questions_of_a_variant_have_one_text_a_target_and_answers_are_the_programs(pools, made, words):
    rows = tables.read(made / "minimal.parquet", QUESTIONS).to_pylist()
    scenes = {scene.scene_id: scene for scene in read_scenes(pools)}
    texts = defaultdict(set)
    for row in rows:
        (scene,) = row["scene_ids"]
        program = from_json(row["program"])
        assert executor.answer(program, scenes[scene]) == row["answer"]
        texts[row["part"], row["number"] // 4].add((row["text"], row["program"]))
    assert all(len(found) == 1 for found in texts.values())
    assert len({text for found in texts.values() for text, _ in found}) >= 6


def outline(scene, item, margin):
    """The pixels (a mask) that a box around a thing, its shadow from any lamp, or four of its radii could cover: by
    corners alone."""
    from compvqa.scenes.worlds.clevr.renderers.caster.lamps import lights
    from compvqa.scenes.worlds.clevr.studio import LAMPS, Camera

    width, height = scene["width"], scene["height"]
    camera = Camera(tuple(scene["camera"]), width, height)
    x, y, z = item["3d_coords"]
    corners = np.array(
        [(x + a * 1.45 * z, y + b * 1.45 * z, c * 2 * z) for a, b, c in product((-1, 1), (-1, 1), (0, 1))]
    )
    points = [corners]
    for name, lamp in LAMPS.items():
        place = np.array(scene["lights"][name])
        for off in product((-1, 1), repeat=3):
            source = place + np.array(off) * lamp.side
            points.append(source + (corners - source) * (source[2] / (source[2] - corners[:, 2]))[:, None])
    (sun,) = [light for light in lights(scene["lights"]) if light.distant]
    for source in (sun.place + sun.side / 2 * np.array(off) for off in product((-1, 1), repeat=3)):
        points.append(source + (corners - source) * (source[2] / (source[2] - corners[:, 2]))[:, None])
    angles = np.linspace(0, 2 * np.pi, 40)
    points.append(np.stack([x + 4 * z * np.cos(angles), y + 4 * z * np.sin(angles), 0 * angles], axis=1))
    mask = Image.new("1", (width, height))
    for shadow in points:
        seen = np.array(camera.project(shadow.T))[:2].T
        hull = seen[ConvexHull(seen).vertices]
        middle = hull.mean(0)
        grown = hull + (hull - middle) / np.linalg.norm(hull - middle, axis=1, keepdims=True) * margin
        ImageDraw.Draw(mask).polygon([tuple(point) for point in grown], fill=1)
    return np.asarray(mask)


def test_pictures_of_minimal_groups_differ_in_the_thing_and_its_shadow_alone(vocabulary):
    """Drawn by the ray caster, to the byte outside what the largest of the four could cover."""
    from compvqa.scenes.worlds.clevr.renderers.caster import draw as cast

    settings = PoolSettings(world=ClevrPools(variants=8, all={"width": 180, "height": 120}), side="minimal")
    sampling = Sampling(settings, 1)
    of = {(scene.number // 1000, scene.values[0]): scene for scene in singles(settings)}
    seen = Counter()
    for pair in [("large", "rubber"), ("metal", "cube")]:
        groups = defaultdict(list)
        for item in items(pair, vocabulary, 8):
            if item.part == OOD:
                groups[item.number // 4].append(item)
        for found in (groups[number] for number in (0, len(groups) // 2)):
            drawn = []
            for item in found:
                size, color, material, shape = item.thing
                scene = sampling.scene(of[item.variant, (shape, color, material, size)], 0)
                drawn.append((scene, cast(scene, settings.clevr).color))
            free = ~np.any([outline(scene, scene["objects"][0], 3) for scene, _ in drawn], axis=0)
            assert free.mean() > 0.05
            seen["free"] += free.mean() > 0.5
            for _, picture in drawn[1:]:
                assert (picture[free] == drawn[0][1][free]).all()
                seen["differing"] += int((picture[~free] != drawn[0][1][~free]).any())
    assert seen["differing"] == 12 and seen["free"] == 2  # of small things most of the picture is free


@pytest.mark.parametrize("among", [Among(grid={"color": 2, "shape": 2}), Among(subset=8, draw=2)])
def test_a_cut_vocabulary_has_no_other_values_and_combinations_in_any_set(among, vocabulary, templates, root):
    """In the smallest grid, and in a subset of the combinations, whose values stay."""
    pair, words = ("cyan", "cylinder"), read_words(root / "config/words/clevr.json")
    settings = PairSettings(pair=pair, among=among, common=Among(grid={"color": 2, "shape": 2}))
    assert sets_of(settings)[-2:] == ["common_iid", "common_ood"] and sets_of(PAIR) == list(SETS)[:-2]
    kept, there = within(pair, vocabulary, among), set(combinations(pair, vocabulary, among))
    scenes = [
        scene
        for scene in sampled(cut(words, kept), 150, 4)
        if all((color, shape) in there for _, color, _, shape in scene.objects)
    ]
    others = {value for kind in kept for value in vocabulary[kind]} - {value for kind in kept for value in kept[kind]}
    for name in ("complex_iid", "complex_ood", "complex_matched"):
        with_it = SETS[name].has == "pair"
        fits = [scene for scene in scenes if occurs(pair, scene.objects) == with_it][:25]
        rules = asking(settings, name, words)
        assert set(rules.required) == {"none": set(), "pair": {pair}, "seen": there - {pair}}[SETS[name].has]
        rows = list(of_block(fits, plans_of(templates, rules), cut(words, rules.values), rules, 1, Counter()))
        assert len(rows) == (9 if SETS[name].has == "none" else 1) * len(fits) > 5
        for row in rows:
            program = from_json(row["program"])
            described = [
                found & {*vocabulary["color"], *vocabulary["shape"]} for found in analysis.descriptions(program)
            ]
            seen = {found for found in described if len(found) == 2}
            assert not others & {word for op in program for word in op.arguments}
            assert seen <= {frozenset(item) for item in there} - (set() if with_it else {frozenset(pair)})
            assert (frozenset(pair) in seen) == with_it
    assert asking(settings, "common_iid", words).values["color"] == within(pair, vocabulary, settings.common)["color"]
