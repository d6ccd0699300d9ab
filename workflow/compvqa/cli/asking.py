"""Commands that ask vision-language models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from compvqa.cli.models import Dataset, Paraphrases, Parts, SomeSplit
from compvqa.cli.options import NOTHING, Code, Config, Frame, Pictures, Seed, add, image_folders, optional
from compvqa.settings import Settings

Scenes = Annotated[Path, typer.Option(help="The scenes table, for the images.")]
ShotParts = Annotated[list[str], typer.Option(help="A part that shots come from; repeat for more.")]
LeftOut = Annotated[
    list[str],
    typer.Option(
        help="A part of the split: shots are questions that it lacks, of --shot-part, the dataset's own parts."
    ),
]


class AskRequest(Settings):
    """A file of ``config/models`` and its prompt, a file of ``config/prompts``."""

    model: dict
    prompt: dict


def ask(
    out: Annotated[Path, typer.Argument(help="Table of predictions to write.")],
    replies: Annotated[Path, typer.Option(help="Table of replies to write.")],
    run: Annotated[str, typer.Option(help="The run's name.")],
    dataset: Dataset,
    part: Parts,
    scenes: Scenes,
    images: Pictures,
    cache: Annotated[Path, typer.Option(help="Folder of the answers that are kept: nothing is asked twice.")],
    logs: Annotated[Path, typer.Option(help="Folder of inspect_ai's logs.")],
    split: SomeSplit = None,
    shot_part: ShotParts = NOTHING,
    left_out_of: LeftOut = NOTHING,
    paraphrases: Paraphrases = None,
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Ask a vision-language model (--config: a file of config/models, and its prompt) questions with their pictures."""
    from compvqa.asking.harness import ask as work
    from compvqa.asking.parsing import Parser
    from compvqa.asking.prompts import Prompt
    from compvqa.asking.questions import Questions
    from compvqa.asking.replies import read_replies, write_replies
    from compvqa.asking.settings import AskedModel
    from compvqa.run import validate

    frame = Frame("ask", config, seed, code)
    request = frame.settings(AskRequest)
    model, prompt = validate(AskedModel, request.model, "model"), validate(Prompt, request.prompt, "prompt")
    questions = Questions(dataset, split, scenes, image_folders(images), model, seed)
    frame.note({"parts": list(part), "shot_parts": list(shot_part), "left_out": list(left_out_of)})
    asked = list(questions.asked(part, shot_part, paraphrases, left_out_of))
    shown = {path for one in asked for each in (one.shown, *one.shots) for path in each.pictures}

    def made() -> dict[str, int]:
        answers = questions.answers()
        replied = work(asked, answers, model, prompt, run, cache, logs)
        rows = read_replies(replied, run, Parser(answers, model.synonyms), prompt.cue)
        return {"in": len(asked), "pictures": len(shown), **write_replies(rows, out, replies)}

    given = [dataset, scenes, *optional(split), *optional(paraphrases), *sorted(shown)]
    frame.run(made, given, [out, replies])


def ask_cost(
    dataset: Dataset,
    part: Parts,
    scenes: Scenes,
    images: Pictures,
    split: SomeSplit = None,
    shot_part: ShotParts = NOTHING,
    left_out_of: LeftOut = NOTHING,
    pictures: Annotated[str, typer.Option(help="Whose rule says how many tokens a picture is.")] = "",
    config: Config = None,
    seed: Seed = 1,
    code: Code = None,
) -> None:
    """Say what ``ask`` would ask, without asking: requests, pictures, and about how many tokens."""
    from compvqa.asking.cost import RULES, cost
    from compvqa.asking.prompts import Prompt
    from compvqa.asking.questions import Questions
    from compvqa.asking.settings import AskedModel
    from compvqa.errors import InputError
    from compvqa.run import validate

    if pictures and pictures not in RULES:
        raise InputError(f"--pictures {pictures} is no rule that is known: use one of {', '.join(RULES)}.")
    frame = Frame("ask_cost", config, seed, code)
    request = frame.settings(AskRequest)
    model, prompt = validate(AskedModel, request.model, "model"), validate(Prompt, request.prompt, "prompt")
    questions = Questions(dataset, split, scenes, image_folders(images), model, seed)
    asked = list(questions.asked(part, shot_part, left_out=left_out_of))
    frame.run(lambda: cost(asked, questions.answers(), prompt, pictures), [dataset, scenes, *optional(split)], [])


def chats(
    out: Annotated[Path, typer.Argument(help="JSON lines to write.")],
    form: Annotated[Literal["llava", "trl"], typer.Option(help="Whose training code shall read them.")],
    prompt: Annotated[Path, typer.Option(help="A file of config/prompts: what is said beside the pictures.")],
    dataset: Dataset,
    part: Parts,
    scenes: Scenes,
    images: Pictures,
    split: SomeSplit = None,
    code: Code = None,
) -> None:
    """Write questions with their answers as chats to fine-tune on: --part of --split, which is all that it allows."""
    from compvqa.asking.chats import write_chats
    from compvqa.asking.prompts import Prompt
    from compvqa.asking.questions import Questions
    from compvqa.asking.settings import AskedModel
    from compvqa.files import read_yaml
    from compvqa.run import validate

    frame = Frame("chats", None, 0, code)
    frame.note({"form": form, "parts": list(part)})
    wording = validate(Prompt, read_yaml(prompt), str(prompt))
    questions = Questions(dataset, split, scenes, image_folders(images), AskedModel(inspect="none/none"), 0)
    asked = list(questions.asked(part))
    given = [dataset, scenes, prompt, *optional(split)]
    frame.run(lambda: write_chats(asked, questions.answers(), wording, form, out), given, [out])


def read_replies(
    out: Annotated[Path, typer.Argument(help="Predictions to write, for `score`: .csv.")],
    replies: Annotated[Path, typer.Option(help="What a harness wrote: .csv, .tsv, .jsonl or .parquet.")],
    dataset: Dataset,
    prompt: Annotated[Path, typer.Option(help="The file of config/prompts that was said.")],
    names: Annotated[str, typer.Option(help="Its column of questions' ids.")] = "index",
    texts: Annotated[str, typer.Option(help="Its column of replies.")] = "prediction",
    code: Code = None,
) -> None:
    """Read the replies that another harness got as answers for `score`; without names of columns, VLMEvalKit's."""
    from compvqa.asking.given import read
    from compvqa.asking.prompts import Prompt
    from compvqa.files import read_yaml
    from compvqa.run import validate

    frame, wording = Frame("read_replies", None, 0, code), validate(Prompt, read_yaml(prompt), str(prompt))
    frame.note({"names": names, "texts": texts})
    frame.run(lambda: read(replies, (names, texts), dataset, wording.cue, out), [replies, dataset, prompt], [out])


def bundle_replies(
    out: Annotated[Path, typer.Argument(help="Folder of the viewer, which is made anew.")],
    logs: Annotated[Path, typer.Option(help="Folder of inspect_ai's logs.")],
) -> None:
    """Make a viewer of logs that any browser opens from a static server, without inspect_ai."""
    from compvqa.asking.harness import bundle

    bundle(logs, out)


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    add(app, ask, ask_cost, chats, read_replies, bundle_replies)
