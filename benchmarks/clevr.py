"""CLEVR's question generation beside the original code (a checkout of github.com/facebookresearch/clevr-dataset-gen).

    python benchmarks/clevr.py FOLDER SCENES.json --original CHECKOUT --scenes 100
    python benchmarks/clevr.py FOLDER SCENES.json --templates config/templates/clevr --scenes 1000

SCENES.json is a file of CLEVR's scenes. Both make ten questions a scene of the same templates (the original's own,
where it is named), once with all families and once without the first of compare_integer, whose only answer the original
spends most of its time to look for. CPU seconds are of question generation from tables to a table, and of the
original's whole process. FOLDER keeps what they write.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from measure import ROOT, print_table

from compvqa.clevr.generate import GenerateSettings, generate
from compvqa.clevr.templates import read_templates
from compvqa.clevr.words import read_words
from compvqa.scenes.ingest import SourceSettings, ingest

SLOW = "compare_integer_0"


def main() -> None:
    """Measure and print questions a CPU second."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scenes_file", type=Path)
    parser.add_argument("--templates", type=Path, default=ROOT / "config/templates/clevr")
    parser.add_argument("--original", type=Path, help="checkout of the original code; its templates are used")
    parser.add_argument("--scenes", type=int, default=100)
    parser.add_argument("--distinct", choices=("sets", "outputs"), default="outputs")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    scenes = arguments.folder / "scenes.json"
    data = json.loads(arguments.scenes_file.read_text())
    scenes.write_text(json.dumps(data | {"scenes": data["scenes"][: arguments.scenes]}))
    source = arguments.original / "question_generation" if arguments.original else None
    templates = source / "CLEVR_1.0_templates" if source else arguments.templates
    rows = []
    for skipped in ("", SLOW):
        made = ours(arguments.folder, scenes, templates, skipped, arguments.distinct)
        row = ["all" if not skipped else f"without {skipped}", f"{made[0]:,}", f"{made[0] / made[1]:,.0f}"]
        if source:
            theirs = original(arguments.folder, scenes, source, skipped)
            ratio = made[0] / made[1] / (theirs[0] / theirs[1])
            row += [f"{theirs[0]:,}", f"{theirs[0] / theirs[1]:,.1f}", f"{ratio:,.0f}"]
        rows.append(row)
    print_table(["templates", "questions", "a CPU-s", "the original's", "a CPU-s", "times"][: len(rows[0])], rows)


def ours(folder: Path, scenes: Path, templates: Path, skipped: str, distinct: str) -> tuple[int, float]:
    """How many questions we make, and in how many CPU seconds."""
    ingest(SourceSettings(name="clevr", reader="clevr", files={"train": scenes}), None, folder / "tables")
    start = time.process_time()
    used = [template for template in read_templates(templates) if template.name != skipped]
    words = read_words(ROOT / "config/words/clevr.json")
    settings = GenerateSettings(distinct=distinct)
    outputs = folder / "questions.parquet", folder / "dropped.parquet"
    counts = generate(folder / "tables", used, words, settings, 1, "benchmark", *outputs)
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
