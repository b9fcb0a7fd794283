"""A progress bar with rate and time left: only on a terminal, removed when done."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.printable import size

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from kafkalog_reader.tables.table import Unit

PATIENCE: Final = 0.5
"""Seconds of work before a bar appears: most commands end sooner, and need not import rich."""
TICK: Final = 0.1


class ReadProgress:
    """Counts bytes read; call it with the number of bytes since the last call.

    Args:
        total: total bytes to read; None if unknown.
        shown: whether a bar may appear; by default if standard error is a terminal and rows are not
            printed to it.
    """

    def __init__(self, total: int | None = None, *, shown: bool | None = None) -> None:
        self.total = total or None  # 0: unknown
        self.bytes_read = 0
        self._shown = bar_is_welcome() if shown is None else shown
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._next = time.monotonic() + PATIENCE
        self._lock = threading.Lock()

    def __call__(self, bytes_read: int) -> None:
        with self._lock:  # replicas are read at the same time
            self._add(bytes_read)

    def _add(self, bytes_read: int) -> None:
        self.bytes_read += bytes_read
        if not self._shown or time.monotonic() < self._next:
            return
        if self._bar is None:
            self._bar, self._task = _started(self.total)
        assert self._task is not None
        self._bar.update(self._task, completed=self.bytes_read)
        self._next = time.monotonic() + TICK

    def __str__(self) -> str:
        if self.total:
            share = min(100, 100 * self.bytes_read // self.total)
            return f"{size(self.bytes_read)} of {size(self.total)} read ({share} %)"
        return f"{size(self.bytes_read)} read"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def bar_is_welcome(*, rows_on_stdout: bool = True) -> bool:
    """Whether a bar is visible and does not mix with rows."""
    return sys.stderr.isatty() and not (rows_on_stdout and sys.stdout.isatty())


def _started(total: int | None) -> tuple[Bar, TaskID]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    bar = Progress(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )
    bar.start()
    return bar, bar.add_task("reading", total=total)


def size_of_logs(units: Iterable[Unit]) -> int:
    """Bytes of the logs of these units of an audit."""
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.errors import UnreadableFileError
    from kafkalog_reader.io.partition_directory import segments

    total = 0
    for unit in units:
        for each in unit.directories if isinstance(unit, PartitionUnit) else ():
            try:
                total += sum(segment.log_size or 0 for segment in segments(each))
            except UnreadableFileError:  # reported later; here it only shortens the bar
                continue
    return total
