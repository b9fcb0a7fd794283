"""Sums up the replicas of ``kafkalog ls`` by topic or by broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.cli.listing import Heading, listing
from kafkalog_reader.cli.printable import grouped
from kafkalog_reader.cli.replica_list import UNKNOWN, descending, size_or_unknown
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kafkalog_reader.cli.replica_list import Row

KEYS: Final = {
    "topic": ("clusterId", "topic"),
    "broker": ("clusterId", "brokerId", "brokerLabel"),
}
"""The values of ``--by``, and the columns of the table replicas that a group shares."""
SORT_KEYS: Final = {
    "size": "sizeInBytes", "files": "filesSizeInBytes", "segments": "segments",
}  # fmt: skip
"""The values of ``--sort`` besides ``name``, and the totals that they use."""
_SUMS: Final = tuple(SORT_KEYS.values())
_HEADINGS: Final = (
    Heading(name="replicas", text="REPLICAS", short="REPLICAS"),
    Heading(name="segments", text="SEGMENTS", short="SEGS", dispensable=1),
    Heading(name="sizeInBytes", text="SIZE", short="SIZE"),
    Heading(name="filesSizeInBytes", text="ALL FILES", short="FILES"),
)


def groups_of(replicas: Iterable[Row], by: str, sort: str) -> list[Row]:
    """One row per group: its key, the number of replicas, and totals.

    ``partitions`` and ``brokers`` are numbers of distinct ones; totals leave out what could not be
    read.
    """
    members: dict[tuple[Any, ...], list[Row]] = {}
    for row in replicas:
        members.setdefault(tuple(row[name] for name in KEYS[by]), []).append(row)
    groups = [
        dict(zip(KEYS[by], key, strict=True)) | _sums(rows)
        for key, rows in sorted(members.items(), key=lambda item: _order(item[0]))
    ]
    if sort != "name":
        groups.sort(key=descending(lambda group: group[SORT_KEYS[sort]]))
    return groups


def _order(key: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    return [(part is None, part) for part in key]


def _sums(rows: Sequence[Row]) -> Row:
    return {
        "partitions": len({(row["clusterId"], row["topic"], row["partition"]) for row in rows}),
        "brokers": len({(row["clusterId"], row["brokerId"], row["brokerLabel"]) for row in rows}),
        "replicas": len(rows),
    } | {name: sum(row[name] or 0 for row in rows) for name in _SUMS}


def group_lines(groups: Sequence[Row], by: str, screen: int | None) -> Iterator[str]:
    """The headings and one line per group; the cluster only if there are several."""
    other = "brokers" if by == "topic" else "partitions"
    headings = [
        Heading(name=by, text=by.upper(), short=by.upper(), left=by == "topic"),
        *([] if by == "broker" else [_counted("partitions")]),
        _counted(other),
        *_HEADINGS,
    ]
    if len({group["clusterId"] for group in groups}) > 1:
        headings.insert(0, Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True))
    return listing(headings, [_cells(group, by) for group in groups], screen)


def _counted(noun: str) -> Heading:
    return Heading(name=noun, text=noun.upper(), short=noun.upper())


def _cells(group: Row, by: str) -> dict[str, str]:
    name = group["topic"] if by == "topic" else group["brokerLabel"] or group["brokerId"]
    return {
        "cluster": shown(group["clusterId"] or UNKNOWN),
        by: UNKNOWN if name is None else shown(str(name)),
        **{count: grouped(group[count]) for count in ("replicas", "segments")},
        **{count: grouped(group[count]) for count in ("partitions", "brokers") if count != by},
        **{name: size_or_unknown(group[name]) for name in ("sizeInBytes", "filesSizeInBytes")},
    }
