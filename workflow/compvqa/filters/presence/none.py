"""No scores: every candidate image passes."""

from pathlib import Path

import pyarrow as pa

from compvqa.filters import images


def score(candidates: Path, seeds: Path, settings: images.PresenceSettings) -> pa.Table:
    """An empty table."""
    return images.PRESENCE.fields.empty_table()
