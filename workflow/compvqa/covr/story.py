"""The whole story of questions: from the text back to raw records, subgraph, distractors and filters' opinions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from compvqa.covr.paper.examples import Related, differences
from compvqa.covr.subgraphs.simple import simple_subgraphs
from compvqa.covr.subgraphs.subgraph import Subgraph, parse
from compvqa.covr.trace import traced
from compvqa.programs.rows import from_json
from compvqa.provenance.stories import Tables, membership
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.stream import elements, members

_QUESTION = """question_id, text, annotator_text, answer, template, program, scene_ids, part, split, seed, tree,
    subgraph_key, start_scene"""


def stories(sources: Tables, question_ids: Iterable[str], splits: Iterable[Path] = ()) -> list[dict]:
    """The story of each question (see the keys below); :class:`InputError` of one that the dataset does not have.

    ``question`` (its row), ``splits`` (split to part), ``trace`` (program rows with their values on the scenes),
    ``again`` (the answer that the program gives now), ``scenes`` (of each: image, raw file and record number, what it
    is to the question, and what the filters said of it).
    """
    rows = sources.questions(_QUESTION, question_ids)
    places = sources.places({scene for row in rows for scene in row["scene_ids"]}, _numbers)
    parts = membership(splits, [row["question_id"] for row in rows])
    return [_story(sources, row, places, parts.get(row["question_id"], {})) for row in rows]


def _story(sources: Tables, row: dict, places: dict[str, dict], membership: dict[str, str]) -> dict:
    g = parse(row["tree"]) if row["tree"] else None
    related = _related(sources, row["seed"]) if g else {}
    parts = {part.key: part for part in simple_subgraphs(g)} if g else {}
    presence = _presence(sources, row["scene_ids"], parts)
    scenes = []
    for scene in row["scene_ids"]:
        known = {"scene_id": scene, **places.get(scene, {}), "presence": presence.get(scene, [])}
        scenes.append(known | _role(sources, scene, row["start_scene"], g, related.get(scene)))
    listing, again = _trace(sources, row)
    return {"question": row, "splits": membership, "trace": listing, "again": again, "scenes": scenes}


def _trace(sources: Tables, row: dict) -> tuple[list[list[str]], str | None]:
    """The program's rows with their values, and the answer; nothing where there are no scene graphs."""
    objects = sources.there("objects")
    if not objects:
        return [], None
    store = SceneStore(Path(objects[0]).parent)
    listing = [list(line) for line in traced(from_json(row["program"]), list(store.graphs(row["scene_ids"])))]
    return listing, [value for number, *_, value in listing if "." not in number][-1]


def _related(sources: Tables, seed: int) -> dict[str, tuple[Related, int]]:
    """The scenes related to a seed, with their rank; of several reasons for one, the first by key."""
    query = "select key, scene_id, rank, nodes, names from related where seed = ? order by key, rank, scene_id"
    found: dict[str, tuple[Related, int]] = {}
    for row in sources.rows("related", query, [seed]):
        scene = Related(row["scene_id"], row["key"], tuple(row["nodes"]), tuple(row["names"]))
        found.setdefault(row["scene_id"], (scene, row["rank"]))
    return found


def _role(sources: Tables, scene: str, start: str, g: Subgraph | None, found: tuple[Related, int] | None) -> dict:
    """What a scene is to the question's subgraph: ``role``, ``key``, ``rank``, ``differs``, and m of what differs."""
    if scene == start:
        return {"role": "start"}
    if found is None or g is None:
        return {"role": "other"}
    related, rank = found
    if related.contains:
        return {"role": "holds the subgraph", "key": related.key, "rank": rank}
    differs = differences(g, related)
    pairs = [tuple(pair.split(" → ")) for pair in differs if " → " in pair]
    query = "select kind, x, y, m, model from overlap where (x = ? and y = ?) or (x = ? and y = ?) order by kind, x, y"
    overlap = [row for x, y in pairs for row in sources.rows("overlap", query, [x, y, y, x])]
    return {"role": "distractor", "key": related.key, "rank": rank, "differs": differs, "overlap": overlap}


def _presence(sources: Tables, scenes: Sequence[str], parts: dict[int, Subgraph]) -> dict[str, list[dict]]:
    """What the image filters said of the subgraph's simple parts in each scene."""
    query = """select distinct scene_id, subgraph_key, masked, p, fold from {} where scene_id in (select unnest(?))
        and subgraph_key in (select unnest(?)) order by all"""
    found: dict[str, list[dict]] = {}
    for kind in ("presence", "others"):
        for row in sources.rows(kind, query.format(kind), [list(scenes), list(parts)]):
            scene, key = row.pop("scene_id"), row.pop("subgraph_key")
            found.setdefault(scene, []).append({"subgraph": parts[key].json(), **row})
    return found


def _numbers(path: Path, wanted: set[str]) -> Iterable[tuple[str, int]]:
    """The wanted ids in a raw file with the numbers of their records, from 1; read no further than the last of them."""
    with path.open("rb") as file:
        listed = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    records = ((str(item.get("image_id")), item) for item in elements(path)) if listed else members(path)
    left = set(wanted)
    for number, (raw_id, _) in enumerate(records, start=1):
        if raw_id in left:
            left.remove(raw_id)
            yield raw_id, number
            if not left:
                return
