"""A simulated cluster with a random history of one partition, in plain Python.

Leaders are elected cleanly or not, isolated leaders continue to write, followers lag, brokers crash
and restart, some without their unflushed tail. The simulation knows what was committed and
acknowledged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from tests.model.partition import Record, Replica, content_fork, elected, follow


@dataclass(frozen=True)
class Temper:
    """The unusual events that may happen in a history."""

    unclean_elections: bool = False
    tails_are_lost: bool = False
    retention: bool = False
    epoch_step: int = 1
    """Step by which the controller raises the leader epoch: 2 as in old controllers."""

    @property
    def is_clean(self) -> bool:
        """Whether every leader held the committed records, so that no acks=all record is lost."""
        return not (self.unclean_elections or self.tails_are_lost)


@dataclass
class Broker:
    """``replica.high_watermark`` is the row of the checkpoint, ``high_watermark`` the true one."""

    replica: Replica = field(default_factory=Replica)
    high_watermark: int = 0
    is_up: bool = True
    is_connected: bool = True
    leads: int | None = None
    follows: tuple[int, int] | None = None
    """The leader and its leader epoch; None until the broker learns them."""
    has_truncated: bool = False
    epoch_start: int = 0
    fetched: dict[int, int] = field(default_factory=dict)
    in_sync: set[int] = field(default_factory=set)
    flushed: int = 0
    was_stopped: bool = False
    """Whether it was shut down cleanly, so that its files are whole and need no recovery."""
    is_row_stale: bool = False
    """Whether the log was truncated below the checkpoint's row, which was not written since."""


class History:
    """The history of one partition: call ``run``, then examine its brokers and committed records.

    ``epochs_were_forgotten``: a leader that had not written was restarted, and its start dropped
    its entry (4.6). Then no disk has its leader epoch, and the greatest remaining epoch may be on a
    dead branch, so that the conclusions of 1.3 from the greatest epoch do not hold.
    """

    def __init__(self, seed: int, temper: Temper, *, brokers: int = 3) -> None:
        self.random = Random(seed)
        self.temper = temper
        self.brokers = {number: Broker() for number in range(brokers)}
        self.leader: int | None = None
        self.leader_epoch = -temper.epoch_step
        self.in_sync = set(self.brokers)
        self.committed: set[Record] = set()
        self.acknowledged: set[Record] = set()
        self.awaited: set[Record] = set()
        self.written = 0
        self.epochs_were_forgotten = False
        self.elect()
        for number in self.brokers:
            self.tell(number)

    def run(self, steps: int) -> History:
        """Simulate this many steps, mostly writes and fetches; then all brokers stop."""
        actions = [
            *[self.write] * 6, *[self.fetch] * 12, *[self.tell] * 4, *[self.checkpoint] * 2,
            self.cut_off, self.heal, self.crash, *[self.restart] * 2, self.shrink, self.expand,
            self.flush, self.retain, self.stop, self.move,
        ]  # fmt: skip
        for _ in range(steps):
            if self.random.random() < 0.06:
                self.elect()
            else:
                self.random.choice(actions)(self.random.choice(list(self.brokers)))
        return self

    @property
    def replicas(self) -> dict[int, Replica]:
        """The replicas on the disks, as brokers load them if they are stopped now."""
        loaded = {}
        for number, broker in self.brokers.items():
            loaded[number] = broker.replica.stopped()
            loaded[number].load(recovers=False)
        return loaded

    def committed_end(self, number: int) -> int:
        """The offset up to which all records of a replica were committed."""
        replica = self.brokers[number].replica
        missing = (r.offset for r in replica.records if r not in self.committed)
        return min(missing, default=replica.end)

    def elect(self) -> None:
        alive = [n for n, broker in self.brokers.items() if broker.is_up and broker.is_connected]
        in_sync = [number for number in alive if number in self.in_sync]
        if in_sync:
            self.in_sync = set(in_sync)
            self.leader = self.random.choice(in_sync)
        elif alive and self.temper.unclean_elections:
            self.leader = self.random.choice(alive)
            self.in_sync = {self.leader}
        else:
            return
        self.leader_epoch += self.temper.epoch_step

    def tell(self, number: int) -> None:
        """The controller's message reaches a broker: the leader and its leader epoch."""
        broker = self.brokers[number]
        if not (broker.is_up and broker.is_connected) or self.leader is None:
            return
        if self.leader == number:
            if broker.leads != self.leader_epoch:
                broker.leads, broker.follows, broker.fetched = self.leader_epoch, None, {}
                broker.epoch_start = broker.replica.end
                broker.replica.assign(self.leader_epoch, broker.replica.end)
            broker.in_sync = set(self.in_sync)
            self.advance(broker)
        elif broker.follows != (self.leader, self.leader_epoch):
            broker.leads, broker.follows = None, (self.leader, self.leader_epoch)
            broker.has_truncated = False

    def write(self, number: int) -> None:
        """A client appends a batch to the broker that it assumes to be the leader."""
        broker = self.brokers[number]
        if not broker.is_up or broker.leads is None:
            return
        count = self.random.choice([1, 1, 1, 2, 3])
        base = broker.replica.end
        batch = [
            Record(base + delta, broker.leads, f"r{self.written + delta}", base + count - 1)
            for delta in range(count)
        ]
        self.written += count
        broker.replica.append(batch)
        if self.random.random() < 0.5:  # acks=all
            self.awaited.update(batch)
        self.advance(broker)

    def fetch(self, number: int) -> None:
        """A follower truncates once, then copies some batches; the leader learns its log end."""
        broker = self.brokers[number]
        if not (broker.is_up and broker.is_connected) or broker.follows is None:
            return
        leader = self.brokers[broker.follows[0]]
        if not (leader.is_up and leader.is_connected and leader.leads == broker.follows[1]):
            return
        if not broker.has_truncated and not self.truncate(broker, leader):
            return
        leader.fetched[number] = broker.replica.end
        self.advance(leader)
        if leader.replica.start > broker.replica.end:
            broker.replica.restart(leader.replica.start)
        behind = [r for r in leader.replica.records if r.offset >= broker.replica.end]
        for last in sorted({r.batch_last for r in behind})[: self.random.choice([0, 1, 1, 2, 5])]:
            broker.replica.append([r for r in behind if r.batch_last == last])
        broker.high_watermark = min(leader.high_watermark, broker.replica.end)
        if leader.replica.start > broker.replica.start:
            broker.replica.start_at(leader.replica.start)

    def truncate(self, broker: Broker, leader: Broker) -> bool:
        """Whether the follower may fetch now.

        It may not if its last leader epoch is later than all that the leader knows. A leader that
        was moved before it wrote has lost its own entry and refuses the fetch as out of range.
        """
        row, fork = broker.replica.high_watermark, content_fork(broker.replica, leader.replica)
        broker.replica.high_watermark = broker.high_watermark
        is_refused = follow(leader.replica, broker.replica).outcome in ("ended", "loops")
        is_same = content_fork(broker.replica, leader.replica) is None
        assert is_refused or is_same, (fork, broker, leader)
        broker.replica.high_watermark = row
        broker.is_row_stale |= row > broker.replica.end
        broker.high_watermark = min(broker.high_watermark, broker.replica.end)
        broker.flushed = min(broker.flushed, broker.replica.end)
        broker.has_truncated = not is_refused
        return broker.has_truncated

    def advance(self, leader: Broker) -> None:
        """Raise the high watermark of a leader to the smallest log end in its in-sync set."""
        own = next(number for number, broker in self.brokers.items() if broker is leader)
        ends = [leader.fetched.get(number, -1) for number in leader.in_sync if number != own]
        leader.high_watermark = max(leader.high_watermark, min([*ends, leader.replica.end]))
        committed = {r for r in leader.replica.records if r.offset < leader.high_watermark}
        self.committed |= committed
        self.acknowledged |= committed & self.awaited

    def shrink(self, number: int) -> None:
        """The leader removes a lagging follower from the ISR, if it reaches the controller."""
        leader = self._leader()
        if leader is None or number == self.leader or number not in self.in_sync:
            return
        if leader.fetched.get(number, -1) < leader.replica.end:
            self.in_sync.discard(number)
            leader.in_sync.discard(number)
            self.advance(leader)

    def expand(self, number: int) -> None:
        leader = self._leader()
        if leader is None or not self.brokers[number].is_up:
            return
        needed = max(leader.high_watermark, leader.epoch_start)
        if leader.fetched.get(number, -1) >= needed:
            self.in_sync.add(number)
            leader.in_sync.add(number)

    def _leader(self) -> Broker | None:
        if self.leader is None:
            return None
        leader = self.brokers[self.leader]
        knows_it = leader.leads == self.leader_epoch
        return leader if leader.is_up and leader.is_connected and knows_it else None

    def cut_off(self, number: int) -> None:
        self.brokers[number].is_connected = False

    def heal(self, number: int) -> None:
        self.brokers[number].is_connected = True

    def checkpoint(self, number: int) -> None:
        broker = self.brokers[number]
        if broker.is_up:
            broker.replica.high_watermark = broker.high_watermark
            broker.is_row_stale = False

    def flush(self, number: int) -> None:
        self.brokers[number].flushed = self.brokers[number].replica.end

    def crash(self, number: int) -> None:
        broker = self.brokers[number]
        broker.is_up, broker.leads, broker.follows = False, None, None
        if self.leader == number:
            self.leader = None
        if self.temper.tails_are_lost and self.random.random() < 0.5:
            batches = sorted({r.batch_last for r in broker.replica.records})
            unflushed = [last for last in batches if last >= broker.flushed]
            for last in reversed(unflushed[len(unflushed) - self.random.randint(0, 3) :]):
                row = broker.replica.high_watermark
                broker.replica.records = [r for r in broker.replica.records if r.batch_last < last]
                kept = broker.replica.records
                broker.replica.end = kept[-1].batch_last + 1 if kept else broker.replica.start
                broker.is_row_stale |= row > broker.replica.end

    def stop(self, number: int) -> None:
        """Shut down cleanly: everything is flushed, and the row is the high watermark."""
        broker = self.brokers[number]
        if not broker.is_up or self.random.random() < 0.5:
            return
        self.checkpoint(number)
        self.flush(number)
        broker.is_up, broker.leads, broker.follows = False, None, None
        broker.was_stopped = True
        if self.leader == number:
            self.leader = None

    def move(self, number: int) -> None:
        """Move to another disk: entries without records are not copied (T31)."""
        if self.random.random() < 0.9:
            return
        replica = self.brokers[number].replica
        before = list(replica.epochs)
        written = {record.leader_epoch for record in replica.records}
        replica.epochs = [entry for entry in before if entry[0] in written]
        self.epochs_were_forgotten |= replica.epochs != before

    def restart(self, number: int) -> None:
        broker = self.brokers[number]
        if not broker.is_up:
            broker.is_up = True
            before = broker.replica.epochs[-1:]
            broker.replica = broker.replica.stopped()
            broker.replica.load(recovers=not broker.was_stopped)
            broker.was_stopped = False
            self.epochs_were_forgotten |= broker.replica.epochs[-1:] != before
            row = min(broker.replica.high_watermark, broker.replica.end)
            broker.high_watermark = max(row, broker.replica.start)
            if self.leader == number:  # it led, and must be elected again
                self.leader = None

    def retain(self, number: int) -> None:
        """Delete old batches below the high watermark."""
        broker = self.brokers[number]
        if not self.temper.retention or self.random.random() < 0.5:
            return
        borders = [r.batch_last + 1 for r in broker.replica.records]
        borders = [border for border in borders if border <= broker.high_watermark]
        if borders:
            broker.replica.start_at(self.random.choice(borders))


def leading(replicas: dict[int, Replica], candidate: int) -> Replica:
    """A candidate after its election under a new leader epoch."""
    greatest = max((epoch for one in replicas.values() for epoch, _ in one.epochs), default=-1)
    records = (r.leader_epoch for one in replicas.values() for r in one.records)
    return elected(replicas[candidate], max([greatest, *records]) + 1)
