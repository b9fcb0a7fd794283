"""``make less``: takes parts of evidence away, one at a time and in pairs."""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
from pathlib import Path

from tests.less.inputs import inputs
from tests.less.trial import contradicted


def main() -> int:
    """Print every contradiction; return 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="", help="only inputs whose name begins with this")
    parser.add_argument("--seed", default=1, type=int, help="which pairs are taken away")
    parser.add_argument("--pairs", default=10, type=int, help="how many of each input")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    tried = wrong = 0
    for each in inputs():
        if not each.name.startswith(asked.name):
            continue
        throw = random.Random(f"{asked.seed} {each.name}")
        with tempfile.TemporaryDirectory() as folder:
            for what, found in contradicted(each, Path(folder), throw, pairs=asked.pairs):
                tried += 1
                wrong += bool(found)
                for line in found:
                    print(f"{each.name} without {what}: {line}", flush=True)  # noqa: T201
    print(f"{tried} pieces of evidence, {wrong} with contradictions")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
