"""A partition in plain Python, independent of the audits.

Transcribed from replica-divergence.md, section 4.7. Replicas are lists of records. The rules for
leaders and followers (4.7), lost records (4.8), committed records (1.3) and the best candidate
(4.9) are written as in that text: slow but obvious.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Record(NamedTuple):
    """The identity of a record (section 4.8), and the last offset of its batch."""

    offset: int
    leader_epoch: int
    content: str
    batch_last: int


@dataclass
class Replica:
    """A log after its broker's start; ``epochs`` are (leader epoch, start offset)."""

    records: list[Record] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)
    high_watermark: int = 0
    start: int = 0
    end: int = 0
    cleaner_offset: int = 0
    below: list[Record] = field(default_factory=list)
    """Records of the first batch on disk that are below the log start: nobody can read them."""

    def stopped(self) -> Replica:
        """The replica on disk: a file cut inside a batch ends where that batch began.

        Seed 1098200: until its next start, a follower continues from the offset of the cut.
        """
        on_disk = self.copy()
        on_disk.end = max([record.batch_last + 1 for record in self.records], default=self.start)
        return on_disk

    def copy(self) -> Replica:
        """A copy that can be changed; records are immutable."""
        return replace(
            self, records=list(self.records), epochs=list(self.epochs), below=list(self.below)
        )

    def assign(self, leader_epoch: int, start: int) -> None:
        """Add an entry; remove those that contradict it, also an older one with the same start."""
        if self.epochs and self.epochs[-1][0] == leader_epoch and self.epochs[-1][1] <= start:
            return
        while self.epochs and (self.epochs[-1][0] >= leader_epoch or self.epochs[-1][1] >= start):
            self.epochs.pop()
        self.epochs.append((leader_epoch, start))

    def append(self, records: list[Record]) -> None:
        """Append one batch; a new leader epoch gets an entry."""
        self.assign(records[0].leader_epoch, records[0].offset)
        self.records += records
        self.end = records[-1].batch_last + 1

    def truncate(self, target: int) -> None:
        """Remove whole batches whose last offset reaches the target, and entries at or above it."""
        self.records = [record for record in self.records if record.batch_last < target]
        self.below = [record for record in self.below if record.batch_last < target]
        self.epochs = [(epoch, start) for epoch, start in self.epochs if start < target]
        self.end, self.start = min(self.end, target), min(self.start, target)
        self.high_watermark = min(self.high_watermark, target)

    def restart(self, start: int) -> None:
        """Drop everything and begin at the leader's log start."""
        self.truncate(self.start)
        self.start = self.end = self.high_watermark = start

    def start_at(self, start: int) -> None:
        """Raise the log start; the leader epoch that applies there begins there."""
        on_disk = [*self.below, *self.records]
        self.records = [record for record in self.records if record.offset >= start]
        self.below = [r for r in on_disk if r.offset < start <= r.batch_last]
        self.start = start
        below = [epoch for epoch, begin in self.epochs if begin <= start]
        above = [(epoch, begin) for epoch, begin in self.epochs if begin > start]
        self.epochs = ([(below[-1], start)] if below else []) + above

    def load(self, *, recovers: bool) -> None:
        """The start of a broker on a sound log (4.6)."""
        entries, self.epochs = self.epochs, []
        for epoch, start in entries:
            self.assign(epoch, start)
        for record in self.records if recovers else ():
            if record.leader_epoch > (self.epochs[-1][0] if self.epochs else -1):
                self.assign(record.leader_epoch, record.offset)
        self.epochs = [(epoch, start) for epoch, start in self.epochs if start < self.end]
        below = [epoch for epoch, start in self.epochs if start <= self.start]
        above = [(epoch, start) for epoch, start in self.epochs if start > self.start]
        self.epochs = ([(below[-1], self.start)] if below else []) + above

    def epoch_at(self, offset: int) -> int | None:
        """The leader epoch by the batches, or by the entries if there is no record (4.3)."""
        for record in self.records:
            if record.offset == offset:
                return record.leader_epoch
        return next((epoch for epoch, start in reversed(self.epochs) if start <= offset), None)


def end_for(epochs: list[tuple[int, int]], end: int, asked: int) -> tuple[int, int] | None:
    """LeaderEpochFileCache.endOffsetFor as in 4.7; None is the undefined answer."""
    if not epochs:
        return None
    if asked == epochs[-1][0]:
        return asked, end
    newer = [start for epoch, start in epochs if epoch > asked]
    older = [epoch for epoch, _ in epochs if epoch <= asked]
    return ((older[-1] if older else asked), newer[0]) if newer else None


class Round(NamedTuple):
    asked: int
    answer: tuple[int, int]
    target: int


class Followed(NamedTuple):
    """The result; ``truncation`` is the lowest offset truncated to, or else the old log end."""

    rounds: list[Round]
    truncation: int
    outcome: str


def follow(leader: Replica, follower: Replica) -> Followed:
    """Truncate ``follower`` in place: the rule from 2.7 on."""
    rounds: list[Round] = []
    first_start, first_end = follower.start, follower.end
    if not follower.epochs and follower.records:
        follower.truncate(min(follower.high_watermark, follower.end))
    while True:
        last = follower.epochs[-1][0] if follower.epochs else None
        answer = None if last is None else end_for(leader.epochs, leader.end, last)
        if last is None or answer is None or follower.end < leader.start:
            outcome = "unchecked" if last is None else "loops"
            if leader.end < follower.end:
                follower.truncate(leader.end)
                outcome = "ended"
            elif leader.start > follower.end:
                follower.restart(leader.start)
                return Followed(rounds, first_start, "restarted")
            return Followed(rounds, min(first_end, follower.end), outcome)
        epoch, end = answer
        if epoch == last and end >= follower.end:
            return Followed(rounds, min(first_end, follower.end), "accepted")
        own = end_for(follower.epochs, follower.end, epoch)
        if own is None:
            target = min(end, follower.end)
        elif own[0] != epoch:
            target = min(own[1], follower.end)
        else:
            target = min(own[1], end, follower.end)
        rounds.append(Round(last, answer, target))
        follower.truncate(target)


def gets_in_sync(leader: Replica, follower: Replica, followed: Followed) -> bool:
    """Whether a follower that has truncated keeps what it fetches: 4.7, from 2.7 on."""
    if followed.outcome == "loops":
        return False
    if follower.end < leader.start:
        return True
    fetched = [record for record in leader.records if record.batch_last >= follower.end]
    cut = [each for each in (*leader.below, *fetched) if each.batch_last >= follower.end]
    if follower.start < follower.end and any(each.offset < follower.end for each in cut):
        return False  # it refuses a batch that begins below its end
    full = follower.copy()
    for last in sorted({record.batch_last for record in fetched}):
        full.append([record for record in fetched if record.batch_last == last])
    return not fetched or not follow(leader, full).rounds


def follow_to_high_watermark(leader: Replica, follower: Replica) -> Followed:
    """The rule before 0.11; afterwards a fetch beyond the leader's end truncates again."""
    end = follower.end
    follower.truncate(min(follower.high_watermark, follower.end))
    if leader.end < follower.end:
        follower.truncate(leader.end)
    return Followed([], min(end, follower.end), "high watermark")


def elected(replica: Replica, new_epoch: int) -> Replica:
    """A copy that leads; it begins with its own entry."""
    leader = replica.copy()
    leader.assign(new_epoch, leader.end)
    return leader


def content_fork(one: Replica, other: Replica) -> int | None:
    """The first offset of the common range at which the two hold different records."""
    first, stop = max(one.start, other.start), min(one.end, other.end)
    mine = {(r.offset, r.leader_epoch, r.content) for r in one.records if first <= r.offset < stop}
    theirs = {
        (r.offset, r.leader_epoch, r.content) for r in other.records if first <= r.offset < stop
    }
    return min((offset for offset, _, _ in mine ^ theirs), default=None)
