"""What people say of pairs of names: read from their files, checked, and put together in one table (App. A).

The files are CSV, as annotators fill them, or the lists of pairs that COVR released (YAML).
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb
import pyarrow as pa
from pydantic import Field

from compvqa import tables
from compvqa.covr.filters.words.pairs import DIRECTED, Mined, Pair, PairSettings, most_useful, opened, vocabulary
from compvqa.errors import InputError
from compvqa.files import read_text, read_yaml
from compvqa.progress import track
from compvqa.scenes.lexicon import KINDS, Lexicon
from compvqa.scenes.raw import one_name
from compvqa.settings import Settings
from compvqa.sheets import as_text, meant
from compvqa.tables import Schema

EXCLUSIVE, OVERLAPPING = "exclusive", "overlapping"
LABELS = Schema(
    "labels",
    pa.schema(
        [
            ("kind", pa.string()),  # noun, attribute or relation
            ("x", pa.string()),  # of nouns and attributes, the first of the two by alphabet
            ("y", pa.string()),
            ("label", pa.string()),  # exclusive or overlapping
            ("annotator", pa.string()),  # who said so, by alphabet; "rule:…": nobody, it was derived
        ]
    ),
    key=("kind", "x", "y"),
)
COLUMNS = ("kind", "x", "y", "label", "annotator")
EXPORTED = (*COLUMNS, "contexts")
# The lists of COVR's released adversarial_groups.yaml that people labelled; its others hold a model's predictions.
RELEASED = {
    "contradicting_nouns": ("noun", EXCLUSIVE),
    "contradicting_attributes": ("attribute", EXCLUSIVE),
    "disjoint_relations": ("relation", EXCLUSIVE),
    "entailing_nouns": ("noun", OVERLAPPING),
    "entailing_attributes": ("attribute", OVERLAPPING),
    "not_disjoint_relations": ("relation", OVERLAPPING),
}
PREDICTED = "_predicted_"
RULE = "rule:"
LEXICON = "lexicon"
ALL = 2**31  # more pairs than there are
ROUNDING = 1e-9
SURE = 0.2  # m up to this, or from 1 less this, is what a rule of the lexicon says for sure


class LabelSettings(Settings):
    """Which pairs of names are labelled, and by whom."""

    files: tuple[Path, ...] = Field(
        (),
        description="labelled pairs: CSV files, as word-pairs exports them, or the YAML file that COVR released; none: "
        "the lexicon labels pairs",
    )
    contradictions: Literal["refuse", "majority"] = Field(
        "refuse", description="what becomes of pairs that annotators disagree on; a tie is dropped"
    )
    least_share: float = Field(
        0.2,
        ge=0,
        le=0.5,
        description="the rarer label's share of a kind's pairs, at least, where people labelled them: what lacks is "
        "derived from the lexicon, teaches, and is never scored; 0: nothing is derived",
    )
    most_per_kind: int = Field(400, ge=2, description="pairs that the lexicon labels, of each kind")
    mining: PairSettings = Field(PairSettings(), description="where these pairs are looked for")


@dataclass(frozen=True)
class PairLabel:
    """One annotator's label of a pair, and where it stands."""

    kind: str
    x: str
    y: str
    label: str
    annotator: str
    where: str

    @property
    def pair(self) -> Pair:
        """What is labelled: the names in alphabetic order where the kind is symmetric."""
        return canonical(self.kind, self.x, self.y)


def canonical(kind: str, x: str, y: str) -> Pair:
    """The pair as it is stored: by alphabet for nouns and attributes, as it is for relations."""
    return (kind, x, y) if DIRECTED[kind] else (kind, min(x, y), max(x, y))


def gather(scenes: Path, lexicon: Path, out: Path, settings: LabelSettings) -> dict[str, int]:
    """Write the table of labelled pairs: those of the files, or, where none is given, pairs labelled by the lexicon.

    ``scenes`` is the folder of scene tables. Names that they do not have are counted, not refused: what holds of them
    teaches the model too. Where people's labels of a kind are nearly all the same, pairs of the other label are derived
    (:class:`LabelSettings`). Gives the labels of each kind, what was not used and why, and relations that were labelled
    in one direction only.
    """
    with opened(scenes, out.parent, settings.mining) as connection:
        if settings.files:
            found, unlabelled = read(settings.files)
            counts = {"in": len(found), "not labelled yet": unlabelled}
        else:
            found = list(_by_lexicon(connection, Lexicon.load(lexicon), settings))
            counts = {"in": len(found)}
        rows, ties = agree(found, settings.contradictions)
        if settings.files:
            derived = [
                one for kind in KINDS for one in _derived(connection, kind, rows, Lexicon.load(lexicon), settings)
            ]
            rows = agree([*found, *derived], settings.contradictions)[0]
            counts["derived from the lexicon"] = len(derived)
        known = {kind: set(vocabulary(connection, kind)) for kind in KINDS}
    counts["dropped: as many say one thing as the other"] = ties
    per_kind = Counter(row["kind"] for row in rows)
    counts |= {f"{kind} pairs": per_kind[kind] for kind in KINDS}
    unknown = {(row["kind"], row[side]) for row in rows for side in "xy" if row[side] not in known[row["kind"]]}
    counts["names that no scene has"] = len(unknown)
    directed = {(row["x"], row["y"]) for row in rows if row["kind"] == "relation"}
    counts["relations labelled one way only"] = sum((y, x) not in directed for x, y in directed)
    return counts | {"out": tables.write(out, LABELS, rows)}


def read(files: Iterable[Path]) -> tuple[list[PairLabel], int]:
    """The labels in files, and the number of pairs that have no label yet.

    A CSV file has the columns kind, x, y, label, annotator (and any others); or x, y, label, when its name tells the
    kind (``nouns.csv``) and the annotator. A YAML file has COVR's lists of pairs (:data:`RELEASED`).
    :class:`InputError` names the first line or pair that is wrong.
    """
    found, unlabelled = [], 0
    for path in map(Path, files):
        for given in _in_lists(path) if path.suffix.lower() in (".yaml", ".yml") else _in_file(path):
            if given.label:
                found.append(given)
            else:
                unlabelled += 1
    return found, unlabelled


def _in_lists(path: Path) -> Iterator[PairLabel]:
    """The labels in COVR's released lists: a pair is ``x,y``, and nobody's name stands there."""
    lists = read_yaml(path, "give COVR's adversarial_groups.yaml, or a CSV file of pairs")
    unknown = sorted(str(key) for key in lists if key not in RELEASED and PREDICTED not in str(key))
    if unknown or not lists.keys() & RELEASED:
        wrong = f"has the unknown list {unknown[0]}" if unknown else "has no list of labelled pairs"
        raise InputError(f"{path} {wrong}: give COVR's adversarial_groups.yaml, with {', '.join(RELEASED)}.")
    for key, (kind, label) in RELEASED.items():
        pairs = lists.get(key, [])
        if not isinstance(pairs, list):
            raise InputError(f"{path}: {key} is no list; give one of pairs, each as x,y.")
        for number, pair in enumerate(pairs, 1):
            where = f"{path}, pair {number} of {key}"
            names = pair.split(",") if isinstance(pair, str) else []
            if len(names) != 2:
                raise InputError(f"{where}: {pair!r} is no pair of names; write two with a comma between.")
            x, y = _names(names[0], names[1], where)
            yield PairLabel(kind, x, y, label, path.stem, where)


def _names(x: str, y: str, where: str) -> tuple[str, str]:
    """The two names of a pair, as scenes have them."""
    x, y = one_name(x), one_name(y)
    if not x or not y or x == y:
        raise InputError(f"{where}: a pair has two different names; correct {x!r} and {y!r}.")
    return x, y


def _in_file(path: Path) -> Iterator[PairLabel]:
    for number, row in read_rows(path, ("x", "y", "label")):
        where = f"{path}, line {number}"
        kind = row.get("kind") or path.stem.removesuffix("s")
        if kind not in KINDS:
            raise InputError(f"{where}: {kind!r} is no kind of name; use one of {', '.join(KINDS)}.")
        (x, y), label = _names(row["x"], row["y"], where), row["label"].strip()
        if label not in ("", EXCLUSIVE, OVERLAPPING):
            raise InputError(f"{where}: the label {label!r} is unknown; use {EXCLUSIVE} or {OVERLAPPING}.")
        annotator = (row.get("annotator") or "").strip() or path.stem
        yield PairLabel(kind, x, y, label, annotator, where)


def read_rows(path: Path, needed: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with a header that has the columns ``needed``, each with the line where it ends."""
    text = read_text(path, "give a CSV file of pairs")
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="", strict=True)
    try:
        missing = [column for column in needed if column not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"{path} lacks the column {missing[0]}: its first line should be {','.join(COLUMNS)}.")
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num + 1}: this is no CSV ({error}); correct its quotes.") from None
    for number, row in rows:
        if None in row:
            raise InputError(f"{path}, line {number}: too many fields; put names with a comma in quotes.")
    return [(number, {column: meant(cell) for column, cell in row.items()}) for number, row in rows]


def agree(found: Iterable[PairLabel], contradictions: str) -> tuple[list[dict], int]:
    """One row a pair as the labels table has it, and the number of pairs dropped because of a tie.

    A person's label goes over a derived one. Where people disagree (or a symmetric pair is labelled differently in
    its two directions), the first such pair is an :class:`InputError`, or the majority of people counts, each once.
    """
    by_pair: dict[Pair, list[PairLabel]] = defaultdict(list)
    for given in found:
        by_pair[given.pair].append(given)
    rows, ties = [], 0
    for pair, all_of in sorted(by_pair.items()):
        said = [one for one in all_of if not one.annotator.startswith(RULE)] or all_of
        voices = {(one.annotator or one.where, one.label) for one in said}
        (label, most), *others = Counter(label for _, label in sorted(voices)).most_common()
        if others and contradictions == "refuse":
            raise InputError(_contradiction(said))
        if others and others[0][1] == most:
            ties += 1
            continue
        people = ", ".join(sorted({one.annotator for one in said if one.label == label}))
        rows.append(dict(zip(COLUMNS, (*pair, label, people), strict=True)))
    return rows, ties


def _contradiction(said: Sequence[PairLabel]) -> str:
    one = said[0]
    other = next(given for given in said if given.label != one.label)
    return (
        f"{one.where} calls the {one.kind}s {one.x!r} and {one.y!r} {one.label}, and {other.where} calls them"
        f" {other.label}: correct one of the two, or set word_labels.contradictions to majority."
    )


def _by_lexicon(
    connection: duckdb.DuckDBPyConnection, lexicon: Lexicon, settings: LabelSettings
) -> Iterator[PairLabel]:
    """The most useful pairs of each kind, as the lexicon labels them."""
    for kind in KINDS:
        for mined in most_useful(connection, kind, settings.mining, settings.most_per_kind, set()):
            for x, y in _directions(mined):
                label = EXCLUSIVE if lexicon.exclusive(kind, x, y) > 0.5 else OVERLAPPING
                yield PairLabel(kind, x, y, label, LEXICON, "the lexicon")


def _derived(
    connection: duckdb.DuckDBPyConnection, kind: str, rows: list[dict], lexicon: Lexicon, settings: LabelSettings
) -> list[PairLabel]:
    """The most useful pairs of a kind that nobody labelled and that the lexicon surely gives the rarer label: so many
    that this has its ``least_share`` of all."""
    labels = Counter({EXCLUSIVE: 0, OVERLAPPING: 0})
    labels.update(row["label"] for row in rows if row["kind"] == kind)
    rarer = min(labels, key=lambda label: labels[label])
    share = settings.least_share
    lacking = math.ceil((share * labels.total() - labels[rarer]) / (1 - share) - ROUNDING) if labels.total() else 0
    if lacking <= 0:
        return []
    done = {(kind, min(row["x"], row["y"]), max(row["x"], row["y"])) for row in rows if row["kind"] == kind}
    found: list[PairLabel] = []
    for mined in most_useful(connection, kind, settings.mining, ALL, done):
        for x, y in _directions(mined):
            m = lexicon.exclusive(kind, x, y)
            sure = m >= 1 - SURE if rarer == EXCLUSIVE else m <= SURE
            if sure and lexicon.knows(kind, x) and lexicon.knows(kind, y):
                found.append(PairLabel(kind, x, y, rarer, f"{RULE}{LEXICON}", "the lexicon"))
        if len(found) >= lacking:
            break
    return found[:lacking]


def _directions(mined: Mined) -> list[tuple[str, str]]:
    both = [(mined.x, mined.y), (mined.y, mined.x)]
    return both if DIRECTED[mined.kind] else both[:1]


def export(
    scenes: Path,
    out: Path,
    settings: PairSettings,
    most: int,
    labelled: Sequence[Path] = (),
    kinds: Sequence[str] = KINDS,
) -> dict[str, int]:
    """Write a CSV file to annotate: the ``most`` most useful pairs of each kind that the files ``labelled`` lack.

    Relations are asked for in both directions, one after the other. ``label`` and ``annotator`` are empty; ``contexts``
    holds some of the contexts that both names are seen in.
    """
    done = {(one.kind, min(one.x, one.y), max(one.x, one.y)) for one in read(labelled)[0]}
    rows: list[dict[str, str]] = []
    counts = {"labelled already": len(done)}
    with opened(scenes, out.parent, settings) as connection:
        for kind in track(kinds, "pairs to annotate", unit="kind"):
            mined = most_useful(connection, kind, settings, most, done)
            counts[f"{kind} pairs"] = len(mined)
            for pair in mined:
                shown = "; ".join(pair.examples)
                rows += [dict(zip(EXPORTED, (kind, x, y, "", "", shown), strict=True)) for x, y in _directions(pair)]
    write_rows(out, EXPORTED, rows)
    return counts | {"out": len(rows)}


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[dict[str, str]]) -> None:
    """Write a CSV file with a header, whole or not at all; :func:`read_rows` gives the same rows."""
    with tables.replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({column: as_text(cell) for column, cell in row.items()} for row in rows)
