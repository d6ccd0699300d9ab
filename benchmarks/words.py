"""The word filter on pairs that people labelled, cross-validated over pairs and over words, beside the baselines.

    python benchmarks/words.py ../shared/data/overlap/*.csv --ontology ../shared/data/vocab --config my.yaml

``--config`` holds settings of the section word_filter (JSON or a YAML file). Every part of the pairs is held out once;
over words, every part of the words, and scored are the pairs whose words both are in it. Each training and its scores
are those of the stages. Printed are accuracy with its interval, balanced accuracy, and how often the word filter is
right where a baseline is wrong and the other way round, with the probability of such a difference if they were equal.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from measure import ROOT
from scipy.stats import binomtest

sys.path.insert(0, str(ROOT / "workflow"))

from compvqa import tables  # noqa: E402  (found by the line above)
from compvqa.covr.filters.words.labels import EXCLUSIVE, LABELS, agree, read
from compvqa.covr.filters.words.model import pretrained
from compvqa.covr.filters.words.scores import measured, verdicts
from compvqa.covr.filters.words.settings import WordFilterSettings
from compvqa.covr.filters.words.training import HELD_OUT, SCORED, TRAIN, train
from compvqa.run import parse_settings  # noqa: E402
from compvqa.scenes.lexicon import KINDS, Lexicon


def main() -> None:
    """Run the trainings and print a line a method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="CSV files of labelled pairs")
    parser.add_argument("--ontology", type=Path, required=True, help="folder of GQA's ontology files")
    parser.add_argument("--config", help="settings of word_filter: JSON, or the path of a YAML file")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; repeat for more")
    parser.add_argument("--hold-out", choices=("pairs", "words"), action="append", help="only this; default: both")
    parser.add_argument("--folds", type=int, help="only the first so many parts")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    settings = parse_settings(WordFilterSettings, given.config, "word_filter")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lexicon = folder / "lexicon.json"
        Lexicon.from_gqa(given.ontology).dump(lexicon)
        tables.write(folder / "labels.parquet", LABELS, agree(read(given.files)[0], "refuse")[0])
        for kind in given.kind or KINDS:
            for protocol in given.hold_out or ("pairs", "words"):
                folds = settings.word_folds if protocol == "words" else settings.pair_folds
                _cross_validated(
                    folder, lexicon, kind, protocol, min(folds, given.folds or folds), settings, given.seed
                )


def _cross_validated(
    folder: Path, lexicon: Path, kind: str, protocol: str, folds: int, settings: WordFilterSettings, seed: int
) -> None:
    said: dict[str, list[np.ndarray]] = defaultdict(list)
    truth, trained, start = [], [], time.process_time()
    for fold in range(folds):
        train(folder / "labels.parquet", lexicon, kind, protocol, folder / "run", settings, seed, fold)
        rows = tables.read(folder / "run/scored.parquet", SCORED).to_pylist()
        learnt, held_out = ([row for row in rows if row["part"] == part] for part in (TRAIN, HELD_OUT))
        for method, verdict in verdicts(learnt, held_out, Lexicon.load(lexicon), pretrained(settings.encoder)[0]):
            said[method].append(verdict)
        truth.append(np.array([row["label"] == EXCLUSIVE for row in held_out]))
        trained.append(len(learnt))
    right = {method: np.concatenate(parts) == np.concatenate(truth) for method, parts in said.items()}
    seconds = time.process_time() - start
    print(f"{kind}s, {protocol} held out, trained on {np.mean(trained):.0f} pairs, {seconds:.0f} CPU-s", flush=True)
    for method, parts in said.items():
        found = measured(np.concatenate(parts), np.concatenate(truth))
        line = f"  {method:9} {100 * found['accuracy']:5.1f} % ({100 * found['low']:.1f} – {100 * found['high']:.1f})"
        line += f" of {found['n']}, balanced {100 * (found['balanced'] or np.nan):.1f} %"
        won, lost = int((right["learned"] & ~right[method]).sum()), int((right[method] & ~right["learned"]).sum())
        if won + lost:
            line += f"; learned won {won}, lost {lost}, p = {binomtest(won, won + lost).pvalue:.2g}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
