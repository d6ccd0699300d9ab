"""Questions of other generators about a drawn world, made of the same scenes as annotated, judged beside our own.

    python benchmarks/judged.py FOLDER --testbed results/covr-sprites --truth resources/sprites/truth \\
        --provision CHECKOUT --covr CHECKOUT

The checkouts are of github.com/JieyuZ2/ProVision and github.com/benbogin/covr-dataset; without one its row is left out.
All questions are about scenes of the train side, and of each template at most --questions are judged, drawn by stable
rank: our dataset's, those of our chain without filters where the test-bed has it, ProVision's about two and about four
images, and those that COVR's released generator makes of the subgraphs of --scenes scenes, without the image filter,
which was not released. FOLDER gets each generator's questions as ``python -m compvqa judge`` reads them, all verdicts,
and table.csv, table.md and judged.png. What cannot be put as a claim is counted, by template and reason.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from measure import ROOT, checkouts
from provisions import ProVision, Unclaimed, Words, claimed, write_annotations
from released import Names, asked, converted, generating

from compvqa.covr.filters.floors import share_of
from compvqa.covr.judging.outside import AMBIGUOUS, NARROW, VERDICTS, WRONG, World, judge_file, save, shares
from compvqa.covr.judging.validity import CAUSES
from compvqa.covr.released.lines import Refused
from compvqa.paper import style
from compvqa.scenes.graph import SceneStore
from compvqa.scenes.lexicon import Lexicon
from compvqa.seeds import by_rank

SIDE = "train"  # the scenes' side
FIXED = "PYTHONHASHSEED"  # what other generators make depends on the order of their sets
UNFILTERED = "arms/none-none"
KINDS: dict[str, tuple[str, Callable[[dict], bool]]] = {
    "wrong by the annotations": (style.RED, lambda row: row["verdict"] == WRONG and row["cause"] in CAUSES),
    "wrong otherwise": (style.PURPLE, lambda row: row["verdict"] == WRONG and row["cause"] not in CAUSES),
    "several answers": (style.ORANGE, lambda row: row["verdict"] == AMBIGUOUS and row["cause"] != NARROW),
    "overlapping names": (style.PALE, lambda row: row["verdict"] == AMBIGUOUS and row["cause"] == NARROW),
}


@dataclass
class Made:
    """A generator's questions, and those that are none in our language."""

    name: str
    questions: list[dict] = field(default_factory=list)
    unclaimed: Counter[tuple[str, str]] = field(default_factory=Counter)
    made: int = 0

    def take(self, records: Iterable[dict], template: str, told: Callable[[dict], dict]) -> None:
        """Put all records as questions; ``template`` is the key of a record's kind."""
        for record in records:
            self.made += 1
            try:
                self.questions.append(told(record))
            except (Unclaimed, Refused) as refused:
                self.unclaimed[str(record[template]), str(refused)] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where questions, verdicts, table and figure are put")
    parser.add_argument("--testbed", type=Path, required=True, help="the drawn world's results")
    parser.add_argument("--truth", type=Path, required=True, help="the world's truth: complete/ and missing_only/")
    parser.add_argument("--provision", type=Path, help="a checkout of ProVision")
    parser.add_argument("--covr", type=Path, help="a checkout of COVR's released generator")
    parser.add_argument("--questions", type=int, default=150, help="questions of each template")
    parser.add_argument("--scenes", type=int, default=60, help="scenes from whose subgraphs COVR's generator starts")
    parser.add_argument("--seed", type=int, default=1)
    bolt_server = shlex.join([sys.executable, str(ROOT / "tests/fixtures/bolt_server.py")])
    parser.add_argument("--server", default=f"{bolt_server} $FOLDER", help="as neo4j.command, for COVR's generator")
    options = parser.parse_args()
    checkouts(options.provision, options.covr)
    if os.environ.get(FIXED) != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {FIXED: "0"})
    options.folder.mkdir(parents=True, exist_ok=True)
    world = World.load(options.testbed / "scenes", options.truth, options.testbed / "lexicon.json")
    found = {made.name: judged(made, options, world) for made in generators(options)}
    write_table(found, options.folder)
    draw(found, options.folder / "judged")


def generators(options: argparse.Namespace) -> Iterator[Made]:
    """What each generator makes, one after the other."""
    yield ours("ours", options.testbed / "dataset/questions.parquet")
    unfiltered = options.testbed / UNFILTERED / "questions/questions.parquet"
    if unfiltered.exists():
        yield ours("ours, no filters", unfiltered)
    store = SceneStore(options.testbed / "scenes")
    scene_ids = [row["scene_id"] for row in store.scenes.to_pylist() if row["split"] == SIDE]
    if options.provision:
        yield from theirs(options, store, scene_ids)
    if options.covr:
        yield covrs(options, store, scene_ids)


def ours(name: str, dataset: Path) -> Made:
    """The questions of one of our tables."""
    columns = ["template", "text", "scene_ids", "answer", "program", "split"]
    made = Made(name)
    for row in pq.read_table(dataset, columns=columns).to_pylist():
        if row.pop("split") == SIDE:
            made.questions.append(row | {"images": row.pop("scene_ids"), "program": json.loads(row["program"])})
    made.made = len(made.questions)
    return made


def theirs(options: argparse.Namespace, store: SceneStore, scene_ids: Sequence[str]) -> Iterator[Made]:
    """ProVision's questions about two images, and about four."""
    words = Words.of(store.graphs(scene_ids), Lexicon.load(options.testbed / "lexicon.json"))
    scenes = options.folder / "provision-scenes.json"
    write_annotations(store, scene_ids, scenes)
    generator = ProVision(options.provision, scenes)
    for images in (2, 4):
        made = Made(f"ProVision, {images} images")
        for kind in generator.kinds:
            records = generator.records(kind, images, options.questions, options.seed)
            if len(records) < options.questions:
                print(f"{made.name}: {kind.__name__} gave up at {len(records)} questions")
            made.take(records, "generator", lambda record: claimed(record, words))
        yield made


def covrs(options: argparse.Namespace, store: SceneStore, scene_ids: Sequence[str]) -> Made:
    """The questions of COVR's released generator, each once."""
    made, names = Made("COVR's, no image filter"), Names(store, SIDE)
    images = {there: here for here, there in names.scenes.items()}
    drawn = by_rank(options.seed, "covr", scene_ids)[: options.scenes]
    with generating(options.covr, store, names, SIDE, options.folder, options.server) as generator:
        records = asked(generator, [names.scenes[scene] for scene in drawn])
    made.take(records, "pattern_name", lambda record: converted(record, images))
    return made


def judged(made: Made, options: argparse.Namespace, world: World) -> list[dict]:
    """Draw questions of each template, write and judge them, and write the verdicts; tells what was made."""
    by_template = defaultdict(list)
    for question in made.questions:
        by_template[question["template"]].append(question)
    drawn = [
        question | {"question_id": f"{template}-{number:05d}"}
        for template, of in sorted(by_template.items())
        for number, question in enumerate(by_rank(options.seed, "judged", of, json.dumps)[: options.questions], 1)
    ]
    file = options.folder / f"{file_name(made.name)}.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in drawn), encoding="utf-8")
    rows = judge_file(file, world)
    save(rows, file.with_suffix(".verdicts.csv"))
    print(f"{made.name}: {made.made:,} questions; {len(drawn):,} judged")
    for (template, reason), n in sorted(made.unclaimed.items()):
        print(f"  not put as a claim: {n:,} of {template}: {reason}")
    return rows


def file_name(name: str) -> str:
    return "".join(letter for letter in name.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def write_table(found: dict[str, list[dict]], folder: Path) -> None:
    """All shares as CSV, by template and cause; those of all questions as Markdown, which is printed too."""
    with (folder / "table.csv").open("w", encoding="utf-8") as file:
        print("generator,template,verdict,cause,questions,of,share,low,high", file=file)
        for name, rows in found.items():
            for template, verdict, cause, n, of, low, high in shares(rows):
                numbers = f"{n},{of},{n / of:.4f},{low:.4f},{high:.4f}"
                print(f'"{name}",{template},{verdict},{cause},{numbers}', file=file)
    header = ["", "questions", *(f"{verdict}, %" for verdict in VERDICTS), "of these"]
    lines = [line(name, rows) for name, rows in found.items()]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in [header, ["---"] * len(header), *lines])
    (folder / "table.md").write_text(f"{text}\n", encoding="utf-8")
    print(text)


def line(name: str, rows: Sequence[dict]) -> list[str]:
    """A generator's line: how many questions, the share of each verdict with its interval, and causes."""
    told, causes = {}, []
    for template, verdict, cause, n, of, low, high in shares(rows):
        if not template and not cause:
            told[verdict] = f"{100 * n / of:.1f} ({100 * low:.1f} to {100 * high:.1f})"
        elif not template:
            causes.append((n, f"{cause} {100 * n / of:.1f}"))
    causes.sort(key=lambda cause: -cause[0])
    return [name, f"{len(rows):,}", *(told[verdict] for verdict in VERDICTS), ", ".join(text for _, text in causes)]


def draw(found: dict[str, list[dict]], out: Path) -> None:
    """The figure: a bar for each generator, the shares of its questions that are wrong or ambiguous, and why."""
    with style.applied():
        figure, [axes] = style.new(7.2, 0.9 + 0.5 * len(found))
        names, left = list(found)[::-1], [0.0] * len(found)
        for label, (color, kinds) in KINDS.items():
            widths = [100 * sum(kinds(row) for row in found[name]) / len(found[name]) for name in names]
            axes.barh(names, widths, 0.62, left=left, color=color, label=label)
            left = [begin + width for begin, width in zip(left, widths, strict=True)]
        for place, name in enumerate(names):
            rows = found[name]
            told = share_of(np.array([not row["valid"] for row in rows]), [row["images"].split() for row in rows])
            axes.plot([100 * told.low, 100 * told.high], [place, place], color=style.INK, linewidth=1)
            axes.text(100 * told.high + 1, place, f"{100 * told.value:.1f}", va="center", fontsize=9)
        axes.margins(x=0.1)
        axes.grid(True, axis="x")
        axes.grid(False, axis="y")
        axes.set_xlabel("questions that are wrong or ambiguous, % (with the interval of both)")
        figure.legend(loc="outside upper center", ncols=len(KINDS), fontsize=8.5)
        style.save(figure, out)


if __name__ == "__main__":
    main()
