"""What happened to a partition, one line per change of its state or leader epoch."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.cli.listing import Heading, listing
from kafkalog_reader.cli.printable import grouped
from kafkalog_reader.io.checkpoints import topic_id_of
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.report.membership_text import reassignment_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory

Row = dict[str, Any]
"""A row of a table by column name; times are microseconds since 1970."""
Key = tuple[str | None, str, int, str | None]
"""Cluster id, topic, partition and topic id."""
Copy = tuple[str | None, str | None, int | None, int | None]
"""Cluster id, topic, partition and broker."""

NO_LEADER: Final = -1
_HEADINGS: Final = (
    Heading(name="time", text="TIME (UTC)", short="TIME (UTC)", left=True),
    Heading(name="leader", text="LEADER", short="LEADER"),
    Heading(name="epoch", text="EPOCH", short="EPOCH"),
    Heading(name="isr", text="ISR", short="ISR", left=True),
    Heading(name="elr", text="ELR", short="ELR", left=True),
    Heading(name="offsets", text="OFFSETS", short="OFFSETS", left=True),
    Heading(name="what", text="WHAT HAPPENED", short="WHAT HAPPENED", left=True, is_remark=True),
)


def topic_ids_of(directories: Iterable[PartitionDirectory]) -> dict[Copy, str]:
    """The topic id of each copy, by its ``partition.metadata``; only those that are known."""
    known = {}
    for each in directories:
        topic_id = topic_id_of(each) if each.is_replica else None
        if topic_id is not None:
            root = each.log_directory
            known[root.cluster_id, each.topic, each.partition, root.broker_id] = topic_id
    return known


def events_of(
    states: Iterable[Row],
    epochs: Iterable[Row],
    quorum: Iterable[Row] = (),
    topic_ids: Mapping[Copy, str] = MappingProxyType({}),
) -> dict[Key, list[Row]]:
    """The events of each partition in order; one whose topic was created again is several.

    An event has the columns of partition_states, ``offsetsByBroker`` (what each copy holds of the
    leader epoch that began then, as first and next offset), ``copies`` (how many have batches of
    any epoch), ``fork`` (first offset and brokers that hold other records from there on) and
    ``what``. Leader epochs that no state has, as in a cluster with ZooKeeper, are events without a
    time.

    Args:
        states: rows of the table partition_states.
        epochs: rows of the table leader_epochs.
        quorum: see ``leader_changes``.
        topic_ids: see ``topic_ids_of``. Copies whose id is unknown belong to the newest topic.
    """
    elections = {(row["clusterId"], row["leaderEpoch"]): row for row in quorum}
    events: dict[Key, list[Row]] = {}
    newest: dict[tuple[str | None, str, int], Key] = {}
    for row in sorted(states, key=lambda row: row["offset"]):
        if row["topic"] is None:
            continue
        key = row["clusterId"], row["topic"], row["partition"], row["topicId"]
        before = events.setdefault(key, [])
        before.append({**row, "what": _what(before[-1] if before else None, row)})
        newest[key[:3]] = key
    for key, ranges in _held(epochs, topic_ids, newest).items():
        rows = events.setdefault(key, [])
        copies = len({broker for brokers in ranges.values() for broker in brokers})
        for epoch, brokers in sorted(ranges.items()):
            first = next((row for row in rows if row["leaderEpoch"] == epoch), None)
            if first is None:
                first = _epoch_only(key, epoch)
                if key[1] == METADATA_TOPIC and (key[0], epoch) in elections:
                    first |= _quorum_election(elections[key[0], epoch])
                place = sum((row["leaderEpoch"] or 0) < epoch for row in rows)
                rows.insert(place, first)
            first |= {
                "offsetsByBroker": brokers, "copies": copies, "fork": _fork(ranges, epoch)
            }  # fmt: skip
    return {key: events[key] for key in sorted(events, key=_order)}


def with_eventless(
    events: Mapping[Key, Sequence[Row]], replicas: Iterable[Row]
) -> dict[Key, Sequence[Row]]:
    """The events, and no events for each partition of the table replicas that has none."""
    seen = {key[:3] for key in events}
    eventless = {
        (row["clusterId"], row["topic"], row["partition"], row["topicId"])
        for row in replicas
        if row["topic"] is not None
        and (row["clusterId"], row["topic"], row["partition"]) not in seen
    }
    every: dict[Key, Sequence[Row]] = {**events, **dict.fromkeys(eventless, ())}
    return {key: every[key] for key in sorted(every, key=_order)}


def event_lines(events: Sequence[Row], screen: int | None) -> Iterator[str]:
    """The headings and one line for each event of a partition."""
    return listing(*event_cells(events), screen)


def event_cells(events: Sequence[Row]) -> tuple[list[Heading], list[dict[str, str]]]:
    """The same as headings and cells."""
    cells = [_cells(event) for event in events]
    hidden = {name for name in ("isr", "elr", "leader") if not any(each[name] for each in cells)}
    return [each for each in _HEADINGS if each.name not in hidden], cells


def title(key: Key, events: Sequence[Row]) -> str:
    """The partition, its topic id and its replicas."""
    _, topic, partition, topic_id = key
    parts = [shown(f"{topic}-{partition}")]
    if topic_id is not None:
        parts.append(f"topic id {shown(topic_id)}")
    replicas = next((row["replicas"] for row in reversed(events) if row.get("replicas")), None)
    if replicas:
        parts.append(f"replicas {_ids(replicas)}")
    return ", ".join(parts)


def _order(key: Key) -> tuple[Any, ...]:
    return key[0] or "", key[1], key[2]


def _held(
    epochs: Iterable[Row],
    topic_ids: Mapping[Copy, str],
    newest: Mapping[tuple[str | None, str, int], Key],
) -> dict[Key, dict[int, dict[int, tuple[int, int]]]]:
    """By partition, leader epoch and broker: the offsets of the batches with that epoch."""
    held: dict[Key, dict[int, dict[int, tuple[int, int]]]] = {}
    for row in epochs:
        if row["source"] == "batches" and row["topic"] is not None and row["brokerId"] is not None:
            partition = row["clusterId"], row["topic"], row["partition"]
            key = newest.get(partition, (*partition, None))
            own = topic_ids.get((*partition, row["brokerId"]))
            if own is not None and key[3] is not None:
                key = (*partition, own)
            of_epoch = held.setdefault(key, {}).setdefault(row["leaderEpoch"], {})
            of_epoch[row["brokerId"]] = row["startOffset"], row["nextOffset"]
    return held


def _epoch_only(key: Key, epoch: int) -> Row:
    return {
        "clusterId": key[0], "topic": key[1], "partition": key[2], "topicId": key[3],
        "leaderEpoch": epoch, "what": "when, and which broker led, is not in these files",
    }  # fmt: skip


def _quorum_election(change: Row) -> Row:
    """What the record says with which a leader of the metadata quorum begins its epoch."""
    return {
        "leader": change["leader"], "timestamp": change["timestamp"], "offset": change["offset"],
        "what": f"node {change['leader']} was elected by the metadata quorum",
    }  # fmt: skip


def _fork(
    ranges: Mapping[int, Mapping[int, tuple[int, int]]], epoch: int
) -> tuple[int, list[int]] | None:
    """Where an epoch forks off: its first offset, and brokers with records of earlier epochs there.

    A log never goes back to an earlier epoch, so that those brokers lack the records of this one.
    """
    start = min(first for first, _ in ranges[epoch].values())
    others = {
        broker
        for earlier, brokers in ranges.items()
        if earlier < epoch
        for broker, (first, following) in brokers.items()
        if first < following and following > start
    }
    return (start, sorted(others)) if others else None


def _what(before: Row | None, row: Row) -> str:
    """The differences to the state before in words."""
    if row["change"] == "removed":
        return "the topic was deleted"
    if before is None:
        if row["snapshotEndOffset"] is not None:
            return f"by the oldest snapshot, {_leads(row)}"
        return f"{row['change']}: {_leads(row)}"
    said = []
    if row["leader"] != before["leader"]:
        said.append(_election(before, row))
    elif row["leaderEpoch"] != before["leaderEpoch"]:
        said.append("a new leader epoch of the same leader")
    left = [each for each in before["isr"] or () if each not in (row["isr"] or ())]
    joined = [each for each in row["isr"] or () if each not in (before["isr"] or ())]
    if left:
        said.append(f"{_brokers(left)} left the ISR")
    if joined and row["leader"] not in joined:
        said.append(f"{_brokers(joined)} joined the ISR")
    if row["replicas"] != before["replicas"]:
        said.append(f"replicas are now {_ids(row['replicas'])}")
    if said_of := _reassignment(before, row):
        said.append(said_of)
    if before["isRecovering"] and not row["isRecovering"]:
        said.append("the leader has recovered from its unclean election")
    return "; ".join(said) or "nothing that is shown here changed"


def _reassignment(before: Row, row: Row) -> str:
    """How a reassignment goes on; empty if it does not."""
    now, then = (
        ([*(each["addingReplicas"] or ())], [*(each["removingReplicas"] or ())])
        for each in (row, before)
    )
    if now == then:
        return ""
    if not any(now):
        return "the reassignment has ended"
    return f"a reassignment {reassignment_text(*now)}"


def _election(before: Row, row: Row) -> str:
    leader = row["leader"]
    if leader == NO_LEADER:
        return "no leader"
    eligible = {*(before["isr"] or ()), *(before["eligibleLeaderReplicas"] or ())}
    if leader in eligible:
        return f"broker {leader} was elected"
    return f"broker {leader} was elected UNCLEANLY: it was not in the ISR"


def _leads(row: Row) -> str:
    return "no leader" if row["leader"] == NO_LEADER else f"broker {row['leader']} leads"


def _brokers(ids: Sequence[int]) -> str:
    return f"broker{'' if len(ids) == 1 else 's'} {_ids(ids)}"


def _ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))


def _cells(event: Row) -> dict[str, str]:
    leader = event.get("leader")
    return {
        "time": _time(event.get("timestamp")),
        "leader": "none" if leader == NO_LEADER else "" if leader is None else str(leader),
        "epoch": "" if event["leaderEpoch"] is None else str(event["leaderEpoch"]),
        "isr": _ids(event.get("isr") or ()),
        "elr": _ids(event.get("eligibleLeaderReplicas") or ()),
        "offsets": _offsets(event.get("offsetsByBroker") or {}, event.get("copies", 0)),
        "what": _with_fork(event),
    }


def _with_fork(event: Row) -> str:
    what: str = event["what"]
    if event.get("fork") is None:
        return what
    start, others = event["fork"]
    hold = "holds" if len(others) == 1 else "hold"
    return f"{what}; A FORK at offset {start:,}: {_brokers(others)} {hold} other records from there"


def _offsets(brokers: Mapping[int, tuple[int, int]], copies: int) -> str:
    """The offsets of the leader epoch; by broker if not all copies hold the same ones."""
    by_range: dict[tuple[int, int], list[int]] = {}
    for broker, offsets in sorted(brokers.items()):
        by_range.setdefault(offsets, []).append(broker)
    if len(by_range) == 1 and len(brokers) == copies:
        return _range(next(iter(by_range)))
    return "; ".join(f"{_range(offsets)} on {_brokers(on)}" for offsets, on in by_range.items())


def _range(offsets: tuple[int, int]) -> str:
    first, following = offsets
    if following <= first:
        return "none"
    if following - first == 1:
        return grouped(first)
    return f"{grouped(first)}–{grouped(following - 1)}"


def _time(microseconds: int | None) -> str:
    from kafkalog_reader.format.layout import utc_text

    return "?" if microseconds is None else utc_text(microseconds // 1000)
