"""Lines of ``kafkalog duplicates``: how often records are there, and what that looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.cli.listing import Heading, listing
from kafkalog_reader.cli.printable import grouped, plural, size
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.tables.duplicate_records import Duplicates

Row = dict[str, Any]
"""A partition with duplicates, by the columns ``DUPLICATES``."""

_MISSING: Final = "-"
_DOMINANT: Final = 0.9
"""Share of the repeated records that must be there equally often to suggest ``retries``."""
_FEWEST: Final = 3
"""Repeated records that it takes to suggest ``retries``: one may be anything."""
_TIMES_SHOWN: Final = 3
_HEADINGS: Final = (
    Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True),
    Heading(name="topic", text="TOPIC", short="TOPIC", left=True),
    Heading(name="partition", text="PARTITION", short="PART"),
    Heading(name="records", text="RECORDS", short="RECORDS", dispensable=1),
    Heading(name="duplicates", text="DUPLICATES", short="DUPLICATES"),
    Heading(name="share", text="SHARE", short="SHARE"),
    Heading(name="offsets", text="OFFSETS", short="OFFSETS", left=True, dispensable=2),
    Heading(name="note", text="NOTE", short="NOTE", left=True, is_remark=True),
)


def row_of(place: Row, found: Duplicates, *, across: bool) -> Row:
    """A row of the columns ``DUPLICATES``.

    Args:
        place: cluster, broker, topic and partition.
        found: in this partition, at least one duplicate.
        across: whether other partitions were compared, too.
    """
    from kafkalog_reader.tables.duplicate_records import Cause

    histogram = found.histogram
    share_of_retries = found.caused_by(Cause.RETRY) / max(found.surplus, 1)
    counts = {
        "retry": found.caused_by(Cause.RETRY),
        "retryToNextLeader": found.caused_by(Cause.RETRY_TO_NEXT_LEADER),
        "sameSequence": found.caused_by(Cause.SAME_SEQUENCE),
        "sentAgain": found.caused_by(Cause.SENT_AGAIN),
    }
    return {
        **place,
        **counts,
        "records": found.records,
        "duplicates": found.surplus,
        "duplicateBytes": found.surplus_bytes,
        "firstOffset": found.first,
        "nextOffset": None if found.last is None else found.last + 1,
        "histogram": [{"times": n, "records": count} for n, count in histogram.items()],
        "suggestedRetries": suggested_retries(histogram, share_of_retries),
        "inOtherPartitions": found.elsewhere if across else None,
        "equalRecords": found.equal,
        "brokerTimes": found.broker_times,
        "notCompared": found.not_compared,
    }


def suggested_retries(histogram: Mapping[int, int], share_of_retries: float) -> int | None:
    """The ``retries`` of a producer that would explain nearly all duplicates; None if none does."""
    if not histogram:
        return None
    times, records = max(histogram.items(), key=lambda item: (item[1], item[0]))
    is_dominant = records >= max(_FEWEST, _DOMINANT * sum(histogram.values()))
    return times - 1 if is_dominant and share_of_retries >= _DOMINANT else None


def duplicate_lines(rows: Sequence[Row], screen: int | None) -> Iterator[str]:
    """The listing, one line for each partition."""
    hidden = {"cluster"} if len({row["clusterId"] for row in rows}) < 2 else set()
    headings = [each for each in _HEADINGS if each.name not in hidden]
    yield from listing(headings, [_cells(row) for row in rows], screen)


def total_line(rows: Sequence[Row], records: int, partitions: int) -> str:
    """What was found in all, and in how much."""
    looked_at = f"{plural(records, 'record')} of {plural(partitions, 'partition')} compared"
    if not rows:
        return f"Nothing was sent twice: {looked_at}."
    count = plural(sum(row["duplicates"] for row in rows), "duplicate")
    elsewhere = sum(row["inOtherPartitions"] or 0 for row in rows)
    also = f", {grouped(elsewhere)} records in several partitions" if elsewhere else ""
    taken = size(sum(row["duplicateBytes"] for row in rows))
    where = plural(sum(row["duplicates"] > 0 for row in rows), "partition")
    return f"{count} ({taken} of keys and values) in {where}{also}; {looked_at}"


def _cells(row: Row) -> dict[str, str]:
    return {
        "cluster": shown(row["clusterId"] or _MISSING),
        "topic": shown(row["topic"] or _MISSING),
        "partition": _MISSING if row["partition"] is None else str(row["partition"]),
        "records": grouped(row["records"]),
        "duplicates": grouped(row["duplicates"]),
        "share": f"{100 * row['duplicates'] / row['records']:.0f} %",
        "offsets": _offsets(row),
        "note": "; ".join([*_how_often(row), *_causes(row)]),
    }


def _offsets(row: Row) -> str:
    if row["firstOffset"] is None:
        return _MISSING
    return f"{grouped(row['firstOffset'])}–{grouped(row['nextOffset'] - 1)}"


def _how_often(row: Row) -> Iterator[str]:
    """How often records are there, the most frequent number first."""
    found = sorted(row["histogram"], key=lambda each: (-each["records"], each["times"]))
    if not found:
        return
    first = found[0]
    if len(found) == 1 and first["records"] * first["times"] == row["records"]:
        which = "the record"
        if first["records"] > 1:
            which = f"each of {grouped(first['records'])} records"
        yield f"{which} is there {_times(first['times'])}"
        return
    parts = [f"{plural(each['records'], 'record')} {_times(each['times'])}" for each in found]
    more = [f"{len(parts) - _TIMES_SHOWN} other numbers"] if len(parts) > _TIMES_SHOWN else []
    yield ", ".join([*parts[:_TIMES_SHOWN], *more])


def _times(number: int) -> str:
    from kafkalog_reader.tables.duplicate_records import MOST_TIMES

    if number >= MOST_TIMES:
        return f"{grouped(MOST_TIMES)} times or more"
    return "twice" if number == 2 else f"{grouped(number)} times"


def _causes(row: Row) -> Iterator[str]:
    retries = row["suggestedRetries"]
    if retries is not None:
        yield f"looks like retries = {retries} without idempotence"
    elif row["retry"]:
        yield f"{grouped(row['retry'])} sent again without idempotence"
    if row["retryToNextLeader"]:
        yield f"{grouped(row['retryToNextLeader'])} sent again to the next leader"
    if row["sameSequence"]:
        yield f"{grouped(row['sameSequence'])} with the sequence of the copy: accepted twice"
    if row["sentAgain"]:
        yield f"{grouped(row['sentAgain'])} sent again by the application"
    if row["inOtherPartitions"]:
        yield f"{grouped(row['inOtherPartitions'])} also in a partition before this one"
    if row["equalRecords"]:
        yield f"{grouped(row['equalRecords'])} other records equal one before"
    if row["brokerTimes"]:
        yield "of the clients' times, only one for each batch is there"
