"""``python -m benchmarks``: measure, print the table, write ``docs/performance.md``."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click
from confluent_kafka import KafkaException
from pyspark.errors import PySparkException

from benchmarks import figures
from benchmarks.answer import DifferentAnswerError
from benchmarks.figures import Measured
from benchmarks.file_rows import FILE_ROWS
from benchmarks.fleet_rows import FLEET_ROWS
from benchmarks.group_rows import GROUP_ROWS
from benchmarks.hostile_rows import HOSTILE_ROWS
from benchmarks.live_broker import BrokerFailedError
from benchmarks.page import (
    PAGE,
    Result,
    is_worth_keeping,
    machine,
    markdown_table,
    progress_line,
    write_page,
)
from benchmarks.process_rows import PROCESS_ROWS
from benchmarks.row import Bench, Row
from benchmarks.spark_rows import SPARK_ROWS
from benchmarks.verify_rows import VERIFY_ROWS
from fixtures.both_sources.connector import NoConnectorError, connector
from fixtures.errors import FixtureError
from kafkalog_reader import KafkaLogError
from kafkalog_reader.kernel import is_compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS: Final = (
    *FILE_ROWS, *SPARK_ROWS, *PROCESS_ROWS, *HOSTILE_ROWS, *VERIFY_ROWS, *GROUP_ROWS, *FLEET_ROWS
)  # fmt: skip
TROUBLE: Final = (
    BrokerFailedError,
    DifferentAnswerError,
    FixtureError,
    ImportError,
    KafkaException,
    KafkaLogError,
    NoConnectorError,
    OSError,
    PySparkException,
    subprocess.SubprocessError,
)
"""Errors that fail one row; the others are measured nevertheless."""


@click.command()
@click.option("--quick", is_flag=True, help="Small files and few rounds: two minutes, no page.")
@click.option("--only", multiple=True, metavar="NAME", help="Rows whose name contains NAME.")
@click.option("--peers-only", is_flag=True, help="Measure the peers alone.")
@click.option("--list", "list_rows", is_flag=True, help="List the rows and their targets.")
def main(quick: bool, only: tuple[str, ...], peers_only: bool, list_rows: bool) -> None:
    """Compare kafkalog with its peers.

    Rows that were measured in full are kept, and docs/performance.md is rewritten with them. The
    exit status is 1 if a row could not be measured; a missed target is shown and changes nothing.
    """
    rows = [row for row in ROWS if not only or any(name in row.name for name in only)]
    if not rows:
        raise click.UsageError(f"no row is named like {', '.join(only)}; --list shows all")
    if list_rows:
        for row in rows:
            target = str(row.target or "–")
            click.echo(f"{row.name:22} {target:>12}  {row.work} | {row.against}")
        return
    if not (is_compiled() or peers_only):
        raise click.ClickException("the kernel runs interpreted: install with a C compiler first")
    bench = Bench(quick=quick, peers_only=peers_only)
    click.echo(machine(), err=True)
    results = []
    for row in rows:
        results.append(measure(row, bench))
        click.echo(progress_line(results[-1]), err=True)
    click.echo(markdown_table(results))
    if any(is_worth_keeping(bench, result) for result in results):
        keep([result for result in results if is_worth_keeping(bench, result)])
        click.echo(f"wrote {PAGE.name}", err=True)
    sys.exit(any(result.figure is None for result in results))


def keep(results: Sequence[Result]) -> None:
    """Keep figures beside those of other rows, and write the page with all of them."""
    day = datetime.now(UTC).date().isoformat()
    taken = {r.row.name: Measured(figure=r.figure, day=day) for r in results if r.figure}
    known = figures.load() | taken
    ordered = {row.name: known[row.name] for row in ROWS if row.name in known}
    figures.save(ordered)
    write_page(ROWS, ordered, connector()[0])


def measure(row: Row, bench: Bench) -> Result:
    """Measure one row; a reader that fails is shown, not hidden."""
    try:
        return Result(row=row, figure=row.measure(bench))
    except TROUBLE as error:
        return Result(row=row, figure=None, trouble=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
