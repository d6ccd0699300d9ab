"""What every graph backend does, whatever it is made of: a module ``compvqa.covr.subgraphs.search.<name>`` with these
functions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import Field

from compvqa import plugins
from compvqa.covr.subgraphs.store import StoreSettings
from compvqa.covr.subgraphs.subgraph import Subgraph
from compvqa.settings import Settings


class Neo4jSettings(Settings):
    """How jobs come to a Neo4j server, and what is loaded there; none of it changes a result."""

    load: bool = Field(
        False, description="Load the test-bed into the server of NEO4J_URI as well: scenes, questions, splits, answers"
    )
    command: str = Field(
        "",
        description="Starts a server where NEO4J_URI names none; $FOLDER is an empty folder for its files. It must "
        "take NEO4J_AUTH and NEO4J_server_bolt_listen__address from the environment, as Neo4j's image does",
    )
    start_within: float = Field(180, gt=0, description="Seconds until a started server must answer")
    patience: float = Field(30, ge=0, description="Seconds for which a query is tried again while the server is away")
    batch: int = Field(100, ge=1, description="Scenes that are loaded in one transaction")


class CandidateSettings(StoreSettings):
    """How related scenes are searched; caps take by stable rank."""

    backend: str = Field(
        "duckdb", description="The graph backend, duckdb or neo4j: a module of compvqa.covr.subgraphs.search"
    )
    seeds_per_subgraph: int = Field(20, ge=1, description="Start scenes of a subgraph in a split, at most")
    seeds_per_scene: int = Field(1000, ge=1, description="Subgraphs that start from one scene, at most")
    per_key: int = Field(30, ge=1, description="Candidate scenes of a seed and key, at most")
    considered: int = Field(
        100,
        ge=1,
        description="Scenes of a subgraph and key that are checked, and shared by its seeds, at most",
    )
    group_size: int = Field(
        500, ge=1, description="Occurring scenes of all subgraphs that are equal but for one node, at most"
    )
    exclusive: float = Field(0.5, ge=0, le=1, description="Two names exclude each other if m is above this")
    unasked_relations: tuple[str, ...] = Field(
        ("of",), description="No target or name of a relation is replaced where one of these takes part"
    )
    partition: int = Field(
        8_000_000,
        ge=1,
        description="Masked nodes of seeds' subgraphs that are searched at once; fewer need less memory, and more time",
    )


class SearchSettings(CandidateSettings):
    """What a backend gets: the section, and how to come to a server."""

    neo4j: Neo4jSettings = Neo4jSettings()


@dataclass(frozen=True)
class GraphFiles:
    """What is searched: the folder of the scene tables, and all tables of subgraphs and their occurrences."""

    scenes: Path
    subgraphs: list[Path]
    occurrences: list[Path]


class Graph(Protocol):
    """All scenes, loaded, for single questions."""

    def containing(self, g: Subgraph, split: str) -> list[str]:
        """The ids of the scenes of ``split`` that contain ``g``, sorted."""

    def replaced(self, g: Subgraph, key: str, split: str) -> list[tuple[str, str]]:
        """Each scene that contains ``g`` with the node of ``key`` (``0_attr``, ``2_name``,
        ``1_relation``) replaced
        by another name, and that name; sorted."""


class Backend(Protocol):
    """The module of a backend."""

    def find_candidates(
        self,
        graph: GraphFiles,
        overlap: Path,
        out: list[tuple[Path, Path]],
        settings: SearchSettings,
        seed: int,
    ) -> dict[str, int]:
        """As :func:`find_candidates` below."""

    def load(self, graph: GraphFiles, beside: Path, settings: SearchSettings) -> AbstractContextManager[Graph]:
        """All scenes, open for single questions; what must lie on disk meanwhile lies beside ``beside``."""


def find(name: str) -> Backend:
    """The backend called ``name``."""
    return plugins.find("compvqa.covr.subgraphs.search", name, "find_candidates", "graph backend")


def find_candidates(
    graph: GraphFiles,
    overlap: Path,
    out: list[tuple[Path, Path]],
    settings: SearchSettings,
    seed: int,
) -> dict[str, int]:
    """Write seeds and, for each, the scenes that may accompany its start scene (section 3.2), in shards.

    ``out`` holds each shard's table of seeds and of candidates; a seed belongs to the shard of its subgraph. ``pos``:
    scenes that contain g, the start scene first. ``i_name``, ``i_attr``, ``i_relation``: scenes that contain g with
    that node replaced by an exclusive name, and that contain g in no reading of its names by overlapping ones.
    ``…_neg_attr_root``, ``…_neg_object_j``, ``…_neg_relation_j``: scenes in which that node and the root's attribute,
    the noun or the relation j are replaced (the latter by names seen with what has it), and that do not contain what a
    question about it refers to. ``mult`` and ``no_mult``, for seeds with 2-4 instances: scenes with several, and with
    exactly one. All of the seed's own split.
    """
    return find(settings.backend).find_candidates(graph, overlap, out, settings, seed)
