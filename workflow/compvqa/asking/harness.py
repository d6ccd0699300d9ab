"""A run as a task of inspect_ai, which brings the client, the cache, tries again, and shows the logs.

It is the one module that imports inspect_ai. A request that failed is a sample that failed, never a wrong answer: the
run then stops with how many, and what was answered is kept, so that the next run asks these alone. Kept answers are
found by all that was said and shown, the pictures' bytes among them.
"""

from __future__ import annotations

import base64
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from compvqa.asking.parsing import Parser
from compvqa.asking.prompts import Prompt
from compvqa.asking.questions import Asked, Shown
from compvqa.asking.settings import AskedModel
from compvqa.errors import InputError

try:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import EvalSample, bundle_log_dir
    from inspect_ai.model import (
        CachePolicy,
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        Content,
        ContentImage,
        ContentText,
        GenerateConfig,
        ModelOutput,
        ModelUsage,
    )
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver
except ModuleNotFoundError as error:
    raise InputError(
        f"asking models needs {error.name}, which has an environment of its own: `make inspect` sets it up."
    ) from None

_KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def ask(
    asked: Sequence[Asked],
    answers: Sequence[str],
    settings: AskedModel,
    prompt: Prompt,
    name: str,
    cache: Path,
    logs: Path,
) -> Iterator[tuple[Asked, str, int | None, int | None]]:
    """Ask a model and give each question with its reply, and the tokens that went in and came out.

    ``cache`` is the folder of answers that are kept, ``logs`` that of inspect_ai's logs. :class:`InputError` where a
    request failed, with how many did.
    """
    os.environ["INSPECT_CACHE_DIR"] = str(cache.absolute())
    by_id = {f"{one.question_id}.{one.text}": one for one in asked}
    if not by_id:
        return
    task = Task(
        dataset=MemoryDataset([_sample(key, one) for key, one in by_id.items()], name=name),
        solver=_shows_and_asks(by_id, list(answers), prompt),
        scorer=_by_parser(Parser(answers, settings.synonyms), by_id, prompt.cue),
        config=_generation(settings, prompt),
        name=name.replace(".", "-"),
    )
    (log,) = eval(
        task,
        model=settings.inspect,
        model_args=_arguments(settings),
        log_dir=str(logs),
        log_images=False,
        log_model_api=False,
        log_realtime=False,
        fail_on_error=False,
        max_samples=settings.connections,
        ctl_server=False,
        acp_server=False,
        display="none",
        log_level="error",
    )
    samples = {str(sample.id): sample for sample in log.samples or []}
    if log.status != "success" and not samples:
        raise InputError(
            f"{settings.inspect} could not be asked ({_told(log.error)}): correct its file or environment."
        )
    failed = {
        key: _told(samples[key].error) if key in samples else "not asked" for key in by_id if _failed(samples, key)
    }
    if failed:
        why = ", ".join(f"{count} × {text}" for text, count in Counter(failed.values()).most_common(3))
        raise InputError(
            f"{len(failed)} of {len(by_id)} requests to {settings.inspect} failed ({why}): run again to ask these; the "
            "other answers are kept."
        )
    for key, one in by_id.items():
        yield (one, samples[key].output.completion, *_tokens(samples[key]))


def bundle(logs: Path, out: Path) -> None:
    """Make a viewer of a folder of logs, which any browser opens from a static server, without inspect_ai."""
    bundle_log_dir(str(logs), str(out), overwrite=True)


def _generation(settings: AskedModel, prompt: Prompt) -> GenerateConfig:
    given = {"temperature": 0.0, "max_tokens": prompt.tokens, **settings.generation}
    return GenerateConfig(
        **given,
        max_connections=settings.connections,
        max_retries=settings.retries,
        attempt_timeout=settings.timeout,
        timeout=settings.timeout * (settings.retries + 1),
    )


def _arguments(settings: AskedModel) -> dict[str, Any]:
    """The provider's arguments; what the provider that asks nobody is to reply are texts in a model's file."""
    given = dict(settings.arguments)
    if settings.inspect.startswith("hf/") and settings.generation.get("temperature", 0.0) == 0:
        given.setdefault("do_sample", False)  # else it draws, and refuses this temperature
    if settings.inspect.startswith("vllm/"):
        given.setdefault("lazy_init", False)  # else the first answers are kept as of a server without an address
    if settings.inspect.startswith("mockllm/") and "custom_outputs" in given:
        outputs = (ModelOutput.from_content(settings.inspect, text) for text in given["custom_outputs"])
        no_tokens = {"usage": ModelUsage()}  # else it asks the network how they are counted
        given["custom_outputs"] = [output.model_copy(update=no_tokens) for output in outputs]
    return given


def _sample(key: str, one: Asked) -> Sample:
    shown = {"images": list(one.shown.images), "shots": [list(shot.images) for shot in one.shots]}
    return Sample(input=one.shown.question, target=one.shown.answer, id=key, metadata=shown)


def _shows_and_asks(by_id: dict[str, Asked], answers: list[str], prompt: Prompt) -> Solver:
    """Show pictures when their question's turn has come, so that they are not all in memory at once.

    What a decorated function is called with goes into the log of every sample: all questions would.
    """

    @solver
    def shows_and_asks() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.messages = messages(by_id[str(state.sample_id)], answers, prompt)
            return await generate(state, cache=CachePolicy(expiry=None, per_epoch=False))

        return solve

    return shows_and_asks()


def messages(asked: Asked, answers: Sequence[str], prompt: Prompt) -> list[ChatMessage]:
    """What is said and shown: what the model is told, the shots with their answers, and the question."""
    said: list[ChatMessage] = [ChatMessageSystem(content=prompt.system)] if prompt.system else []
    for shot in asked.shots:
        said += [_question(shot, answers, prompt), ChatMessageAssistant(content=f"{prompt.cue} {shot.answer}".strip())]
    return [*said, _question(asked.shown, answers, prompt)]


def _question(shown: Shown, answers: Sequence[str], prompt: Prompt) -> ChatMessageUser:
    content: list[Content] = []
    for number, path in enumerate(shown.pictures, start=1):
        if label := prompt.labelled(number):
            content.append(ContentText(text=label))
        data = base64.b64encode(path.read_bytes()).decode()
        content.append(ContentImage(image=f"data:{_KINDS[path.suffix]};base64,{data}"))
    text = prompt.asked(shown.question, answers, len(shown.pictures))
    return ChatMessageUser(content=[*content, ContentText(text=text)])


def _by_parser(parser: Parser, by_id: dict[str, Asked], cue: str) -> Scorer:
    """What the viewer shows; scores of the workflow are made of the predictions."""

    @scorer(metrics=[accuracy()])
    def by_parser() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            found = parser.parse(state.output.completion, by_id[str(state.sample_id)].shown.question, cue)
            right = found.answer.strip().lower() == target.text.strip().lower()
            return Score(value=CORRECT if right else INCORRECT, answer=found.answer, explanation=found.how)

        return score

    return by_parser()


def _failed(samples: dict[str, EvalSample], key: str) -> bool:
    return key not in samples or samples[key].error is not None or not samples[key].output.choices


def _told(error: Any) -> str:
    """An error in a few words: of one that was tried again, what was raised in the end."""
    said = str(getattr(error, "message", error) or "no reply").strip().splitlines() or ["no reply"]
    raised = re.search(r"^RetryError.* raised (\w+)", said[0])
    return raised[1] if raised else said[0][:120]


def _tokens(sample: EvalSample) -> tuple[int | None, int | None]:
    usage = sample.output.usage
    return (usage.input_tokens, usage.output_tokens) if usage else (None, None)
