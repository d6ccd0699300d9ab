"""The one set of scene tables that every source is read into (columns as in COVR, section 3.1)."""

import pyarrow as pa

from compvqa.tables import Schema

SCENES = Schema(
    "scenes",
    pa.schema(
        [
            ("scene_id", pa.string()),  # "<source>:<id in the raw file>"
            ("source", pa.string()),
            ("split", pa.string()),  # its side: train or val; of CLEVR's files others as well
            ("image", pa.string()),  # canonical across sources: "<image space>:<id>"
            ("width", pa.int32()),  # pixels; null where the source does not say
            ("height", pa.int32()),
        ]
    ),
    key=("scene_id",),
)
OBJECTS = Schema(
    "objects",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("object_id", pa.string()),
            ("name", pa.string()),
            ("x", pa.float32()),  # left edge, pixels; all four null where there is no box (imSitu)
            ("y", pa.float32()),  # top edge
            ("w", pa.float32()),
            ("h", pa.float32()),
        ]
    ),
    key=("scene_id", "object_id"),
)
ATTRIBUTES = Schema(
    "attributes",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("object_id", pa.string()),
            ("name", pa.string()),
            ("group", pa.string()),  # color, material …; null where the lexicon knows none
        ]
    ),
    key=("scene_id", "object_id", "name"),
)
RELATIONS = Schema(
    "relations",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("relation_id", pa.string()),
            ("subject_id", pa.string()),
            ("object_id", pa.string()),
            ("name", pa.string()),
        ]
    ),
    key=("scene_id", "relation_id"),
)
MODIFIERS = Schema(
    "modifiers",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("relation_id", pa.string()),
            ("name", pa.string()),
            ("object_id", pa.string()),
        ]
    ),
    key=("scene_id", "relation_id", "name", "object_id"),
)
# Where things are in space; only of sources that know it.
POSITIONS = Schema(
    "positions",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("object_id", pa.string()),
            ("x", pa.float64()),  # the object's centre, in the unit of its world
            ("y", pa.float64()),
            ("z", pa.float64()),  # up
            ("rotation", pa.float64()),  # about the upward axis, as the source has it
            ("pixel_x", pa.float64()),  # the centre in the picture, from its left upper corner
            ("pixel_y", pa.float64()),
            ("depth", pa.float64()),  # the centre's distance from the camera, along the camera's axis
        ]
    ),
    key=("scene_id", "object_id"),
)
DIRECTIONS = Schema(
    "directions",
    pa.schema(
        [
            ("scene_id", pa.string()),
            ("name", pa.string()),  # left, front …: a relation that follows from positions
            ("x", pa.float64()),
            ("y", pa.float64()),
            ("z", pa.float64()),
        ]
    ),
    key=("scene_id", "name"),
)
REJECTS = Schema(
    "rejects",
    pa.schema(
        [
            ("source", pa.string()),
            ("file", pa.string()),  # the raw file's name
            ("scene_id", pa.string()),
            ("record", pa.string()),  # what was refused: "object 12", "relation 3 -> 9", "scene"
            ("reason", pa.string()),
        ]
    ),
    key=("source", "file", "scene_id", "record", "reason"),
    unique=False,
)
TABLES = (SCENES, OBJECTS, ATTRIBUTES, RELATIONS, MODIFIERS)
OPTIONAL = (POSITIONS, DIRECTIONS)  # a source that has none writes no file
