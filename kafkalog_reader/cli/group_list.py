"""Rows of ``kafkalog groups``: commits joined with the members that have the partitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.cli.listing import Heading, listing
from kafkalog_reader.cli.printable import grouped, plural
from kafkalog_reader.io.names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Row = dict[str, Any]
"""A commit or a group, by column name; times are microseconds since 1970."""

MISSING: Final = "-"
NO_EPOCH: Final = -1
NO_COMMIT: Final = "no-commit"
PENDING_COMMIT: Final = "pending-commit"
REMOVED: Final = "removed"
_NAMED: Final = 3
"""Maximum share groups in the line that names them."""
WITHOUT_OFFSET: Final = (NO_COMMIT, PENDING_COMMIT, REMOVED)
"""Statuses of rows that have no committed offset."""
MOVES_CONSUMERS: Final = (
    "below-log-start", "above-log-end", "on-lost-branch", "topic-recreated",
)  # fmt: skip
"""Statuses of commits where no consumer can go on."""
_LEAST_RETENTION: Final = 60_000_000
"""Microseconds: offsets.retention.minutes is at least 1."""
_UNEVEN: Final = 2
"""How many partitions more than another a member has; one more may be inevitable."""
OF_MEMBER: Final = ("memberId", "clientHost", "clientId")
_HEADINGS: Final = (
    Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True),
    Heading(name="group", text="GROUP", short="GROUP", left=True),
    Heading(name="topic", text="TOPIC", short="TOPIC", left=True),
    Heading(name="partition", text="PARTITION", short="PART"),
    Heading(name="committed", text="CURRENT-OFFSET", short="CURRENT"),
    Heading(name="end", text="LOG-END-OFFSET", short="LOG-END"),
    Heading(name="lag", text="LAG", short="LAG"),
    Heading(name="time", text="COMMITTED (UTC)", short="COMMITTED (UTC)", left=True, dispensable=1),
    Heading(name="memberId", text="CONSUMER-ID", short="CONSUMER-ID", left=True, dispensable=4),
    Heading(name="clientHost", text="HOST", short="HOST", left=True, dispensable=3),
    Heading(name="clientId", text="CLIENT-ID", short="CLIENT-ID", left=True, dispensable=2),
    Heading(name="note", text="NOTE", short="NOTE", left=True, is_remark=True),
)
_GROUP_HEADINGS: Final = (
    Heading(name="cluster", text="CLUSTER", short="CLUSTER", left=True),
    Heading(name="group", text="GROUP", short="GROUP", left=True),
    Heading(name="type", text="TYPE", short="TYPE", left=True, dispensable=3),
    Heading(name="state", text="STATE", short="STATE", left=True),
    Heading(name="members", text="MEMBERS", short="MEMBERS"),
    Heading(
        name="assignor", text="ASSIGNMENT-STRATEGY", short="STRATEGY", left=True, dispensable=2
    ),
    Heading(name="partitions", text="PARTITIONS", short="PARTS"),
    Heading(name="lag", text="LAG", short="LAG"),
    Heading(name="time", text="COMMITTED (UTC)", short="COMMITTED (UTC)", left=True, dispensable=1),
    Heading(name="note", text="NOTE", short="NOTE", left=True, is_remark=True),
)


def with_members(commits: Iterable[Row], members: Iterable[Row]) -> list[Row]:
    """The commits with ``memberId``, ``clientHost`` and ``clientId`` of who has the partition.

    Assigned partitions without a commit are rows of their own, with the status ``no-commit``.

    Args:
        commits: rows of the table group_offsets.
        members: rows of the table group_members.
    """
    owners = {
        (member["clusterId"], member["groupId"], partition): member
        for member in members
        for partition in member["assignment"] or ()
    }
    rows = []
    for row in commits:
        place = f"{row['topic']}-{row['partition']}"
        owner = owners.pop((row["clusterId"], row["groupId"], place), None)
        rows.append(row | _member(owner))
    for (cluster, group, place), owner in owners.items():
        topic, _, number = place.rpartition("-")
        if not number.isdigit():
            continue
        rows.append(
            {
                "clusterId": cluster, "groupId": group, "topic": topic, "partition": int(number),
                "status": NO_COMMIT, **_member(owner),
            }
        )  # fmt: skip
    return sorted(rows, key=_order)


def with_pending(rows: Iterable[Row], pending: Iterable[Row]) -> list[Row]:
    """The rows with ``pendingOffset``: what an open transaction commits; None without one.

    Partitions with nothing else are rows of their own, with the status ``pending-commit``.

    Args:
        rows: see ``with_members``.
        pending: see ``pending_commits``; the last one of a partition counts.
    """
    offsets = {_order(commit): commit for commit in pending}
    found = [
        row | {"pendingOffset": offsets.get(_order(row), {}).get("committedOffset")} for row in rows
    ]
    known = set(map(_order, found))
    for key, commit in offsets.items():
        if key not in known:
            place = {name: commit[name] for name in ("clusterId", "groupId", "topic", "partition")}
            found.append({
                **place, "status": PENDING_COMMIT, "pendingOffset": commit["committedOffset"],
                **_member(None),
            })  # fmt: skip
    return sorted(found, key=_order)


def with_groups_of(groups: Iterable[Row], rows: Iterable[Row]) -> list[Row]:
    """The groups, and those that only an open transaction has an offset of.

    The coordinator makes such a group an empty one, as it does at each offset of a group that has
    no record of its own. Source: Kafka 4.4, OffsetMetadataManager#replay.
    """
    found = list(groups)
    known = {(group["clusterId"], group["groupId"]) for group in found}
    for row in rows:
        name = row["clusterId"], row["groupId"]
        if row["status"] == PENDING_COMMIT and name not in known:
            known.add(name)
            found.append({
                "clusterId": name[0], "groupId": name[1], "type": "classic", "state": "Empty",
                "members": 0, "protocol": None,
            })  # fmt: skip
    return found


def with_removed(
    groups: Sequence[Row], rows: Sequence[Row], gone: Iterable[Row], offsets: Iterable[Row]
) -> tuple[list[Row], list[Row]]:
    """The groups and rows, and those that tombstones removed, with the status ``removed``.

    A removed group has the state ``Dead``, as in Kafka, and ``removedTime``.

    Args:
        groups: rows of the table groups.
        rows: see ``with_members``.
        gone: see ``removed_groups``.
        offsets: see ``removed_offsets``.
    """
    found: dict[tuple[str, str], Row] = {}
    added = [row | _member(None) | {"status": REMOVED, "pendingOffset": None} for row in offsets]
    for row in (*gone, *added):
        group = found.setdefault((row["clusterId"], row["groupId"]), {
            "clusterId": row["clusterId"], "groupId": row["groupId"],
            "type": row.get("type") or "classic", "state": "Dead", "members": 0, "protocol": None,
            "removedTime": None,
        })  # fmt: skip
        times = [each for each in (group["removedTime"], row["removedTime"]) if each is not None]
        group["removedTime"] = max(times, default=None)
    return [*groups, *found.values()], sorted([*rows, *added], key=_order)


def _member(owner: Row | None) -> Row:
    return {name: owner[name] if owner else None for name in OF_MEMBER}


def _order(row: Row) -> tuple[Any, ...]:
    return row["clusterId"] or "", row["groupId"], row["topic"], row["partition"]


def totals_of(groups: Iterable[Row], rows: Iterable[Row]) -> list[Row]:
    """One row for each group: state, members, number of partitions, total lag, last commit.

    ``mostAssigned`` and ``leastAssigned`` are partitions of one member; None without members.
    ``lag`` is None if that of no partition is known; ``unknownLags`` counts those.

    Args:
        groups: rows of the table groups.
        rows: see ``with_members``.
    """
    totals: dict[tuple[str, str], Row] = {}
    for group in groups:
        if group["groupId"] is not None:
            totals[group["clusterId"], group["groupId"]] = {
                "clusterId": group["clusterId"], "groupId": group["groupId"],
                "type": group["type"], "state": group["state"], "members": group["members"],
                "assignmentStrategy": group["protocol"], "partitions": 0, "lag": None,
                "mostAssigned": None, "leastAssigned": None,
                "unknownLags": 0, "lastCommitTime": None, "brokenCommits": 0, "pendingCommits": 0,
                "removedTime": group.get("removedTime"),
            }  # fmt: skip
    assigned: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        total = totals.get((row["clusterId"], row["groupId"]))
        if total is None:
            continue
        total["partitions"] += 1
        if row["memberId"] is not None:
            assigned[row["clusterId"], row["groupId"]][row["memberId"]] += 1
        if row.get("lag") is None:
            total["unknownLags"] += row["status"] != REMOVED
        else:
            total["lag"] = (total["lag"] or 0) + row["lag"]
        total["brokenCommits"] += row["status"] in MOVES_CONSUMERS
        total["pendingCommits"] += row.get("pendingOffset") is not None
        times = [
            time for time in (total["lastCommitTime"], row.get("commitTime")) if time is not None
        ]
        total["lastCommitTime"] = max(times, default=None)
    for key, total in totals.items():
        if total["members"] and total["type"] != "share":  # whose members share partitions
            held = assigned[key].values()
            total["mostAssigned"] = max(held, default=0)
            total["leastAssigned"] = min(held) if len(held) >= total["members"] else 0
    return [totals[key] for key in sorted(totals, key=lambda key: (key[0] or "", key[1]))]


def commit_lines(rows: Sequence[Row], screen: int | None) -> Iterator[str]:
    """The headings and one line for each partition of each group."""
    return listing(*commit_cells(rows), screen)


def commit_cells(rows: Sequence[Row]) -> tuple[list[Heading], list[dict[str, str]]]:
    """The same as headings and cells."""
    hidden = {"cluster"} if len({row["clusterId"] for row in rows}) < 2 else set()
    if not any(row["memberId"] for row in rows):
        hidden |= set(OF_MEMBER)
    cells = [_cells(row) for row in rows]
    if not any(each["note"] for each in cells):
        hidden.add("note")
    return [each for each in _HEADINGS if each.name not in hidden], cells


def group_lines(totals: Sequence[Row], screen: int | None) -> Iterator[str]:
    """The headings and one line for each group."""
    return listing(*group_cells(totals), screen)


def group_cells(totals: Sequence[Row]) -> tuple[list[Heading], list[dict[str, str]]]:
    """The same as headings and cells."""
    hidden = {"cluster"} if len({row["clusterId"] for row in totals}) < 2 else set()
    cells = [_group_cells(total) for total in totals]
    if not any(each["note"] for each in cells):
        hidden.add("note")
    return [each for each in _GROUP_HEADINGS if each.name not in hidden], cells


def total_line(totals: Sequence[Row], rows: Sequence[Row], offsets_partitions: int) -> str:
    """All groups in a sentence, and how much of ``__consumer_offsets`` was read."""
    lags = [row["lag"] for row in rows if row.get("lag") is not None]
    lag = f", total lag {sum(lags):,}" if lags else ""
    unknown = sum(row.get("lag") is None and row["status"] != REMOVED for row in rows)
    unknown_lag = f"; the lag of {plural(unknown, 'partition')} is unknown" if unknown else ""
    return (
        f"{plural(len(totals), 'group')} with {plural(len(rows), 'partition')}{lag}{unknown_lag}; "
        f"read from {plural(offsets_partitions, 'partition')} of __consumer_offsets"
    )


def unknown_lags(rows: Sequence[Row]) -> Iterator[str]:
    """Whose lag is not known, in a sentence for each reason; what ``total_line`` counts."""
    unknown = [row for row in rows if row.get("lag") is None]
    for is_committed, why in (
        (True, "no readable log of"),
        (False, "auto.offset.reset decides where consumers begin, as nothing is committed for"),
    ):
        names = sorted(
            {
                f"{shown(row['topic'])}-{row['partition']}"
                for row in unknown
                if is_committed is (row["status"] not in WITHOUT_OFFSET)
            }
        )
        if names:
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            there = " was supplied" if is_committed else ""
            yield f"the lag of consumer groups: {why} {', '.join(names[:_NAMED])}{more}{there}"


def share_line(totals: Sequence[Row]) -> str:
    """Where the positions of share groups are; empty without such groups."""
    names = [shown(each["groupId"]) for each in totals if each["type"] == "share"]
    if not names:
        return ""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    what = "Share group" if len(names) == 1 else "Share groups"
    return (
        f"{what} {', '.join(names[:_NAMED])}{more}: kafkalog table share_groups, with the same "
        "paths, shows the start offsets, which are in __share_group_state"
    )


def removed_lines(totals: Sequence[Row]) -> Iterator[str]:
    """When groups were removed, by what, and how to see them as they were."""
    for total in totals:
        time = total["removedTime"]
        if time is None:
            continue
        last = total["lastCommitTime"]
        why = "its offsets expired (offsets.retention.minutes), or a client deleted it"
        if last is not None and 0 <= time - last < _LEAST_RETENTION:
            why = (
                "less than a minute after its last commit, so it did not expire: a client deleted "
                "it, or its topics"
            )
        before = "" if last is None else f"; --as-of {_time(time - 1000)} shows it as it was before"
        yield (
            f"Group {shown(total['groupId'])} was removed at {_time(time)}: {why}. Its consumers "
            f"begin where auto.offset.reset says{before}."
        )


def _cells(row: Row) -> dict[str, str]:
    return {
        "cluster": shown(row["clusterId"] or MISSING),
        "group": shown(row["groupId"]) or '""',
        "topic": shown(row["topic"]),
        "partition": str(row["partition"]),
        "committed": _number(row.get("committedOffset")),
        "end": _number(row.get("logEndOffset")),
        "lag": _number(row.get("lag")),
        "time": _time(row.get("commitTime")),
        **{name: shown(row[name] or MISSING) for name in OF_MEMBER},
        "note": _note(row),
    }


def _note(row: Row) -> str:
    notes = [_status_note(row)]
    if row.get("pendingOffset") is not None:
        notes.append(f"offset {row['pendingOffset']:,} is in an open transaction")
    return "; ".join(filter(None, notes))


def _status_note(row: Row) -> str:
    status = row["status"]
    if status == PENDING_COMMIT:
        return "nothing committed"
    if status == REMOVED:
        last = row["removedOffset"]
        was = "its commits are gone" if last is None else f"the last commit was {last:,}"
        return f"removed at {_time(row['removedTime'])}: {was}"
    if status == "below-log-start":
        return f"below the log start, {row['logStartOffset']:,}: auto.offset.reset applies"
    if status == "above-log-end":
        if row["committedLeaderEpoch"] in (None, NO_EPOCH):
            return "above the log end: auto.offset.reset applies"
        return f"above the log end: consumers (2.1 and later) go on at {row['safeOffset']:,}"
    if status == "on-lost-branch":
        return f"read records that an election cut off: go on at {row['safeOffset']:,}"
    if status == "topic-recreated":
        return "of a deleted topic with this name"
    if status == "no-log":
        return "no readable log of this partition was supplied"
    if status == NO_COMMIT:
        return "assigned, without a committed offset"
    stable, committed = row["lastStableOffset"], row["highWatermarkLow"]
    if None not in (stable, committed) and stable < committed:
        return f"an open transaction: read_committed consumers stop at {stable:,}"
    return ""


def _group_cells(total: Row) -> dict[str, str]:
    broken = total["brokenCommits"]
    unknown = total["unknownLags"]
    notes = []
    if broken:
        notes.append(f"{plural(broken, 'committed offset')} not in the log")
    if total["pendingCommits"]:
        notes.append(f"{plural(total['pendingCommits'], 'offset')} in an open transaction")
    if _is_skewed(total):
        notes.append(
            f"range gives one member {plural(total['mostAssigned'], 'partition')} and another "
            f"{total['leastAssigned']:,}"
        )
    if unknown and total["lag"] is not None:
        notes.append(f"without the lag of {plural(unknown, 'partition')}")
    return {
        "cluster": shown(total["clusterId"] or MISSING),
        "group": shown(total["groupId"]) or '""',
        "type": shown(total["type"] or MISSING),
        "state": shown(total["state"] or MISSING),
        "members": _number(total["members"]),
        "assignor": shown(total["assignmentStrategy"] or MISSING),
        "partitions": grouped(total["partitions"]),
        "lag": _number(total["lag"]),
        "time": _time(total["lastCommitTime"]),
        "note": "; ".join(notes),
    }


def _is_skewed(total: Row) -> bool:
    """Whether range divides unevenly: it gives the first members one more of each topic.

    Source: Kafka 4.4, RangeAssignor.
    """
    most, least = total["mostAssigned"], total["leastAssigned"]
    is_range = total["assignmentStrategy"] == "range"
    return is_range and most is not None and most - least >= _UNEVEN


def _number(number: int | None) -> str:
    return MISSING if number is None else grouped(number)


def _time(microseconds: int | None) -> str:
    from kafkalog_reader.format.layout import utc_text

    return MISSING if microseconds is None else utc_text(microseconds // 1000)
