"""Sources of a few scenes in GQA's format, read into tables."""

import json
from pathlib import Path

from compvqa import tables
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.tables import REJECTS, TABLES

LEXICON = {"attributes": {"red": {"group": "color"}}}


def gqa_scene(*names, attribute="red"):
    objects = {
        f"o{i}": {"name": name, "attributes": [attribute], "x": i, "y": 0, "w": 5, "h": 5, "relations": []}
        for i, name in enumerate(names)
    }
    if len(names) > 1:
        objects["o0"]["relations"] = [{"name": "on", "object": "o1"}]
    return {"width": 100, "height": 80, "objects": objects}


def source(tmp_path: Path, name="gqa", space="vg", **parts) -> SourceSettings:
    files = {}
    for part, data in parts.items():
        files[part] = tmp_path / f"{name}_{part}.json"
        files[part].write_text(data if isinstance(data, str) else json.dumps(data))
    return SourceSettings(name=name, reader="gqa", files=files, image_space=space)


def run(tmp_path: Path, settings: SourceSettings, most_rejected: float = 1):
    lexicon = tmp_path / "lexicon.json"
    lexicon.write_text(json.dumps(LEXICON))
    out = tmp_path / "sources" / settings.name
    return out, ingest(settings.model_copy(update={"most_rejected": most_rejected}), lexicon, out)


def column(folder, table, name):
    schema = next(schema for schema in (*TABLES, REJECTS) if schema.name == table)
    return tables.read(folder / f"{table}.parquet", schema)[name].to_pylist()
