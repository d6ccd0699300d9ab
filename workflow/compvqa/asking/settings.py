"""A vision-language model as a file of ``config/models`` names it, and how it is asked."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator

from compvqa.settings import Settings

_SECRET = re.compile(r"key|token(?!i)|secret|password|credential|auth", re.IGNORECASE)
_SPOKEN = ("max_tokens", "most_tokens")


class AskedModel(Settings):
    """A file of ``config/models`` with a key ``inspect``."""

    inspect: str = Field(
        pattern=r"^[a-z0-9_-]+/\S+$",
        description="provider and model, as inspect_ai names them: openai-api/<service>/<model>, vllm/…, "
        "anthropic/…, google/…, hf/…, mockllm/…; keys and addresses come from the environment alone",
    )
    prompt: str = Field("short", description="file of config/prompts, without .yaml")
    images: Literal["seen", "zeroed"] = Field("seen", description="zeroed: it is asked without pictures")
    order: Literal["fixed", "permuted"] = Field("fixed", description="of a question's pictures; permuted: at random")
    shots: NonNegativeInt = Field(
        0, description="how many questions with their answers go before, from the parts that a run is fitted on"
    )
    generation: dict[str, Any] = Field(
        default_factory=lambda: {"temperature": 0.0}, description="settings of inspect_ai's GenerateConfig"
    )
    arguments: dict[str, Any] = Field(default_factory=dict, description="of the provider, such as device of hf")
    synonyms: dict[str, str] = Field(default_factory=dict, description="other words for answers, such as ball: sphere")
    connections: PositiveInt = Field(16, description="requests that are open at a time")
    retries: NonNegativeInt = Field(3, description="how often a request that fails is tried again")
    timeout: PositiveInt = Field(120, description="seconds after which a try has failed")

    @field_validator("arguments", "generation")
    @classmethod
    def _no_secret(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name in given:
            if _SECRET.search(name) and name not in _SPOKEN:
                raise ValueError(
                    f"{name} may be a secret: give it by the environment, as inspect_ai's providers read it"
                )
        return given
