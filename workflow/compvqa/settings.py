"""The base of every stage's settings."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A section of the configuration: unknown keys and wrong types are refused, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    def section(self, name: str, **changed: object) -> str:
        """A section of it, some of that changed, as the JSON that a stage gets."""
        return as_json({**self.model_dump(mode="json", include={name})[name], **changed})


def as_json(data: object) -> str:
    """``data`` as JSON with sorted keys."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False)
