"""What a run will ask, counted before it: requests, pictures, and about how many tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from PIL import Image

from compvqa.asking.prompts import Prompt
from compvqa.asking.questions import Asked, Shown

LETTERS = 4  # of English text, about, a token


def cost(asked: Sequence[Asked], answers: Sequence[str], prompt: Prompt, rule: str = "") -> dict[str, int]:
    """How many requests a run makes, how many pictures these send and how many are different, about how many tokens
    their texts are, at most how many come back, and, by a ``rule`` of :data:`RULES`, how many tokens pictures are."""
    shown = [each for one in asked for each in (*one.shots, one.shown)]
    sent = [path for each in shown for path in each.pictures]
    said = sum(_letters(each, answers, prompt) for each in shown) + len(asked) * len(prompt.system)
    told = {
        "requests": len(asked),
        "pictures": len(sent),
        "different pictures": len(set(sent)),
        "tokens of texts": said // LETTERS,
        "tokens of replies at most": len(asked) * prompt.tokens,
    }
    return told | ({"tokens of pictures": sum(map(cache(_by(rule)), sent))} if rule else {})


def _letters(shown: Shown, answers: Sequence[str], prompt: Prompt) -> int:
    labels = [prompt.labelled(number) for number in range(1, len(shown.pictures) + 1)]
    return len(prompt.asked(shown.question, answers, len(shown.pictures))) + sum(map(len, labels))


def llava(width: int, height: int) -> int:
    """LLaVA-1.5: a picture of any size is 336 x 336 pixels in patches of 14."""
    return (336 // 14) ** 2


def qwen(width: int, height: int) -> int:
    """Qwen2-VL: a token is 28 x 28 pixels, sides are rounded to such, and two tokens stand around a picture."""
    return max(1, round(width / 28)) * max(1, round(height / 28)) + 2


RULES: dict[str, Callable[[int, int], int]] = {"llava-1.5": llava, "qwen2-vl": qwen}


def _by(rule: str) -> Callable[[Path], int]:
    def tokens(path: Path) -> int:
        with Image.open(path) as image:
            return RULES[rule](*image.size)

    return tokens
