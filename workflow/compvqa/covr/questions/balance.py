"""Downsampling and balancing of the generated questions (COVR, section 3.4 and appendix C).

The train questions stay apart. The val questions are dealt, whole texts at a time, into a dev and a test
half. Each of the three parts is then balanced for itself: of each template S questions are taken, first those
whose text has two different answers, then one at a time so that answers, and below them the sizes and depths
of subgraphs, come out as even as they can.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, NonNegativeInt

from compvqa import query, tables
from compvqa.covr.questions.tables import DATASET, QUESTIONS
from compvqa.progress import track
from compvqa.seeds import stable_hash
from compvqa.settings import Settings

PARTS = ("train", "dev", "test")  # of COVR's dataset

Tie = Callable[[int, int], int]  # (answer, times it was taken) -> its place among equals


class BalanceSettings(Settings):
    """How many questions a template keeps in each part: S in appendix C.

    None: its N / T, all questions of the part divided by the number of its templates.
    """

    train_per_template: NonNegativeInt | None = Field(
        16_667, description="train questions kept of each template; null for N / T (COVR: about 16,667)"
    )
    dev_per_template: NonNegativeInt | None = Field(
        558, description="dev questions kept of each template; null for N / T (COVR: about 558)"
    )
    test_per_template: NonNegativeInt | None = Field(
        558, description="test questions kept of each template; null for N / T (COVR: about 558)"
    )
    memory_limit: str = Field("4GB", description="memory that DuckDB may use before it goes to disk")

    def per_template(self, part: str, questions: int, templates: int) -> int:
        """S for ``part``, which holds so many questions of so many templates."""
        given = {
            "train": self.train_per_template,
            "dev": self.dev_per_template,
            "test": self.test_per_template,
        }[part]
        return questions // max(templates, 1) if given is None else given


def balance(questions: Path, out: Path, settings: BalanceSettings, seed: int) -> dict[str, int]:
    """Write the balanced data set: the kept rows of ``questions`` with the column ``part``.

    Counts: questions in and out, and by part and template those in, out and with a text of two answers.
    Memory grows with a few integers a question; texts, programs and scenes are streamed.
    """
    with query.connect(out.parent, settings.memory_limit) as db:
        chosen, counts = _choose(db, questions, settings, seed)
    rows = tables.write(out, DATASET, _kept_rows(questions, chosen))
    total = pq.read_metadata(questions).num_rows
    return {"in": total, "out": rows, "dropped: balanced away": total - rows, **counts}


def _choose(
    db: duckdb.DuckDBPyConnection, questions: Path, settings: BalanceSettings, seed: int
) -> tuple[np.ndarray, dict[str, int]]:
    """For each row of ``questions`` the number of its part, or -1 if it is dropped; and the counts."""
    _load(db, questions, seed)
    _deal_halves(db)
    db.execute(
        """create table marked as
        select row, q.part, template, answer, structure, rank, q.text, p.text is not null as paired
        from parted q left join (
            select part, text from parted group by part, text having min(answer) <> max(answer)
        ) p on q.part = p.part and q.text = p.text"""
    )
    db.execute("drop table parted")
    chosen = np.full(pq.read_metadata(questions).num_rows, -1, dtype=np.int8)
    counts: dict[str, int] = {}
    groups = db.sql(
        """select part, template, name, count(*), count(*) filter (paired) from marked
        join templates on template = code group by all order by part, template"""
    ).fetchall()
    questions_in: Counter[str] = Counter()
    templates_in: Counter[str] = Counter()
    for part, _, _, n, _ in groups:
        questions_in[part] += n
        templates_in[part] += 1
    for part, template, name, n, paired in track(groups, "balancing", unit="template"):
        limit = settings.per_template(PARTS[part], questions_in[part], templates_in[part])
        rows = _choose_template(db, part, template, name, limit if n > limit else None, seed)
        chosen[rows] = part
        label = f"{PARTS[part]} {name}"
        counts |= {f"in: {label}": n, f"out: {label}": len(rows), f"in with two answers: {label}": paired}
    return chosen, counts


def _load(db: duckdb.DuckDBPyConnection, questions: Path, seed: int) -> None:
    """The table ``q``: a row's number, codes of its template, answer and structure, and its stable ranks.

    A text is named by the 128 bits of its keyed digest, which are its rank as well.
    """
    tables.read(questions, QUESTIONS, columns=["split"])  # refuses what is no table of questions
    source = f"read_parquet({_literal(questions)}, file_row_number = true)"
    for kind in ("template", "answer"):
        db.execute(
            f"""create table {kind}s as
            select (row_number() over (order by {kind}) - 1)::uinteger as code, {kind} as name
            from (select distinct {kind} from {source})"""
        )
    db.execute(
        f"""create table q as select
            file_row_number::uinteger as row, split = 'train' as train, t.code as template, a.code as answer,
            (size::integer * 1000 + depth)::integer as structure,
            {_digest(seed, "text", "text")} as text,
            ({_digest(seed, "question", "question_id")} >> 64)::ubigint as rank
        from {source} s join templates t on s.template = t.name join answers a on s.answer = a.name"""
    )


def _digest(seed: int, what: str, column: str) -> str:
    """SQL for a keyed digest of a column: MD5 as a little-endian number, the same on every machine."""
    return f"md5_number(concat('{int(seed)}', chr(31), {_literal(what)}, chr(31), {column}))"


def _literal(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _deal_halves(db: duckdb.DuckDBPyConnection) -> None:
    """The table ``parted``: ``q`` with the number of its part; each text of val is wholly in dev or in test.

    The texts of a template are dealt in the order of their ranks, each to the half that has fewer questions,
    so that the halves differ by no more than the questions of one text.
    """
    db.execute(
        """create table texts as
        select row_number() over (order by min(template), text) - 1 as number, text, count(*) as n,
            (text & 1)::utinyint as coin
        from q where not train group by text"""
    )
    dealt = db.sql("select n, coin from texts order by number").fetchnumpy()
    halves = pa.table({"number": np.arange(len(dealt["n"])), "part": _deal(dealt["n"], dealt["coin"])})
    db.register("halves", halves)
    db.execute(
        """create table parted as
        select q.*, (case when train then 0 else h.part end)::tinyint as part from q left join (
            select text, part from texts join halves using (number)
        ) h on q.text = h.text and not train"""
    )
    db.unregister("halves")
    db.execute("drop table q")
    db.execute("drop table texts")


def _deal(sizes: np.ndarray, coins: np.ndarray) -> np.ndarray:
    """For each text, dealt in turn, 1 (dev) or 2 (test): the half with fewer questions, by coin when even."""
    lead, halves = 0, np.empty(len(sizes), dtype=np.int8)  # by how many questions dev is ahead
    for i, (size, coin) in enumerate(zip(sizes.tolist(), coins.tolist(), strict=True)):
        to_dev = lead < 0 or (lead == 0 and coin == 0)
        halves[i] = 1 if to_dev else 2
        lead += size if to_dev else -size
    return halves


def _choose_template(
    db: duckdb.DuckDBPyConnection, part: int, template: int, name: str, limit: int | None, seed: int
) -> np.ndarray:
    """The row numbers kept of one template in one part; ``limit`` is S, None to keep all."""
    of_group = f"from marked where part = {part} and template = {template}"
    if limit is None:
        return db.sql(f"select row {of_group}").fetchnumpy()["row"]
    columns = "row, answer, structure"
    pairs = db.sql(
        f"""select {columns}, dense_rank() over (order by text) as number {of_group} and paired
        order by text, row"""
    ).fetchnumpy()
    first = np.flatnonzero(whole_texts(pairs["number"], limit))
    room = limit - len(first)
    if room == 0:
        return pairs["row"][first]
    singles = db.sql(
        f"select {columns}, rank {of_group} and not paired order by answer, structure, rank, row"
    ).fetchnumpy()
    names = db.sql("select name from answers order by code").fetchnumpy()["name"]
    further = fill(
        Groups.of(singles["answer"], singles["structure"], singles["rank"]),
        room,
        Counter(pairs["answer"][first].tolist()),
        Counter(pairs["structure"][first].tolist()),
        lambda answer, count: stable_hash(seed, "answer", PARTS[part], name, str(names[answer]), count),
    )
    return np.concatenate([pairs["row"][first], singles["row"][further]])


def whole_texts(texts: np.ndarray, limit: int) -> np.ndarray:
    """Which questions to keep so that no text is torn and at most ``limit`` stay.

    ``texts``: for each question the number of its text; they come in the order of the texts' ranks. A text
    that no longer fits is left out, and later smaller ones may still be taken.
    """
    keep = np.zeros(len(texts), dtype=bool)
    starts = np.flatnonzero(np.r_[True, texts[1:] != texts[:-1]]) if len(texts) else np.empty(0, dtype=int)
    room = limit
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(texts)], strict=False):
        if end - start <= room:
            keep[start:end] = True
            room -= end - start
        if room == 0:
            break
    return keep


@dataclass
class Groups:
    """Questions grouped by answer and then by structure; each group lists positions in the order of rank."""

    groups: dict[int, dict[int, tuple[int, int]]]  # answer -> structure -> (next position, end)
    ranks: np.ndarray

    @staticmethod
    def of(answers: np.ndarray, structures: np.ndarray, ranks: np.ndarray) -> Groups:
        """The groups of questions that come sorted by answer, structure and rank."""
        groups: dict[int, dict[int, tuple[int, int]]] = {}
        if len(answers):
            new = np.r_[True, (answers[1:] != answers[:-1]) | (structures[1:] != structures[:-1])]
            starts = np.flatnonzero(new)
            for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(answers)], strict=True):
                groups.setdefault(int(answers[start]), {})[int(structures[start])] = (start, end)
        return Groups(groups, ranks)

    def take(self, answer: int, taken: Counter) -> tuple[int, int]:
        """Take out a question of that answer whose structure was taken least: its position, its structure."""
        options = self.groups[answer]
        structure = min(options, key=lambda s: (taken[s], self.ranks[options[s][0]], options[s][0]))
        position, end = options[structure]
        if position + 1 < end:
            options[structure] = (position + 1, end)
        else:
            del options[structure]
        return position, structure


def fill(groups: Groups, room: int, answers: Counter, structures: Counter, tie: Tie) -> list[int]:
    """The second half of appendix C: positions of ``room`` questions (or as many as there are), in order.

    Each step takes an answer among those taken least that have questions left, the one with the smallest
    ``tie(answer, times taken)``, and of its questions the one whose structure was taken least, the first by
    rank. ``answers`` and ``structures`` count what was taken before.
    """
    heap = [(answers[a], tie(a, answers[a]), a) for a in groups.groups]
    heapq.heapify(heap)
    result: list[int] = []
    while heap and len(result) < room:
        count, _, answer = heapq.heappop(heap)
        position, structure = groups.take(answer, structures)
        structures[structure] += 1
        result.append(position)
        if groups.groups[answer]:
            heapq.heappush(heap, (count + 1, tie(answer, count + 1), answer))
    return result


def _kept_rows(questions: Path, chosen: np.ndarray) -> pa.RecordBatchReader:
    """The chosen rows with their part, in the order of the file, which is that of the key."""
    batches = query.rebatch(_kept_batches(questions, chosen), DATASET.fields)
    return pa.RecordBatchReader.from_batches(DATASET.fields, batches)


def _kept_batches(questions: Path, chosen: np.ndarray) -> Iterator[pa.RecordBatch]:
    names = QUESTIONS.fields.names
    with pq.ParquetFile(questions) as file:
        start = 0
        for group in track(range(file.num_row_groups), "writing questions", unit="group"):
            parts = chosen[start : start + file.metadata.row_group(group).num_rows]
            start += len(parts)
            rows = np.flatnonzero(parts >= 0)
            if len(rows) == 0:
                continue
            table = file.read_row_group(group, columns=names).select(names).take(pa.array(rows))
            labels = pa.array([PARTS[p] for p in parts[rows].tolist()], type=pa.string())
            nothing = pa.nulls(len(rows), DATASET.fields.field("properties").type)
            table = table.append_column("part", labels).append_column("properties", nothing).cast(DATASET.fields)
            yield from table.combine_chunks().to_batches()
