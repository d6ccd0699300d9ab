"""The tables of subgraphs, of where they occur, and of the images related to them."""

import pyarrow as pa

from compvqa.tables import Schema

SUBGRAPHS = Schema(
    "subgraphs",
    pa.schema(
        [
            ("subgraph_key", pa.int64()),  # Subgraph.key
            ("tree", pa.string()),  # Subgraph.json()
            ("shape", pa.string()),  # the tree with s for every name
            ("names", pa.list_(pa.int64())),  # its names' keys (shapes.name_key), in the order of the tree
            ("size", pa.int16()),  # nodes: objects, relations, modifiers and their objects
            ("depth", pa.int16()),  # nodes on the longest way from the root
            ("n_attributes", pa.int16()),
            ("text", pa.string()),  # the subgraph in English; null where it was not asked for
        ]
    ),
    key=("subgraph_key",),
)
OCCURRENCES = Schema(
    "occurrences",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("subgraph_key", pa.int64()),
            ("root_id", pa.string()),
            (
                "object_ids",
                pa.list_(pa.string()),
            ),  # bound to the tree's objects, in preorder; within the key sorted too
            ("seed", pa.bool_()),  # may questions start from it
        ]
    ),
    key=("scene_id", "subgraph_key", "root_id"),
    unique=False,
)
SEEDS = Schema(
    "seeds",
    pa.schema(
        [
            ("seed", pa.int64()),
            ("subgraph_key", pa.int64()),
            ("scene_id", pa.string()),  # the start scene
            ("split", pa.string()),
            ("tree", pa.string()),
            ("n_instances", pa.int16()),  # distinct root objects in the start scene
        ]
    ),
    key=("seed",),
)
_RELATED_FIELDS = pa.schema(
    [
        ("seed", pa.int64()),
        ("key", pa.string()),  # pos, mult, no_mult, or what differs: 0_attr, 1_relation, 0_name_neg_object_2 …
        ("scene_id", pa.string()),
        ("rank", pa.int32()),  # 0 … within seed and key
        ("nodes", pa.list_(pa.int16())),  # numbers of the nodes that differ (an attribute has its object's)
        ("names", pa.list_(pa.string())),  # the names found there
    ]
)
CANDIDATES = Schema("candidates", _RELATED_FIELDS, key=("seed", "key", "scene_id"))
RELATED = Schema("related", _RELATED_FIELDS, key=("seed", "key", "scene_id"))
OVERLAP_COLUMNS = ("kind", "x", "y", "m")
