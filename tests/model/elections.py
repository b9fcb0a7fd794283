"""The loss of every election by the model: the rows of the table ``elections``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from tests.model.partition import (
    Followed,
    Record,
    Replica,
    content_fork,
    elected,
    follow,
    gets_in_sync,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence


@dataclass(frozen=True)
class Follows:
    """The outcome of one follower of one candidate."""

    follower: int
    log_end: int
    truncation: int
    rounds: int
    records_cut: int
    silent_divergence: int | None
    is_needless: bool
    gets_in_sync: bool


@dataclass(frozen=True)
class Costs:
    """The losses of one candidate as distinct records; ``lost`` includes uncommitted ones.

    Attributes:
        apart: records that only followers keep: known, possible, all.
    """

    candidate: int
    followers: tuple[Follows, ...]
    known: int
    possible: int
    only_if_unclean: int
    lost: int
    apart: tuple[int, int, int]
    rank: int = 0

    @property
    def kind(self) -> str:
        known, possible = self.known + self.apart[0], self.possible + self.apart[1]
        return "unclean" if known else "undetermined" if possible else "clean"


def hw_low(replica: Replica) -> int:
    """Section 1.3: the greatest of the row (if not above the end), log start, cleaner offset."""
    row = replica.high_watermark if replica.high_watermark <= replica.end else 0
    return max(row, replica.start, replica.cleaner_offset)


def superseded(replica: Replica, replicas: Sequence[Replica]) -> int | float:
    """Section 1.3: where the history of the greatest leader epoch diverges from this replica's."""
    greatest = max((epoch for one in replicas for epoch in _epochs(one)), default=-1)
    holders = [one for one in replicas if greatest in _epochs(one)]
    if not holders or replica in holders or not replica.records:
        return inf
    newest = max(holders, key=lambda one: one.end)
    first, stop = max(replica.start, newest.start), min(replica.end, newest.end)
    fork = next(
        (o for o in range(first, stop) if replica.epoch_at(o) != newest.epoch_at(o)),
        max(first, stop),
    )
    return fork if replica.end > fork else inf


def _epochs(replica: Replica) -> set[int]:
    of_records = {record.leader_epoch for record in replica.records if record.leader_epoch >= 0}
    return of_records | {epoch for epoch, _ in replica.epochs}


def committed(
    stopped: Mapping[int, Replica], in_sync: Collection[int] | None = None
) -> Callable[[Record], str]:
    """Whether its holders prove a record committed: known, possible, only if unclean, or not.

    Args:
        stopped: replicas as their disks hold them, before any start.
        in_sync: the ISR, if the metadata log is known.
    """
    replicas = list(stopped.values())
    left = [superseded(replica, replicas) for replica in replicas]
    unclean_happened = any(
        hw_low(replica) > at
        for replica, at in zip(replicas, left, strict=True)  # KL-514
    )
    hw_high = inf if in_sync is None else min(stopped[node].end for node in in_sync)

    def state(record: Record) -> str:
        holders = [
            i for i, each in enumerate(replicas) if record in each.records or record in each.below
        ]
        if any(record.offset < hw_low(replicas[i]) for i in holders):
            return "known"
        if record.offset >= hw_high:
            return "not"
        if any(unclean_happened or record.offset < left[i] for i in holders):
            return "possible"
        return "only if unclean"

    return state


def elections(
    stopped: Mapping[int, Replica],
    loaded: Mapping[int, Replica],
    rule: Callable[[Replica, Replica], Followed] = follow,
    in_sync: Collection[int] | None = None,
) -> list[Costs]:
    """Elect every replica; the result is by broker id, best first.

    Args:
        stopped: as their disks hold them.
        loaded: as their brokers have them after the start.
        rule: the rule by which followers truncate.
        in_sync: the ISR, if the metadata log is known.
    """
    new_epoch = max((epoch for one in stopped.values() for epoch in _epochs(one)), default=-1) + 1
    state_of = committed(stopped, in_sync)
    on_disk = {record for replica in stopped.values() for record in replica.records}
    costs = []
    for candidate, replica in loaded.items():
        leader = elected(replica, new_epoch)
        followers, kept = [], set(leader.records)
        for broker, before in loaded.items():
            if broker != candidate:
                after = before.copy()
                followed = rule(leader, after)
                kept |= set(after.records)
                in_sync_at_last = rule is not follow or gets_in_sync(leader, after, followed)
                followers.append(_follows(broker, before, after, leader, followed, in_sync_at_last))
        lost = {record for record in on_disk if record.offset >= leader.start} - kept
        states = [state_of(record) for record in lost]
        only_kept = {record for record in kept if record.offset >= leader.start}
        apart = [state_of(record) for record in only_kept - set(leader.records)]
        costs.append(
            Costs(
                candidate,
                tuple(followers),
                states.count("known"),
                states.count("possible"),
                states.count("only if unclean"),
                len(lost),
                (apart.count("known"), apart.count("possible"), len(apart)),
            )
        )
    return _ranked(costs, loaded, in_sync)


def _follows(
    broker: int,
    before: Replica,
    after: Replica,
    leader: Replica,
    followed: Followed,
    in_sync_at_last: bool,
) -> Follows:
    cut = [record for record in before.records if record not in after.records]
    return Follows(
        follower=broker,
        log_end=before.end,
        truncation=followed.truncation,
        rounds=len(followed.rounds),
        records_cut=len(cut),
        silent_divergence=None if followed.outcome == "restarted" else content_fork(after, leader),
        is_needless=any(record in leader.records for record in cut),
        gets_in_sync=in_sync_at_last,
    )


def _ranked(
    costs: list[Costs], replicas: Mapping[int, Replica], in_sync: Collection[int] | None
) -> list[Costs]:
    """Section 4.9, without transactions, damage and consumer groups, which the model lacks."""

    def order(each: Costs) -> tuple[int, ...]:
        replica = replicas[each.candidate]
        return (
            each.known + each.apart[0],
            each.possible + each.apart[1],
            in_sync is not None and each.candidate not in in_sync,
            any(one.silent_divergence is not None for one in each.followers),
            each.lost + each.apart[2],
            sum(not one.gets_in_sync for one in each.followers),
            -max((record.leader_epoch for record in replica.records[-1:]), default=-1),
            -replica.end,
            each.candidate,
        )

    return [replace(each, rank=rank) for rank, each in enumerate(sorted(costs, key=order), 1)]
