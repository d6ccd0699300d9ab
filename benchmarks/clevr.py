"""CLEVR's question generation beside the original code (a checkout of github.com/facebookresearch/clevr-dataset-gen),
and how its cost grows with the scenes.

    python benchmarks/clevr.py FOLDER --scenes-file SCENES.json --original CHECKOUT --scenes 300
    python benchmarks/clevr.py FOLDER --grow 1000 10000 70000

SCENES.json is a file of CLEVR's scenes. Both make ten questions a scene of the same templates (the original's own,
where it is named), once with all families and once without the first of compare_integer, whose only answer the original
spends most of its time to look for. CPU seconds are of question generation from tables to a table, of which the median
of runs before and after the original's is taken, and of the original's whole process. With --grow, scenes are sampled
without drawing them (10,000 at most: more are these under other names, of which other questions are made), and
questions are made of them in a process of its own, whose start counts; with --shards of the first of so many shards.
FOLDER keeps what they write.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from measure import ROOT, exponent, print_table

from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.templates import read_templates
from compvqa.clevr.words import read_words
from compvqa.scenes.ingest import SourceSettings, ingest
from compvqa.scenes.worlds.clevr import record
from compvqa.scenes.worlds.clevr.sample import sample_scene
from compvqa.scenes.worlds.clevr.settings import ClevrSettings
from compvqa.tables import ROW_GROUP

MOST = 10_000  # scenes to sample; a digit tells their copies
SCENES = [f"{name}.parquet" for name in ("scenes", "objects", "attributes", "relations", "modifiers")]
SCENES += ["positions.parquet", "directions.parquet"]
SLOW = "compare_integer_0"
# A picture that is small enough to look fast for what is hidden; questions ask nothing of it.
TINY = ClevrSettings(width=48, height=32, min_pixels=2)


def main() -> None:
    """Measure and print questions a CPU second."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scenes-file", type=Path, help="a file of CLEVR's scenes")
    parser.add_argument("--templates", type=Path, default=ROOT / "config/templates/clevr")
    parser.add_argument("--original", type=Path, help="checkout of the original code; its templates are used")
    parser.add_argument("--scenes", type=int, default=100)
    parser.add_argument("--distinct", choices=("sets", "outputs"), default="outputs")
    parser.add_argument("--runs", type=int, default=3, help="of ours, before and after the original's one")
    parser.add_argument("--grow", type=int, nargs="+", default=[], help="numbers of scenes to sample")
    parser.add_argument("--shards", type=int, default=1, help="of which --grow makes the first")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.scenes_file:
        compare(arguments)
    if arguments.grow:
        grow(arguments)


def compare(arguments: argparse.Namespace) -> None:
    """Print how many questions a CPU second we make, and the original."""
    scenes, tables = arguments.folder / "scenes.json", arguments.folder / "tables"
    data = json.loads(arguments.scenes_file.read_text())
    scenes.write_text(json.dumps(data | {"scenes": data["scenes"][: arguments.scenes]}))
    shutil.rmtree(tables, ignore_errors=True)
    ingest(SourceSettings(name="clevr", reader="clevr", files={"train": scenes}), None, tables)
    source = arguments.original / "question_generation" if arguments.original else None
    templates = source / "CLEVR_1.0_templates" if source else arguments.templates
    pa.Table.from_pylist([{"a": 1}])  # which loads pandas at its first call
    rows = []
    for skipped in ("", SLOW):
        run = partial(ours, tables, templates, skipped, arguments.distinct)
        made = [run() for _ in range(arguments.runs)]
        theirs = original(arguments.folder, scenes, source, skipped) if source else None
        made += [run() for _ in range(arguments.runs)] if source else []
        rate = made[0][0] / median(spent for _, spent in made)
        row = ["all" if not skipped else f"without {skipped}", f"{made[0][0]:,}", f"{rate:,.0f}"]
        if theirs:
            row += [f"{theirs[0]:,}", f"{theirs[0] / theirs[1]:,.1f}", f"{rate / (theirs[0] / theirs[1]):,.0f}"]
        rows.append(row)
    print_table(["templates", "questions", "a CPU-s", "the original's", "a CPU-s", "times"][: len(rows[0])], rows)


def grow(arguments: argparse.Namespace) -> None:
    """Print what questions of more and more scenes cost."""
    rows, last = [], None
    for size in sorted(arguments.grow):
        tables = arguments.folder / f"sampled-{size}"
        if not (tables / "scenes.parquet").exists():
            sample(arguments.folder, size)
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            questions, spent, peak = pool.submit(whole, tables, arguments.templates, arguments.shards).result()
        more = f"{exponent(last, (size, spent)):.2f}" if last else ""
        last = size, spent
        megabytes = (tables / "questions.parquet").stat().st_size / 1e6
        rows.append(
            [f"{size:,}", f"{questions:,}", f"{spent / 60:.2f}", f"{questions / spent:,.0f}", more]
            + [f"{peak:,.0f}", f"{megabytes:,.1f}"]
        )
        print(*rows[-1], file=sys.stderr, flush=True)
    print_table(["scenes", "questions", "CPU min", "a CPU-s", "grows as n^", "peak MB", "table MB"], rows)


def sample(folder: Path, size: int) -> None:
    """Make the tables of so many scenes; over MOST they are made of MOST ones under several names."""
    tables = folder / f"sampled-{size}"
    if size > MOST:
        if not (folder / f"sampled-{MOST}/scenes.parquet").exists():
            sample(folder, MOST)
        tables.mkdir(exist_ok=True)
        for file in SCENES:
            copies = [named(pq.read_table(folder / f"sampled-{MOST}/{file}"), copy) for copy in range(size // MOST)]
            pq.write_table(pa.concat_tables(copies), tables / file, row_group_size=ROW_GROUP)
        return
    path = folder / f"sampled-{size}.json"
    with ProcessPoolExecutor() as pool:
        scenes = pool.map(partial(sample_scene, TINY, 1), range(size), chunksize=100)
        record.write(path, record.info_of(TINY.split, TINY), scenes)
    ingest(SourceSettings(name="clevr", reader="clevr", files={"train": path}), None, tables)


def named(table: pa.Table, copy: int) -> pa.Table:
    """A table of scenes whose names have the copy's digit besides; the tables of all copies are sorted."""
    names = pc.replace_substring(table["scene_id"], f"{TINY.split}_", f"{TINY.split}_{copy}")
    return table.set_column(table.column_names.index("scene_id"), "scene_id", names)


def whole(tables: Path, templates: Path, shards: int) -> tuple[int, float, float]:
    """How many questions we make with the default settings, in the first of so many shards, and what this process then
    has spent: CPU seconds and megabytes of memory."""
    questions, _ = ours(tables, templates, "", None, shards)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return questions, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def ours(tables: Path, templates: Path, skipped: str, distinct: str | None, shards: int = 1) -> tuple[int, float]:
    """How many questions we make, and in how many CPU seconds."""
    start = time.process_time()
    used = [template for template in read_templates(templates) if template.name != skipped]
    words = read_words(ROOT / "config/words/clevr.json")
    outputs = tables / "questions.parquet", tables / "dropped.parquet"
    settings = GenerateSettings(distinct=distinct)
    counts = generate(tables, used, words, settings, 1, "benchmark", *outputs, shards=shards)
    return counts["questions"], time.process_time() - start


def original(folder: Path, scenes: Path, source: Path, skipped: str) -> tuple[int, float]:
    """How many questions the original code makes, and in how many CPU seconds."""
    templates, out = folder / "original", folder / "original.json"
    shutil.rmtree(templates, ignore_errors=True)
    templates.mkdir()
    for file in sorted((source / "CLEVR_1.0_templates").glob("*.json")):
        families = json.loads(file.read_text())
        kept = [item for number, item in enumerate(families) if f"{file.stem}_{number}" != skipped]
        (templates / file.name).write_text(json.dumps(kept))
    command = [sys.executable, "generate_questions.py", "--input_scene_file", str(scenes.resolve())]
    command += ["--template_dir", str(templates.resolve()), "--output_questions_file", str(out.resolve())]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return len(json.loads(out.read_text())["questions"]), spent


if __name__ == "__main__":
    main()
