"""What a search found against what the nested loops find, by kind of key."""

from collections import Counter

from compvqa.covr.subgraphs.subgraph import parse
from unit.covr.subgraphs.related_oracle import World, kind_of

FAMILIES = {
    "no node or one differs": ("pos", "name", "attr", "relation"),
    "several instances": ("mult", "no_mult"),
    "the root's attribute too": ("name_neg_attr_root", "attr_neg_attr_root", "relation_neg_attr_root"),
    "the target too": ("name_neg_object",),
    "the relation too": ("name_neg_relation", "attr_neg_relation"),
}
SEARCHED = tuple(FAMILIES)  # the families that the search gives


def found_rows(candidates: list[dict]) -> dict[int, dict[str, dict]]:
    """What the search found: seed -> key -> scene -> (nodes, names)."""
    result: dict[int, dict[str, dict]] = {}
    for row in candidates:
        of_key = result.setdefault(row["seed"], {}).setdefault(row["key"], {})
        of_key[row["scene_id"]] = tuple(row["nodes"]), tuple(row["names"])
    return result


def differences(world: World, seeds: list[dict], candidates: list[dict]) -> tuple[dict[str, list], Counter[str]]:
    """By kind of key: where the search and the nested loops differ, and how many rows there should be."""
    found, wrong, rows = found_rows(candidates), {}, Counter()
    known = {}
    for seed in seeds:
        asked = seed["tree"], seed["split"], min(seed["n_instances"], 5)
        if asked not in known:
            known[asked] = world.related(parse(asked[0]), *asked[1:])
        expected, got = known[asked], found.get(seed["seed"], {})
        for key in expected.keys() | got.keys():
            should, does = expected.get(key, {}), got.get(key, {})
            rows[kind_of(key)] += len(should)
            odd = {scene: does[scene] for scene in does if does[scene] not in should.get(scene, ())}
            if odd or does.keys() != should.keys():
                wrong.setdefault(kind_of(key), []).append((asked, key, "found", does, "expected", dict(should)))
    return wrong, rows
