"""Formats replicas for ``kafkalog ls``: one aligned line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.cli.listing import Heading, listing
from kafkalog_reader.cli.printable import grouped, plural, size
from kafkalog_reader.io.names import METADATA_TOPIC, REMOTE, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

UNKNOWN: Final = "?"
NONE: Final = "-"
HEADINGS: Final = (
    Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True),
    Heading(name="broker", text="BROKER", short="BROKER"),
    Heading(
        name="directory", text="LOG DIRECTORY", short="LOG DIRECTORY", left=True, is_remark=True
    ),
    Heading(name="partition", text="PARTITION", short="PARTITION", left=True),
    Heading(name="log_start", text="LOG START", short="START"),
    Heading(name="log_end", text="LOG END", short="END"),
    Heading(name="lag", text="LAG", short="LAG"),
    Heading(name="high_watermark", text="HIGH WATERMARK", short="HW"),
    Heading(name="last_stable", text="LSO", short="LSO", dispensable=3),
    Heading(name="leader_epoch", text="EPOCH", short="EPOCH", dispensable=2),
    Heading(name="segments", text="SEGMENTS", short="SEGS", dispensable=4),
    Heading(name="size", text="SIZE", short="SIZE", dispensable=1),
    Heading(name="files_size", text="ALL FILES", short="FILES", dispensable=5),
    Heading(name="state", text="STATE", short="STATE", left=True, is_remark=True),
)
NEEDED: Final = (
    "clusterId", "brokerId", "brokerLabel", "logDirectory", "topic", "partition", "state",
    "logStartOffset", "logEndOffset", "checkpointedHighWatermark", "highWatermarkLow",
    "lastStableOffset", "lastStableOffsetLow", "lastLeaderEpoch", "segments", "sizeInBytes",
    "filesSizeInBytes", "cleanShutdown", "tornBytes",
)  # fmt: skip

Row = dict[str, Any]
"""One row of the table replicas, by column name."""

SORT_KEYS: Final[dict[str, Callable[[Row], int | None]]] = {
    "size": lambda row: row["sizeInBytes"],
    "files": lambda row: row["filesSizeInBytes"],
    "segments": lambda row: row["segments"],
    "start": lambda row: row["logStartOffset"],
    "end": lambda row: row["logEndOffset"],
    "lag": lambda row: row["lag"],
}
"""The values of ``--sort`` besides ``name``: the greatest comes first, unknown values last."""


def with_lag(replicas: Iterable[Row]) -> list[Row]:
    """The rows with ``lag``: how many offsets they are behind the longest supplied copy."""
    rows = list(replicas)
    longest: dict[tuple[Any, ...], int] = {}
    for row in rows:
        if row["logEndOffset"] is not None and row["state"] is None:
            partition = _partition_of(row)
            longest[partition] = max(longest.get(partition, 0), row["logEndOffset"])
    return [row | {"lag": _lag(row, longest.get(_partition_of(row)))} for row in rows]


def _lag(row: Row, longest: int | None) -> int | None:
    log_end: int | None = row["logEndOffset"]
    if longest is None or log_end is None or row["state"] == REMOTE:
        return None
    return max(0, longest - log_end)


def _partition_of(row: Row) -> tuple[Any, ...]:
    return row["clusterId"], row["topic"], row["partition"]


def sorted_replicas(replicas: Sequence[Row], sort: str) -> list[Row]:
    """The rows (see ``with_lag``) by name, or by one of ``SORT_KEYS``."""
    by_name = sorted(replicas, key=_order)
    return by_name if sort == "name" else sorted(by_name, key=descending(SORT_KEYS[sort]))


def descending(key: Callable[[Row], int | None]) -> Callable[[Row], tuple[bool, int]]:
    """A sort key that puts the greatest number first and None last."""

    def place(row: Row) -> tuple[bool, int]:
        number = key(row)
        return number is None, -(number or 0)

    return place


def lines_of(
    replicas: Iterable[Row], *, sort: str = "name", screen: int | None = None
) -> Iterator[str]:
    """The headings and one line per replica, without columns that are not needed."""
    ordered = sorted_replicas(with_lag(replicas), sort)
    left_out = _left_out(ordered) | (set() if sort == "lag" else {"lag"})
    headings = [heading for heading in HEADINGS if heading.name not in left_out]
    return listing(headings, [_cells(row) for row in ordered], screen)


def total_line(replicas: Sequence[Row]) -> str:
    """All replicas in a sentence: numbers of replicas, partitions and brokers, and sizes."""
    remote = [row for row in replicas if row["state"] == REMOTE]
    replicas = [row for row in replicas if row["state"] != REMOTE]
    if not replicas and remote:
        return _remote_total(remote)
    partitions = {_partition_of(row) for row in replicas if row["topic"] is not None}
    nodes = {(row["clusterId"], broker_text(row)) for row in replicas}
    brokers = {
        (row["clusterId"], broker_text(row)) for row in replicas if row["topic"] != METADATA_TOPIC
    }
    others = len(nodes) - len(brokers)  # controllers, or brokers without a replica
    where = plural(others, "node")
    if brokers:
        where = plural(len(brokers), "broker")
        with_metadata = f"{plural(others, 'node')} with only the metadata log"
        where += f" and {with_metadata}" if others else ""
    logs = sum(row["sizeInBytes"] or 0 for row in replicas)
    files = sum(row["filesSizeInBytes"] or 0 for row in replicas)
    unread = sum(1 for row in replicas if row["sizeInBytes"] is None)
    return (
        f"{plural(len(replicas), 'replica')} of {plural(len(partitions), 'partition')} on "
        f"{where}: logs {size(logs)}, all files {size(files)}"
        + (f"; {plural(unread, 'replica')} could not be read" if unread else "")
        + _unknown_stops(replicas)
        + (f"; {_remote_total(remote)}" if remote else "")
    )


def _unknown_stops(replicas: Sequence[Row]) -> str:
    """Of how many replicas nobody knows how their broker stopped, where that is so."""
    unknown = sum(
        row["cleanShutdown"] is None and row["topic"] != METADATA_TOPIC for row in replicas
    )
    if not unknown:
        return ""
    which = "" if unknown == len(replicas) else f" of {plural(unknown, 'replica')}"
    return (
        f"; whether the broker{which} shut down cleanly is unknown, because the log directory was "
        "not given"
    )


def _remote_total(remote: Sequence[Row]) -> str:
    partitions = {_partition_of(row) for row in remote}
    logs = sum(row["sizeInBytes"] or 0 for row in remote)
    return f"remote storage of {plural(len(partitions), 'partition')}: logs {size(logs)}"


def _order(row: Row) -> tuple[Any, ...]:
    broker = row["brokerId"]
    return (
        row["clusterId"] or "", row["topic"] or "", -1 if row["partition"] is None else
        row["partition"], broker is None, broker or 0, row["brokerLabel"] or "",
        row["logDirectory"] or "", row["state"] or "",
    )  # fmt: skip


def _left_out(rows: list[Row]) -> set[str]:
    """The columns to leave out: the cluster if there is one, the directory if brokers have one."""
    left_out = set()
    if len({row["clusterId"] for row in rows}) <= 1:
        left_out.add("cluster")
    directories = {(row["clusterId"], broker_text(row), row["logDirectory"]) for row in rows}
    if len({(cluster, broker) for cluster, broker, _ in directories}) == len(directories):
        left_out.add("directory")
    return left_out


def broker_text(row: Row) -> str:
    """The label of the broker, or its node id."""
    if row["brokerLabel"] is not None:
        return shown(row["brokerLabel"])
    return UNKNOWN if row["brokerId"] is None else str(row["brokerId"])


def _cells(row: Row) -> dict[str, str]:
    return {
        "cluster": shown(row["clusterId"] or UNKNOWN),
        "broker": broker_text(row),
        "directory": shown(row["logDirectory"] or UNKNOWN),
        "partition": _partition(row),
        "log_start": _number(row["logStartOffset"]),
        "log_end": _number(row["logEndOffset"]),
        "lag": _number(row["lag"]),
        "high_watermark": high_watermark_text(row),
        "last_stable": _last_stable(row),
        "leader_epoch": _leader_epoch(row),
        "segments": _number(row["segments"]),
        "size": size_or_unknown(row["sizeInBytes"]),
        "files_size": size_or_unknown(row["filesSizeInBytes"]),
        "state": _state(row),
    }


def _partition(row: Row) -> str:
    if row["topic"] is None:
        return UNKNOWN
    return f"{shown(row['topic'])}-{row['partition']}"


def _number(number: int | None) -> str:
    return UNKNOWN if number is None else grouped(number)


def size_or_unknown(size_in_bytes: int | None) -> str:
    """Bytes as text; a question mark for None."""
    return UNKNOWN if size_in_bytes is None else size(size_in_bytes)


def _interval(low: int | None, high: int | None) -> str:
    if low is None or high is None or low == high:
        return _number(high if low is None else low)
    return f"{_number(low)}–{_number(high)}"


def _missing(row: Row) -> int:
    """Offsets from the log end to a checkpointed high watermark above it; 0 if it is not above."""
    high_watermark: int | None = row["checkpointedHighWatermark"]
    log_end: int | None = row["logEndOffset"]
    if high_watermark is None or log_end is None:
        return 0
    return max(0, high_watermark - log_end)


def high_watermark_text(row: Row) -> str:
    """What the replica's own files prove: ``≥2``, ``5`` at the log end, or ``99!`` above it."""
    if _missing(row):  # what is proven would hide it
        return f"{grouped(row['checkpointedHighWatermark'])}!"
    return _at_least(row["highWatermarkLow"], row["logEndOffset"])


def _at_least(low: int | None, log_end: int | None) -> str:
    return _number(low) if low in (None, log_end) else f"≥{_number(low)}"


def _last_stable(row: Row) -> str:
    """An interval only where an open transaction is its end, not the log."""
    low, high = row["lastStableOffsetLow"], row["lastStableOffset"]
    if high == row["logEndOffset"]:
        return _at_least(low, high)
    return _interval(low, high)


def _leader_epoch(row: Row) -> str:
    """The leader epoch of the last batch; none: no batch, or one from before Kafka 0.11."""
    if row["logEndOffset"] is not None and row["lastLeaderEpoch"] is None:
        return NONE
    return _number(row["lastLeaderEpoch"])


def _state(row: Row) -> str:
    words = {
        "delete": "marked for deletion",
        "future": "being moved to this disk",
        "stray": "stray: the broker set it aside",
        REMOTE: "remote storage",
    }
    remarks: list[str] = []
    if row["state"] is not None:
        remarks.append(words.get(row["state"], shown(row["state"])))
    if missing := _missing(row):
        remarks.append(f"HIGH WATERMARK ABOVE THE LOG END BY {grouped(missing)}")
    # The marker is the broker's: a controller, which keeps only the metadata log, writes none.
    if row["cleanShutdown"] is False and row["topic"] != METADATA_TOPIC:
        remarks.append("not shut down cleanly")
    if row["tornBytes"]:
        remarks.append(f"{size(row['tornBytes'])} after the last whole batch")
    return ", ".join(remarks)
