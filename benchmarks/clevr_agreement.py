"""Whether CLEVR's questions are distributed in the mode keyed as in the mode compat, which draws as the original code.

    python benchmarks/clevr_agreement.py FOLDER --scenes 1000
    python benchmarks/clevr_agreement.py FOLDER --templates CHECKOUT/question_generation/CLEVR_1.0_templates

Both make ten questions in each of so many sampled scenes, with the same templates and the same reading of counts that
must differ. Family, answer, words of the text and functions of the program are held beside each other: chi-square of
the values with ten questions or more, and how many of these are more than 3 sigma apart. FOLDER keeps what is made.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import sqrt
from pathlib import Path

from clevr import sample
from measure import ROOT, print_table
from scipy.stats import chi2_contingency

from compvqa import tables
from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.tables import QUESTIONS
from compvqa.clevr.templates import read_templates
from compvqa.clevr.words import read_words

MODES = ("compat", "keyed")
LEAST = 10  # questions of a value, of both modes
ALIKE = {
    "family": lambda row: row["template"],
    "answer": lambda row: row["answer"],
    "words": lambda row: len(row["text"].split()),
    "functions": lambda row: len(json.loads(row["program"])),
}


def main() -> None:
    """Make questions in both modes and print how much they differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scenes", type=int, default=1000)
    parser.add_argument("--templates", type=Path, default=ROOT / "config/templates/clevr")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    scenes = arguments.folder / f"sampled-{arguments.scenes}"
    if not (scenes / "scenes.parquet").exists():
        sample(arguments.folder, arguments.scenes)
    with ProcessPoolExecutor(2) as pool:
        made = list(pool.map(partial(questions, scenes, arguments.templates, arguments.seed), MODES))
    print_table(
        ["of each question", "values", "chi-square p", "beyond 3 sigma", "largest |z|"],
        [[name, *compared(*(Counter(map(value, rows)) for rows in made))] for name, value in ALIKE.items()],
    )
    print("questions:", ", ".join(f"{mode} {len(rows):,}" for mode, rows in zip(MODES, made, strict=True)))


def questions(scenes: Path, templates: Path, seed: int, mode: str) -> list[dict]:
    """The questions of a mode."""
    out = scenes / f"{mode}.parquet"
    settings = GenerateSettings(mode=mode, distinct="outputs")
    words = read_words(ROOT / "config/words/clevr.json")
    generate(scenes, read_templates(templates), words, settings, seed, mode, out, scenes / f"{mode}-dropped.parquet")
    return tables.read(out, QUESTIONS).to_pylist()


def compared(one: Counter, other: Counter) -> list[str]:
    """How many values there are, the chi-square test's p, how many values are beyond 3 sigma, and the largest z."""
    values = [value for value in one | other if one[value] + other[value] >= LEAST]
    p = chi2_contingency([[one[value] for value in values], [other[value] for value in values]]).pvalue
    scores = [abs(score(one[value], one.total(), other[value], other.total())) for value in values]
    return [str(len(values)), f"{p:.3f}", str(sum(z > 3 for z in scores)), f"{max(scores):.2f}"]


def score(one: int, of_one: int, other: int, of_other: int) -> float:
    """The z of the difference of two shares."""
    share = (one + other) / (of_one + of_other)
    return (one / of_one - other / of_other) / sqrt(share * (1 - share) * (1 / of_one + 1 / of_other))


if __name__ == "__main__":
    main()
