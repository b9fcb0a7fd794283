"""``python -m tests.chosen.selection`` chooses anew what ``make quick`` runs.

It first measures the tests that were never measured, or have changed since.

Each case of a test is worth the changes of the program that it is expected to notice and no chosen
case notices already, per second. A case that reaches few lines checks each of them more closely
than one that reaches many.
"""

from __future__ import annotations

import argparse
import heapq
import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tests.chosen.measure import ROOT, measure, outdated, reach_folder
from tests.chosen.quick import AREAS, SELECTION
from tests.chosen.reach import Reach
from tests.chosen.recorder import function, parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tests.chosen.reach import Part

SECONDS: Final = 120.0
"""Processor seconds under coverage of the chosen cases."""
_NOTICED: Final = 3.0
"""A case that reaches so many lines, squared, is expected to notice any change of them."""
_OWN: Final = 4.0
"""What the first case of each function is worth for what no line shows: compiled code, texts."""
_OVERHEAD: Final = 0.004
"""Seconds that pytest needs for a case that does nothing."""


def chosen(
    reached: NDArray[np.bool_], functions: Sequence[str], costs: Sequence[float], seconds: float
) -> list[int]:
    """The rows of ``reached``, which has a column per line, that are chosen for this time."""
    closeness = np.minimum(_NOTICED / np.sqrt(np.maximum(reached.sum(axis=1), 1)), 0.9)
    unnoticed = np.ones(reached.shape[1], np.float32)
    begun: set[str] = set()
    taken: list[int] = []

    def worth(row: int) -> float:
        own = 0.0 if functions[row] in begun else _OWN
        return (own + float(closeness[row] * unnoticed[reached[row]].sum())) / costs[row]

    queue = [(-worth(row), row) for row in range(len(functions))]
    heapq.heapify(queue)
    while queue:
        _, row = heapq.heappop(queue)
        now = worth(row)
        if queue and now < -queue[0][0]:
            heapq.heappush(queue, (-now, row))
        elif costs[row] <= seconds:
            seconds -= costs[row]
            taken.append(row)
            begun.add(functions[row])
            unnoticed[reached[row]] *= 1 - closeness[row]
    return taken


def selection(reach: Reach, seconds: float) -> dict[str, Any]:
    """What ``quick.json`` holds.

    Those are the seconds of files, and functions of which not all measured cases run.
    """
    parts = [each for each in reach.parts if any(map(of_area, each.cases))]
    cases = [case for part in parts for case in part.cases]
    costs = [cost + _OVERHEAD for part in parts for cost in part.seconds]
    functions = [function(case) for case in cases]
    taken = [cases[row] for row in chosen(_reached(parts), functions, costs, seconds)]
    cost_of = dict(zip(cases, costs, strict=True))
    files: dict[str, float] = defaultdict(float)
    kept: dict[str, list[str]] = defaultdict(list)
    for case in sorted(taken):
        files[case.partition("::")[0]] += cost_of[case]
        kept[function(case)].append(parameters(case))
    measured = Counter(functions)
    return {
        "seconds": {name: round(files[name], 1) for name in sorted(files) if files[name] >= 0.05},
        "shortened": {
            name: kept[name] for name in sorted(measured) if len(kept[name]) < measured[name]
        },
    }


def _reached(parts: Sequence[Part]) -> NDArray[np.bool_]:
    """A row per case of the parts, and a column per line of all modules."""
    widths: dict[str, int] = {}
    for part in parts:
        for path in part.paths:
            widths[path] = max(widths.get(path, 0), part.lines(path).shape[1])
    reached = np.zeros((sum(len(part.cases) for part in parts), sum(widths.values())), bool)
    left = 0
    for path, width in widths.items():
        top = 0
        for part in parts:
            if path in part.paths:
                lines = part.lines(path)[:-1]
                reached[top : top + len(lines), left : left + lines.shape[1]] = lines
            top += len(part.cases)
        left += width
    return reached[:, reached.any(axis=0)]


def of_area(case: str) -> bool:
    """Whether ``make quick`` may run this case."""
    return case.startswith(tuple(f"{area}/" for area in AREAS))


def main() -> None:
    """Choose from what is measured, and write ``quick.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    missing = [each for each in outdated(ROOT, reach_folder()) if of_area(f"{each}/")]
    measure(ROOT, missing, reach_folder())
    found = selection(Reach(reach_folder(), ROOT), options.seconds)
    lines = [
        f'"{key}": {{\n'
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in of.items())
        + "\n}"
        for key, of in found.items()
    ]
    SELECTION.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
