"""`make faults ROUNDS=200`: many rounds by hand, with a table of what came of them."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from integration.faults.chain import Chain, run_clean
from integration.faults.rounds import play


def main() -> int:
    """Play the rounds; the number of those that ended badly."""
    parser = argparse.ArgumentParser(prog="integration.faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the number of the first round, to repeat one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=1, help="rounds that are played at once")
    parser.add_argument("--clean", type=Path, help="folder of the run without a fault, to be used again")
    given = parser.parse_args()
    outcomes: Counter[tuple[str, str]] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(given.at_once) as pool:
        chain = run_clean(Path(__file__).resolve().parents[3], given.clean or Path(folder) / "clean")
        print(f"seed {given.seed}; {len(chain.jobs)} jobs without a fault: {chain.seconds:.1f} s", flush=True)
        numbers = range(given.first, given.first + given.rounds)
        played = [pool.submit(_played, chain, Path(folder), given.seed, number) for number in numbers]
        for outcome, told in (future.result() for future in as_completed(played)):
            print(told, flush=True)
            outcomes.update([outcome] if outcome else [])
            wrong += outcome is None
    print(f"\n{'fault':34}{'outcome':34}rounds")
    for (fault, outcome), rounds in sorted(outcomes.items()):
        print(f"{fault:34}{outcome:34}{rounds:6}")
    print(f"{sum(outcomes.values())} rounds ended as they should, {wrong} did not")
    return wrong


def _played(chain: Chain, folder: Path, seed: int, number: int) -> tuple[tuple[str, str] | None, str]:
    start = time.monotonic()
    try:
        fault, jobs, outcome = play(chain, folder / f"{number}", seed, number)
    except AssertionError as error:
        return None, f"WRONG: {error}"
    told = f"{number:4} {time.monotonic() - start:6.1f} s  {fault}: {jobs}: {outcome}"
    return (fault, outcome), told


if __name__ == "__main__":
    sys.exit(min(main(), 1))
