"""The costs of generating questions and of balancing 13 million, on what benchmarks/graph.py has made.

    python benchmarks/questions.py FOLDER/10000 --rows 13000000

Questions are generated of each shard's related images. For balancing they are repeated with new ids, and with texts
that differ from copy to copy, until there are --rows of them; 0 leaves the balancing out.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import NOTHING, ROOT, Cost, options_of, print_table, stage

BATCH = 100_000  # rows written at a time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a size's folder in the folder of benchmarks/graph.py")
    parser.add_argument("--rows", type=int, default=13_000_000, help="questions to balance")
    options = parser.parse_args()
    questions = options.folder / "questions.parquet"
    rows = [generation(options.folder, questions)]
    if options.rows:
        rows.append(balancing(options.folder, questions, options.rows))
    header = ["stage", "questions in", "out", "CPU s", "questions a CPU s", "peak MB", "written MB", "target"]
    print_table(header, rows)


def generation(folder: Path, out: Path) -> list[str]:
    """Generate the questions of all shards and put them together."""
    cost, _, made = generate(folder)
    gather = ["gather-questions", "--shards", folder, "--questions", out, "--dropped", folder / "dropped.parquet"]
    stage(gather, [out], folder / "log.txt")
    return row("questions", None, made, made, cost, "2,000 questions a CPU s")


def generate(folder: Path, shards: int | None = None, settings: str = "{}") -> tuple[Cost, Cost, int]:
    """Generate the questions of the first ``shards`` of the tables in ``folder``, or of all, without the filter of
    images; gives what it cost, what the stage ``others`` before it did, and their number."""
    total, before, log, made = NOTHING, NOTHING, folder / "log.txt", 0
    shared = {"scenes": folder / "scenes", "lexicon": folder / "lexicon.json"}
    shared["templates"] = ROOT / "config/templates/covr"
    for related in sorted((folder / "related").glob("*.parquet"))[:shards]:
        inputs = shared | {name: folder / name / related.name for name in ("seeds", "related")}
        others = folder / "others" / related.name
        before += stage(["others", others, *options_of(inputs), "--questions", settings], [others], log)
        outputs = {"questions": folder / "shards" / related.name, "dropped": folder / "dropped" / related.name}
        arguments = options_of(inputs | outputs | {"others": others})
        total += stage(["questions", *arguments, "--config", settings], list(outputs.values()), log)
        made += rows_of([outputs["questions"]])
    return total, before, made


def balancing(folder: Path, questions: Path, rows: int) -> list[str]:
    """Balance so many rows, made of ``questions``; the sizes of the parts are COVR's."""
    many, out = folder / "many.parquet", folder / "dataset.parquet"
    # a process of its own: Linux counts a parent's memory to a stage that it starts
    writer = multiprocessing.get_context("spawn").Process(target=repeat, args=(questions, many, rows))
    writer.start()
    writer.join()
    if writer.exitcode:
        sys.exit(f"{many} could not be written.")
    cost = stage(["balance", out, "--questions", many], [out], folder / "log.txt")
    many.unlink()
    counts = json.loads(out.with_name(f"{out.name}.prov.json").read_text(encoding="utf-8"))["counts"]
    return row("balance", rows, counts["out"], rows, cost, "2 minutes, 6 GB at 13 M")


def row(name: str, taken: int | None, made: int, per: int, cost: Cost, target: str) -> list[str]:
    numbers = [f"{taken:,}" if taken is not None else "", f"{made:,}", f"{cost.cpu:.1f}", f"{per / cost.cpu:,.0f}"]
    return [name, *numbers, f"{cost.memory:.0f}", f"{cost.written / 1e6:.1f}", target]


def rows_of(paths: list[Path]) -> int:
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(path).num_rows for path in paths)


def repeat(questions: Path, out: Path, rows: int) -> None:
    """Write ``rows`` questions: copies of those in ``questions``, streamed."""
    import pyarrow as pa

    from compvqa import tables
    from compvqa.covr.questions.tables import QUESTIONS

    if not rows_of([questions]):
        sys.exit(f"{questions} holds no question: give a larger size's folder.")
    batches = _copies(tables.read(questions, QUESTIONS), rows)
    tables.write(out, QUESTIONS, pa.RecordBatchReader.from_batches(QUESTIONS.fields, batches))


def _copies(table, rows: int) -> Iterator:
    import pyarrow as pa
    import pyarrow.compute as pc

    done = copy = 0
    while done < rows:
        for batch in table.slice(0, rows - done).to_batches(BATCH):
            ids = pa.array([f"{number:032x}" for number in range(done, done + batch.num_rows)])
            texts = pc.binary_join_element_wise(batch["text"], f"in world {copy}", " ")
            done += batch.num_rows
            names = batch.schema.names
            batch = batch.set_column(names.index("question_id"), "question_id", ids)
            yield batch.set_column(names.index("text"), "text", texts)
        copy += 1


if __name__ == "__main__":
    main()
