"""The replicas as ``kafkalog ls`` shows them: one aligned line each, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.cli.printable import for_stdout, grouped, size, width
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GAP: Final = "   "
UNKNOWN: Final = "?"
HEADINGS: Final = {
    "cluster": "CLUSTER", "broker": "BROKER", "directory": "LOG DIRECTORY",
    "partition": "PARTITION", "log_start": "LOG START", "log_end": "LOG END",
    "high_watermark": "HIGH WATERMARK", "last_stable": "LSO", "leader_epoch": "EPOCH",
    "segments": "SEGMENTS", "size": "SIZE", "state": "STATE",
}  # fmt: skip
LEFT: Final = frozenset({"cluster", "directory", "partition", "state"})
NEEDED: Final = (
    "clusterId", "brokerId", "brokerLabel", "logDirectory", "topic", "partition", "state",
    "logStartOffset", "logEndOffset", "highWatermarkLow", "highWatermarkHigh", "lastStableOffset",
    "lastStableOffsetLow", "lastLeaderEpoch", "segments", "sizeInBytes", "cleanShutdown",
    "tornBytes",
)  # fmt: skip

Row = dict[str, Any]
"""One row of the table replicas, by column name."""


def lines_of(replicas: Iterable[Row]) -> Iterator[str]:
    """The aligned lines, headings first; columns that tell nothing apart are left out."""
    ordered = sorted(replicas, key=_order)
    cells = [{name: for_stdout(text) for name, text in _cells(row).items()} for row in ordered]
    left_out = _left_out(ordered)
    columns = [name for name in HEADINGS if name not in left_out]
    widths = {
        name: max([len(HEADINGS[name]), *(width(row[name]) for row in cells)]) for name in columns
    }
    for row in (HEADINGS, *cells):
        padded = (_padded(row[name], widths[name], left=name in LEFT) for name in columns)
        yield GAP.join(padded).rstrip()


def _padded(text: str, columns: int, *, left: bool) -> str:
    padding = " " * (columns - width(text))
    return text + padding if left else padding + text


def _order(row: Row) -> tuple[Any, ...]:
    broker = row["brokerId"]
    return (
        row["clusterId"] or "", row["topic"] or "", -1 if row["partition"] is None else
        row["partition"], broker is None, broker or 0, row["brokerLabel"] or "",
        row["logDirectory"] or "", row["state"] or "",
    )  # fmt: skip


def _left_out(rows: list[Row]) -> set[str]:
    """The cluster when there is one; the directory when every broker has one."""
    left_out = set()
    if len({row["clusterId"] for row in rows}) <= 1:
        left_out.add("cluster")
    directories = {(row["clusterId"], _broker(row), row["logDirectory"]) for row in rows}
    if len({(cluster, broker) for cluster, broker, _ in directories}) == len(directories):
        left_out.add("directory")
    return left_out


def _broker(row: Row) -> str:
    if row["brokerLabel"] is not None:
        return shown(row["brokerLabel"])
    return UNKNOWN if row["brokerId"] is None else str(row["brokerId"])


def _cells(row: Row) -> dict[str, str]:
    return {
        "cluster": shown(row["clusterId"] or UNKNOWN),
        "broker": _broker(row),
        "directory": shown(row["logDirectory"] or UNKNOWN),
        "partition": _partition(row),
        "log_start": _number(row["logStartOffset"]),
        "log_end": _number(row["logEndOffset"]),
        "high_watermark": _interval(row["highWatermarkLow"], row["highWatermarkHigh"]),
        "last_stable": _interval(row["lastStableOffsetLow"], row["lastStableOffset"]),
        "leader_epoch": _number(row["lastLeaderEpoch"]),
        "segments": _number(row["segments"]),
        "size": UNKNOWN if row["sizeInBytes"] is None else size(row["sizeInBytes"]),
        "state": _state(row),
    }


def _partition(row: Row) -> str:
    if row["topic"] is None:
        return UNKNOWN
    return f"{shown(row['topic'])}-{row['partition']}"


def _number(number: int | None) -> str:
    return UNKNOWN if number is None else grouped(number)


def _interval(low: int | None, high: int | None) -> str:
    if low is None or high is None or low == high:
        return _number(high if low is None else low)
    return f"{_number(low)}–{_number(high)}"


def _state(row: Row) -> str:
    words = {
        "delete": "marked for deletion",
        "future": "being moved to this disk",
        "stray": "stray: the broker set it aside",
    }
    said: list[str] = []
    if row["state"] is not None:
        said.append(words.get(row["state"], shown(row["state"])))
    if row["cleanShutdown"] is False:
        said.append("not shut down cleanly")
    if row["tornBytes"]:
        said.append(f"{size(row['tornBytes'])} behind the log end")
    return ", ".join(said)
