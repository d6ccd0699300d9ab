"""What lmms-eval and VLMEvalKit make of replies beside what we do: how many each takes for right, by kind of answer.

    python benchmarks/scoring.py --lmms-eval CHECKOUT --vlmevalkit CHECKOUT --replies tests/fixtures/replies.yaml

Every style of a reply of the file is said with every answer of its kind, and with other words for it; each reply is
right. Ours is what the exported tasks of lmms-eval run, too. Theirs are functions out of the checkouts: lmms-eval's
metric ``exact_match`` without regard to case and punctuation, as its task of GQA has it, and VLMEvalKit's rules of open
answers, ``accuracy`` (of GQA) and ``vqa_score`` (the default), here of ten equal answers, as the rule wants several.
"""

from __future__ import annotations

import argparse
import ast
import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from measure import print_table  # noqa: E402  (beside this file, wherever it is run)

from compvqa.asking.parsing import Parser  # noqa: E402

PEOPLE = 10  # whose answers VQA's rule compares
WORDS = {"true": ["yes", "true", "True"], "false": ["no", "false", "False"]}
NUMERALS = ("zero", "one", "two", "three", "four", "five")


def recorded(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Kind of answer, question, reply and right answer of each reply."""
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    for answer in told["answers"]:
        kind = "polar" if answer in WORDS else "number" if answer.isdigit() else "word"
        words = WORDS.get(answer, [answer, NUMERALS[int(answer)]] if answer.isdigit() else [answer, answer.title()])
        for word in words:
            for frame in told["frames"]:
                yield kind, told["questions"][kind], frame.format(word), answer
    for kind, reply, answer in told["replies"]:
        if answer:
            yield "sentences", told["questions"].get(kind, kind), reply, answer


def taken(path: Path, *names: str) -> dict[str, Any]:
    """Functions of a file by name, without what it imports."""
    found = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if getattr(node, "name", "") in names]
    if missing := {*names} - {node.name for node in found if isinstance(node, ast.FunctionDef)}:
        raise SystemExit(f"{path} has no function {min(missing)}: its rules have changed.")
    space: dict[str, Any] = {"np": np, "re": re, "string": string}
    exec(compile(ast.Module(found, []), str(path), "exec"), space)  # noqa: S102  (of a checkout that the user names)
    return space


def rules(lmms_eval: Path, vlmevalkit: Path, answers: Sequence[str]) -> dict[str, Callable[[str, str, str], float]]:
    """Whether a reply to a question is right of an answer, by whose rule it is."""
    exact = taken(lmms_eval / "lmms_eval/api/metrics.py", "exact_match_hf_evaluate")["exact_match_hf_evaluate"]
    shared = taken(vlmevalkit / "vlmeval/smp/misc.py", "istype", "process_punctuation")
    open_answers = taken(
        vlmevalkit / "vlmeval/dataset/utils/vqa_eval.py", "_process_digit_article", "process_answer", "process_line"
    )
    open_answers |= {name: shared[name] for name in ("istype", "process_punctuation")}
    line, parser = open_answers["process_line"], Parser(answers)

    def people(question: str, reply: str, answer: str) -> float:
        return float(np.mean(line({"answer": repr([answer] * PEOPLE), "prediction": reply})["match"]))

    return {
        "ours": lambda question, reply, answer: float(parser.parse(reply, question).answer == answer),
        "lmms-eval exact_match": lambda question, reply, answer: float(
            exact(predictions=[reply], references=[answer], ignore_case=True, ignore_punctuation=True)["exact_match"]
        ),
        "VLMEvalKit accuracy": lambda question, reply, answer: float(
            np.mean(line({"answer": answer, "prediction": reply}, method="accuracy")["match"])
        ),
        "VLMEvalKit vqa_score": people,
    }


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--lmms-eval", "--vlmevalkit", "--replies"):
        options.add_argument(name, type=Path, required=True)
    given = options.parse_args()
    replies = list(recorded(given.replies))
    told = rules(given.lmms_eval, given.vlmevalkit, yaml.safe_load(given.replies.read_text())["answers"])
    n = Counter(kind for kind, *_ in replies)
    right = {name: Counter[str]() for name in told}
    for kind, *reply in replies:
        for name, rule in told.items():
            right[name][kind] += rule(*reply)
    rows = [[name, *(f"{100 * of[kind] / n[kind]:.1f}" for kind in n)] for name, of in right.items()]
    print_table(["right (%)", *(f"{kind} ({n[kind]})" for kind in n)], rows)


if __name__ == "__main__":
    main()
