"""Runs any number of random histories: ``python -m tests.histories --histories 100000``.

It ends with status 1 after the first seeds that differ; a seed can be run again alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING

from tests.histories.check import differences, differences_of_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHUNK = 200
MAX = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.histories", description=__doc__)
    parser.add_argument("--histories", type=int, default=100_000, help="in memory")
    parser.add_argument("--files", type=int, default=2_000, help="through real files")
    parser.add_argument("--seed", type=int, default=1_000_000, help="the first of both")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    started = time.monotonic()
    with ProcessPoolExecutor(options.processes) as pool:
        found: Iterator[list[str]] = chain(
            pool.map(in_memory, chunks(options.seed, options.histories)),
            pool.map(in_files, chunks(options.seed, options.files)),
        )
        wrong: list[str] = []
        for each in found:
            wrong += each
            if len(wrong) >= MAX:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    sys.stderr.writelines(f"{each}\n" for each in wrong[:MAX])
    sys.stdout.write(
        f"{options.histories:,} histories in memory and {options.files:,} in files from seed "
        f"{options.seed:,}: {len(wrong)} differences, {time.monotonic() - started:,.0f} s\n"
    )
    return 1 if wrong else 0


def chunks(first: int, count: int) -> list[range]:
    return [
        range(start, min(start + CHUNK, first + count))
        for start in range(first, first + count, CHUNK)
    ]


def in_memory(seeds: range) -> list[str]:
    return checked(seeds, differences)


def in_files(seeds: range) -> list[str]:
    return checked(seeds, differences_of_files)


def checked(seeds: range, check: Callable[[int], list[str]]) -> list[str]:
    return [each for seed in seeds for each in check(seed)]


if __name__ == "__main__":
    sys.exit(main())
