"""The base of every stage's settings."""

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A section of the configuration: unknown keys and wrong types are refused, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)
