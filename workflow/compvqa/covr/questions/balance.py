"""Downsampling and balancing of the generated questions (COVR, section 3.4 and appendix C).

The train questions stay apart. The val questions are dealt, whole texts at a time, into a dev and a test
half. Each of the three parts is then balanced for itself: of each template S questions are taken, so that answers,
and below them the sizes and depths of subgraphs and the sources of their scenes, come out as even as they can. A share
of them are taken two at a time: two examples of one text with different answers, as the paper's are.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, NonNegativeInt

from compvqa import query, tables
from compvqa.covr.questions.surest import UNITS, cut
from compvqa.covr.questions.tables import DATASET, QUESTIONS, RISK, RISKS
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
    paired_share: float = Field(
        0.75,
        ge=0,
        le=1,
        description="share of a template's questions that come as two of one text with different answers, as far as "
        "there are such (COVR: 75.3 % of train questions)",
    )
    target_risk: float | None = Field(
        None,
        ge=0,
        le=1,
        description="expected share of invalid questions that each template may have in each part, such as 0.02: the "
        "riskiest are dropped before, of all answers alike; needs presence.method learned and aside; null: none is "
        "dropped, and no risk is told",
    )
    least_share: float = Field(
        0.5, ge=0, le=1, description="share of a template's questions that is left for that, at least"
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


def balance(
    questions: Path, out: Path, settings: BalanceSettings, seed: int, risks: Sequence[Path] = ()
) -> dict[str, int]:
    """Write the balanced data set: the kept rows of ``questions`` with the column ``part`` and their risks.

    ``risks`` are tables of their risks (RISK); without any, none is known and none is too risky. Counts: questions in
    and out, and by part and template those in, too risky, out and with a text of two answers.
    Memory grows with a few integers a question; texts, programs and scenes are streamed.
    """
    with query.connect(out.parent, settings.memory_limit) as db:
        chosen, counts = _choose(db, questions, risks, settings, seed)
        known = _risks_of(db, questions, risks, chosen)
    rows = tables.write(out, DATASET, _kept_rows(questions, known, chosen))
    total = pq.read_metadata(questions).num_rows
    return {"in": total, "out": rows, "dropped: balanced away": total - rows, **counts}


def _choose(
    db: duckdb.DuckDBPyConnection, questions: Path, risks: Sequence[Path], settings: BalanceSettings, seed: int
) -> tuple[np.ndarray, dict[str, int]]:
    """For each row of ``questions`` the number of its part, or -1 if it is dropped; and the counts."""
    _load(db, questions, risks, seed)
    _deal_halves(db)
    risky = cut(db, settings.target_risk, settings.least_share) if risks and settings.target_risk is not None else {}
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
        rows = _choose_template(db, part, template, name, limit if n > limit else None, settings.paired_share, seed)
        chosen[rows] = part
        label = f"{PARTS[part]} {name}"
        before = risky.get((part, template), n)
        counts |= {f"in: {label}": before, f"out: {label}": len(rows), f"in with two answers: {label}": paired}
    return chosen, counts


def _load(db: duckdb.DuckDBPyConnection, questions: Path, risks: Sequence[Path], seed: int) -> None:
    """The table ``q``: a row's number, codes of its template, answer and structure, its risk, and its stable ranks.

    A text is named by the 128 bits of its keyed digest, which are its rank as well.
    """
    tables.read(questions, QUESTIONS, columns=["split"])  # refuses what is no table of questions
    source = f"read_parquet({_literal(questions)}, file_row_number = true)"
    _view_risks(db, risks)
    for kind in ("template", "answer"):
        db.execute(
            f"""create table {kind}s as
            select (row_number() over (order by {kind}) - 1)::uinteger as code, {kind} as name
            from (select distinct {kind} from {source})"""
        )
    db.execute(
        f"""create table sources as
        select (row_number() over (order by name) - 1)::uinteger as code, name
        from (select distinct {_source()} as name from {source})"""
    )
    db.execute(
        f"""create table q as select
            file_row_number::uinteger as row, split = 'train' as train, t.code as template, a.code as answer,
            (coalesce(o.code * 1000000 + size::integer * 1000 + depth, 0))::integer as structure,
            {_digest(seed, "text", "text")} as text, round(r.risk * {UNITS})::integer as risk,
            ({_digest(seed, "question", "s.question_id")} >> 64)::ubigint as rank
        from {source} s join templates t on s.template = t.name join answers a on s.answer = a.name
            left join sources o on {_source()} = o.name left join risks r using (question_id, seed)"""
    )


def _view_risks(db: duckdb.DuckDBPyConnection, risks: Sequence[Path]) -> None:
    """The view ``risks``: the rows of all these tables, as they are asked for by question and seed."""
    for path in risks:
        tables.check(path, RISK)
    files = ", ".join(map(_literal, risks))
    nothing = ", ".join(f"null as {name}" for name in RISK.fields.names)
    db.execute(f"create view risks as {f'from read_parquet([{files}])' if risks else f'select {nothing}'}")


def _risks_of(
    db: duckdb.DuckDBPyConnection, questions: Path, risks: Sequence[Path], chosen: np.ndarray
) -> pa.Table | None:
    """The risks of the chosen rows, in the order of the file; None where none is known."""
    if not risks:
        return None
    db.register("chosen", pa.table({"place": np.flatnonzero(chosen >= 0)}))
    return db.sql(
        f"""select {", ".join(f"r.{name}" for name in RISKS.names)}
        from chosen join read_parquet({_literal(questions)}, file_row_number = true) s on s.file_row_number = place
            left join risks r using (question_id, seed)
        order by place"""
    ).to_arrow_table()


def _source() -> str:
    """SQL for the source of a question's first scene: what its id begins with."""
    return "split_part(start_scene, ':', 1)"


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
    db: duckdb.DuckDBPyConnection,
    part: int,
    template: int,
    name: str,
    limit: int | None,
    paired_share: float,
    seed: int,
) -> np.ndarray:
    """The row numbers kept of one template in one part; ``limit`` is S, None to keep all."""
    of_group = f"from marked where part = {part} and template = {template}"
    if limit is None:
        return db.sql(f"select row {of_group}").fetchnumpy()["row"]
    found = db.sql(
        f"""select row, answer, structure, rank, paired, dense_rank() over (order by text) as number {of_group}
        order by answer, structure, paired, rank, row"""
    ).fetchnumpy()
    names = db.sql("select name from answers order by code").fetchnumpy()["name"]

    def tie(answer: int, count: int) -> int:
        return stable_hash(seed, "answer", PARTS[part], name, str(names[answer]), count)

    answers: Counter = Counter()
    structures: Counter = Counter()
    paired = np.flatnonzero(found["paired"])
    number, answer, structure, rank = (found[column][paired] for column in ("number", "answer", "structure", "rank"))
    room = int(limit * paired_share)
    taken = paired[pairs(number, answer, structure, rank, room, answers, structures, tie)]
    order = np.empty(len(found["row"]), dtype=int)  # in equals, those without a second answer come first
    order[np.lexsort((found["row"], found["rank"], found["paired"]))] = np.arange(len(order))
    rest = np.setdiff1d(np.arange(len(order)), taken)
    groups = Groups.of(found["answer"][rest], found["structure"][rest], order[rest])
    further = rest[fill(groups, limit - len(taken), answers, structures, tie)]
    return np.concatenate([found["row"][taken], found["row"][further]])


def pairs(
    texts: np.ndarray,
    answers: np.ndarray,
    structures: np.ndarray,
    ranks: np.ndarray,
    room: int,
    answers_taken: Counter,
    structures_taken: Counter,
    tie: Tie,
) -> np.ndarray:
    """Appendix C's rule for answers and structures, two questions of one text at a time: positions of at most ``room``.

    Each step takes an answer as :func:`fill` does, of its questions whose text was not taken the one whose structure
    was taken least, and of the same text one with another answer, that which was taken least. The counters go on.
    """
    of_text: dict[int, list[int]] = {}
    options: dict[int, dict[int, list[int]]] = {}
    for position in np.lexsort((ranks, structures, answers))[
        ::-1
    ].tolist():  # the first by rank is the last of its list
        of_text.setdefault(int(texts[position]), []).append(position)
        options.setdefault(int(answers[position]), {}).setdefault(int(structures[position]), []).append(position)
    used: set[int] = set()
    heap = [(answers_taken[answer], tie(answer, answers_taken[answer]), answer) for answer in options]
    heapq.heapify(heap)
    result: list[int] = []
    while heap and len(result) + 2 <= room:
        count, _, answer = heapq.heappop(heap)
        if count < answers_taken[answer]:  # it was taken as a second one since
            heapq.heappush(heap, (answers_taken[answer], tie(answer, answers_taken[answer]), answer))
            continue
        first = _of_an_unused_text(options[answer], texts, ranks, used, structures_taken)
        if first is None:
            continue
        used.add(int(texts[first]))
        others = [p for p in of_text[int(texts[first])] if answers[p] != answer]
        if others:
            second = min(others, key=lambda p: (answers_taken[int(answers[p])], tie(int(answers[p]), 0), ranks[p], p))
            answers_taken.update([answer, int(answers[second])])
            structures_taken.update([int(structures[first]), int(structures[second])])
            result += [first, second]
        heapq.heappush(heap, (answers_taken[answer], tie(answer, answers_taken[answer]), answer))
    return np.array(result, dtype=int)


def _of_an_unused_text(
    options: dict[int, list[int]], texts: np.ndarray, ranks: np.ndarray, used: set[int], structures_taken: Counter
) -> int | None:
    """The next question, of the structure that was taken least, whose text is not used yet; used ones are left out."""
    for structure in list(options):
        while options[structure] and int(texts[options[structure][-1]]) in used:
            options[structure].pop()
        if not options[structure]:
            del options[structure]
    if not options:
        return None
    return options[min(options, key=lambda s: (structures_taken[s], ranks[options[s][-1]], options[s][-1]))].pop()


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


def _kept_rows(questions: Path, risks: pa.Table | None, chosen: np.ndarray) -> pa.RecordBatchReader:
    """The chosen rows with their part and ``risks``, in the order of the file, which is that of the key."""
    batches = query.rebatch(_kept_batches(questions, risks, chosen), DATASET.fields)
    return pa.RecordBatchReader.from_batches(DATASET.fields, batches)


def _kept_batches(questions: Path, risks: pa.Table | None, chosen: np.ndarray) -> Iterator[pa.RecordBatch]:
    names, start, kept = QUESTIONS.fields.names, 0, 0
    with pq.ParquetFile(questions) as file:
        for group in track(range(file.num_row_groups), "writing questions", unit="group"):
            parts = chosen[start : start + file.metadata.row_group(group).num_rows]
            start += len(parts)
            rows = np.flatnonzero(parts >= 0)
            if len(rows) == 0:
                continue
            table = file.read_row_group(group, columns=names).select(names).take(pa.array(rows))
            labels = pa.array([PARTS[p] for p in parts[rows].tolist()], type=pa.string())
            nothing = pa.nulls(len(rows), DATASET.fields.field("properties").type)
            table = table.append_column("part", labels).append_column("properties", nothing)
            of = None if risks is None else risks.slice(kept, len(rows))
            kept += len(rows)
            for field in RISKS:
                table = table.append_column(field, pa.nulls(len(rows), field.type) if of is None else of[field.name])
            table = table.cast(DATASET.fields)
            yield from table.combine_chunks().to_batches()
