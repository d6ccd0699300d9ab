"""Official scenes drawn again, from the cameras that their pixels tell, beside the official pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from compvqa.errors import InputError
from compvqa.plugins import find
from compvqa.scenes.worlds.clevr.record import recovered
from compvqa.scenes.worlds.clevr.settings import Look
from compvqa.tables import replacing

RENDERERS = "compvqa.scenes.worlds.clevr.renderers"
SPACE = 6  # pixels between two pictures


@dataclass(frozen=True)
class Redrawn:
    """An official picture and ours of the same scene, both (height, width, 3) bytes, and the camera's worst residual
    in pixels."""

    official: np.ndarray
    ours: np.ndarray
    residual: float

    @property
    def psnr(self) -> float:
        """How like the two are, in decibels (peak signal to noise)."""
        wrong = np.mean((self.official.astype(float) - self.ours) ** 2)
        return float(10 * np.log10(255**2 / max(wrong, 1e-9)))


def redraw(scene: Mapping, picture: Path, renderer: str = "caster", look: Look | None = None) -> Redrawn:
    """Draw an official scene as its ``picture`` shows it; lamps, whose jitter nobody kept, are at their base places."""
    try:
        with Image.open(picture) as image:
            official = np.asarray(image.convert("RGB"))
    except (OSError, UnidentifiedImageError):
        raise InputError(f"{picture} cannot be read as a picture: name the one of {scene['image_filename']}.") from None
    height, width, _ = official.shape
    look = (look or Look()).model_copy(update={"width": width, "height": height})
    camera, residual = recovered(scene, look)
    drawn = find(RENDERERS, renderer, "draw", "renderer").draw({**scene, "camera": list(camera.place)}, look)
    return Redrawn(official, drawn.color, residual)


def figure(pairs: Sequence[Redrawn], path: Path) -> None:
    """Write the pairs as one picture (PNG): a row each, the official one to the left."""
    rows = [np.concatenate([pair.official, _gap(pair.official, 1), pair.ours], axis=1) for pair in pairs]
    parts = [part for row in rows for part in (row, _gap(row, 0))][:-1]
    with replacing(path) as temporary:
        Image.fromarray(np.concatenate(parts)).save(temporary, format="PNG")


def _gap(beside: np.ndarray, axis: int) -> np.ndarray:
    shape = list(beside.shape)
    shape[axis] = SPACE
    return np.full(shape, 255, np.uint8)
