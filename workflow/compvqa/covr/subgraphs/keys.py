"""Keys of candidate scenes: which nodes of a subgraph differ there, and how."""

from __future__ import annotations

KINDS = ("object", "relation", "attribute")
_KIND = {"name": "object", "object": "object", "relation": "relation", "attr": "attribute"}


def kinds_of(key: str) -> frozenset[str]:
    """The kinds of the nodes that differ by ``key`` ("2_name", "1_relation_neg_attr_root"); none for "pos" and the
    like."""
    return frozenset(_KIND[part] for part in key.split("_") if part in _KIND)
