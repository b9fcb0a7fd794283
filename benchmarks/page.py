"""The output: the table in the terminal, and ``docs/performance.md``."""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from fixtures.jars import LATEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.figures import Measured
    from benchmarks.row import Bench, Figure, Row

PAGE: Final = Path(__file__).parent.parent / "docs" / "performance.md"
TEMPLATE: Final = Path(__file__).with_suffix(".md.in")
HEADER: Final = ("work", "against", "ours", "peer", "figure", "target", "met")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A row with its figure, or why it could not be measured."""

    row: Row
    figure: Figure | None
    trouble: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target was reached; None without a target, or if our side was not run."""
        if self.figure is None:
            return False
        if self.row.target is None or self.figure.value is None:
            return None
        return self.row.target.met(self.figure.value)

    def cells(self) -> tuple[str, ...]:
        row, figure = self.row, self.figure
        target = str(row.target) if row.target else "–"
        if figure is None:
            return (row.work, row.against, "–", "–", self.trouble, target, "no")
        met = {True: "yes", False: "**no**", None: "–"}[self.met]
        return (row.work, row.against, figure.ours, figure.peer, self._value(), target, met)

    def _value(self) -> str:
        assert self.figure is not None
        if self.figure.value is None:
            return "–"
        unit = self.row.target.unit if self.row.target else "×"
        value = f"{self.figure.value:.{0 if unit == 'MiB' else 2}f} {unit}"
        if self.figure.spread is None:
            return value
        low, high = self.figure.spread
        return f"{value} ({low:.2f}–{high:.2f})"


def markdown_table(results: Iterable[Result]) -> str:
    """The table of one run."""
    return _markdown(HEADER, [result.cells() for result in results])


def _markdown(header: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    every = [header, tuple("---" for _ in header), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in every)


def write_page(
    rows: Sequence[Row], measured: Mapping[str, Measured], connector_version: str, page: Path = PAGE
) -> None:
    """Write the page: the last figure of each row, and its day."""
    results = [
        Result(row=row, figure=measured[row.name].figure) for row in rows if row.name in measured
    ]
    days = [measured[result.row.name].day for result in results]
    lines = [(*result.cells(), day) for result, day in zip(results, days, strict=True)]
    text = Template(TEMPLATE.read_text()).substitute(
        table=_markdown((*HEADER, "taken"), lines),
        missed=_missed(rows, results),
        machine=machine(),
        versions=versions(),
        connector=connector_version,
    )
    page.write_text(text)


def _missed(rows: Sequence[Row], results: Sequence[Result]) -> str:
    missed = [result.row.name for result in results if result.met is False]
    known = {result.row.name for result in results}
    unknown = [row.name for row in rows if row.name not in known]
    said = [f"**Missed:** {_names(missed)}." if missed else "Every target above is met."]
    if unknown:
        said.append(f"**Never measured in full:** {_names(unknown)}.")
    return " ".join(said)


def _names(rows: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in rows)


def machine() -> str:
    """Cores and processor, but nothing that identifies the machine."""
    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {models[0] if models else platform.machine()}"


def versions() -> str:
    """The versions of all software involved."""
    packages = ("pyarrow", "pyspark", "aiokafka", "lz4", "isal")
    named = [f"{package} {version(package)}" for package in packages]
    return ", ".join([f"Python {sys.version.split()[0]}", f"Kafka {LATEST}", *named])


def progress_line(result: Result) -> str:
    """One row, for someone who waits."""
    _, _, ours, peer, value, target, met = result.cells()
    return f"{result.row.name:22} ours {ours:>22}  peer {peer:>22}  {value:>24}  {target}  {met}"


def is_worth_keeping(bench: Bench, result: Result) -> bool:
    """Whether a row was measured in full, on both sides."""
    known = result.figure is not None and result.figure.value is not None
    return known and not (bench.quick or bench.peers_only)
