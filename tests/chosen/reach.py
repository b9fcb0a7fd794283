"""Which tests reach which line, as ``tests.chosen.measure`` found it, for the sources of today."""

from __future__ import annotations

import difflib
import json
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tests.chosen.recorder import function

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


class Part:
    """The cases of one folder of tests: their seconds, and the lines that each reaches.

    ``seconds`` are processor seconds under coverage. ``cases`` stand for ``counts[function]`` of
    each function, see ``recorder.CASES``.
    """

    def __init__(self, file: Path) -> None:
        self._arrays = np.load(file)
        self._sources = file.parent / "sources"
        meta: dict[str, Any] = json.loads(self._arrays[""].tobytes())
        self.time: Final[float] = meta["time"]
        self.cases: Final[list[str]] = meta["cases"]
        self.seconds: Final[list[float]] = meta["seconds"]
        self.counts: Final[dict[str, int]] = meta["counts"]
        self.tests: Final[dict[str, str]] = meta["tests"]
        """The digests of the test files."""
        self.sources: Final[dict[str, str]] = meta["sources"]
        """The digests of the modules."""

    @cached_property
    def paths(self) -> list[str]:
        """The modules that these tests reach."""
        return [name for name in self._arrays.files if name]

    def lines(self, path: str) -> NDArray[np.bool_]:
        """A row per case, one more for what imports reach; a column per line, from 0."""
        bits = self._arrays[path]
        return np.unpackbits(bits, axis=1, bitorder="little").astype(bool)

    def source(self, path: str) -> str:
        """The module as it was measured; empty if it did not exist."""
        digest = self.sources.get(path)
        return "" if digest is None else (self._sources / digest).read_text()

    def reaching(self, path: str, lines: Iterable[int]) -> set[str]:
        """The cases that reach any of these lines of a module, as it was measured.

        A line inside a statement counts as its first line. A line that runs when the module is
        imported counts as reached by all cases that reach the module.
        """
        reached = self.lines(path) if path in self.paths else np.zeros((1, 0), bool)
        if not reached.any():
            return set()
        found = np.zeros(len(self.cases), bool)
        ever = reached.any(axis=0).nonzero()[0]
        for line in lines:
            above = ever[ever <= line]
            statement = int(above[-1]) if len(above) else 0
            cases = reached[:-1, statement]
            found |= cases if cases.any() else reached[:-1].any(axis=1)
        return {self.cases[number] for number in found.nonzero()[0]}


class Reach:
    """Everything that was measured.

    Args:
        folder: where the measurement is.
        root: the tree of today.
        kept: test functions of which only so many cases run, or none.
    """

    def __init__(self, folder: Path, root: Path, kept: Mapping[str, int] | None = None) -> None:
        self.parts = [Part(each) for each in sorted(folder.glob("*.npz"))]
        self._root = root
        self._kept = kept or {}
        self._seconds = {
            case: seconds
            for part in self.parts
            for case, seconds in zip(part.cases, part.seconds, strict=True)
        }

    @cached_property
    def function_seconds(self) -> dict[str, float]:
        """The seconds of each test function with all of its cases."""
        total: dict[str, float] = {}
        measured: dict[str, int] = {}
        for case, seconds in self._seconds.items():
            name = function(case)
            total[name] = total.get(name, 0.0) + seconds
            measured[name] = measured.get(name, 0) + 1
        counts = {name: count for part in self.parts for name, count in part.counts.items()}
        counts |= self._kept
        return {name: total[name] * counts[name] / measured[name] for name in total if counts[name]}

    def functions(self, path: str, text: str, lines: Iterable[int]) -> set[str]:
        """The test functions that reach these lines, from 1, of this text of a module."""
        wanted = list(lines)
        found: set[str] = set()
        for part in self.parts:
            _, moved = compared(part.source(path), text)
            old = [moved[line - 1] for line in wanted if line <= len(moved)]
            found.update(map(function, part.reaching(path, old)))
        return found

    def tests(self, path: str, line: int, folder: str, seconds: float) -> list[str]:
        """Tests that reach a line of today, up to the given seconds; those of ``folder`` first."""
        text = (self._root / path).read_text()
        ordered = sorted(
            self.functions(path, text, [line]) & self.function_seconds.keys(),
            key=lambda each: (not each.startswith(folder), self.function_seconds[each], each),
        )
        chosen: list[str] = []
        total = 0.0
        for each in ordered:
            total += self.function_seconds[each]
            if chosen and total > seconds:
                break
            chosen.append(each)
        return chosen

    def seconds(self, tests: Iterable[str]) -> float:
        """The seconds that these test functions take under coverage."""
        return sum(self.function_seconds[each] for each in tests)


@cache
def compared(old: str, new: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lines of ``old`` that ``new`` changes, and for each line of ``new`` its line in ``old``.

    Where lines are only added, the one before them changes. Blank lines and comments do not count.
    """
    before, after = old.splitlines(), new.splitlines()
    changed: list[int] = []
    moved: list[int] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, end, start, stop in matcher.get_opcodes():
        moved += [min(first + number + 1, max(end, 1)) for number in range(stop - start)]
        if kind != "equal" and any(map(_says_something, [*before[first:end], *after[start:stop]])):
            changed += range(first + 1, end + 1) if end > first else [max(first, 1)]
    return tuple(changed), tuple(moved)


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")
