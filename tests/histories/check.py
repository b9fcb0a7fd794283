"""Compares the audits of one random history's disks with the model and the truth."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from fixtures.builder import cluster
from kafkalog_reader.audits.partition.auditor import audit_partition
from kafkalog_reader.audits.tables.findings import findings_of
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from tests.histories.in_memory import audited, described
from tests.model.cluster import History, Temper
from tests.model.elections import committed, elections, hw_low, superseded
from tests.model.notation import loaded
from tests.model.partition import content_fork

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.audits.comparison.committed import CommitBounds
    from kafkalog_reader.audits.election.candidates import Election
    from tests.model.elections import Costs
    from tests.model.partition import Replica


def history_of(seed: int, *, retention: bool = False) -> History:
    """A history, whose temper, length and number of brokers also come from the seed."""
    random = Random(seed)
    temper = Temper(
        unclean_elections=random.random() < 0.6,
        tails_are_lost=random.random() < 0.4,
        retention=retention,
        epoch_step=random.choice([1, 2]),
    )
    brokers = random.choice([2, 3, 3, 3, 4])
    return History(seed, temper, brokers=brokers).run(random.choice([20, 60, 150, 300]))


def differences(seed: int) -> list[str]:
    """Yield what is wrong with the audits of one history in memory; it should be nothing.

    Checked three times: with intact epoch files, with one broken on disk, and with one broken
    after the start, as a running broker has it.
    """
    history = history_of(seed)
    stopped = {node: broker.replica.stopped() for node, broker in history.brokers.items()}
    started = loaded(stopped, recovers=False)
    verdict, bounds, held = audited(stopped, started)
    wrong = [*_against_model(stopped, elections(stopped, started), verdict.value, held)]
    wrong += _against_truth(history, stopped, bounds, held)
    wrong += [f"{silent} with intact epoch files" for silent in _misled(held)]
    random = Random(seed)
    for recovers in (False, True):
        broken = {node: replica.copy() for node, replica in stopped.items()}
        what = break_epochs(broken, random)
        started = loaded(broken, recovers=recovers)
        verdict, _, held = audited(broken, started)
        wrong += [
            f"{what}: {each}"
            for each in _against_model(broken, elections(broken, started), verdict.value, held)
        ]
    return [f"seed {seed}: {each}" for each in wrong]


def differences_of_files(seed: int) -> list[str]:
    """Yield the same for one audit of real files, with retention and some clean shutdowns."""
    random = Random(seed)
    history = history_of(seed, retention=random.random() < 0.5)
    stopped = {node: broker.replica.stopped() for node, broker in history.brokers.items()}
    what = break_epochs(stopped, random) if random.random() < 0.5 else ""
    for replica in stopped.values():
        delete_records(replica, random)
    clean = [node for node in stopped if random.random() < 0.5]
    started = {
        node: loaded({node: each}, recovers=node not in clean)[node]
        for node, each in stopped.items()
    }
    with tempfile.TemporaryDirectory() as root:
        cluster(Path(root), {node: described(each) for node, each in stopped.items()}, clean=clean)
        ((_, directories),) = discover([root]).topic_partitions(ReadRequest())
        audit = audit_partition(directories)
        costs = elections(stopped, started)
        wrong = [*_against_model(stopped, costs, audit.relation.value, audit.elections)]
        highest = max(each.high_watermark for each in stopped.values())
        is_missing = highest > max(each.end for each in stopped.values())
        if (audit.verdict.value == "committed-records-missing") is not is_missing:
            wrong.append(f"verdict {audit.verdict.value}, the greatest high watermark is {highest}")
        if not what:
            wrong += _against_truth(
                history, stopped, [each.bounds for each in audit.replicas], audit.elections
            )
        codes = {each.code for each in findings_of(audit)}
    followers = [each for cost in costs for each in cost.followers]
    for code, fires in (
        ("KL-517", any(each.silent_divergence is not None for each in followers)),
        ("KL-518", any(each.is_needless for each in followers)),
    ):
        if (code in codes) is not fires:
            wrong.append(f"{code} {'missing' if fires else 'without reason'}")
    return [f"seed {seed} in files, {what or 'intact'}: {each}" for each in wrong]


def delete_records(replica: Replica, random: Random) -> None:
    """Sometimes raise the log start below the high watermark, possibly into a batch.

    It is the last event before all brokers stop; some replicas may not know of it.
    """
    if random.random() < 0.5:
        first, stop = replica.start + 1, min(replica.high_watermark, replica.end)
        if first <= stop:
            replica.start_at(random.randint(first, stop))


def break_epochs(replicas: Mapping[int, Replica], random: Random) -> str:
    """Break the epoch file of one replica; return a description."""
    node = random.choice(list(replicas))
    epochs = replicas[node].epochs
    how = random.choice(["file lost", "entry lost", "entry shifted", "entry invented"])
    if how == "file lost":
        epochs.clear()
    elif how == "entry invented":
        greatest = max((epoch for epoch, _ in epochs), default=0)
        entry = (random.randint(0, greatest + 3), random.randint(0, replicas[node].end + 1))
        epochs.insert(random.randint(0, len(epochs)), entry)
    elif epochs:
        number = random.randrange(len(epochs))
        epoch, start = epochs.pop(number)
        if how == "entry shifted":
            epochs.insert(number, (epoch, max(0, start + random.choice([-2, -1, 1, 2]))))
    normalised = replicas[node].copy()
    normalised.epochs = []
    for epoch, start in epochs:  # a broker loads line by line
        normalised.assign(epoch, start)
    replicas[node].epochs = normalised.epochs
    return f"epoch file of {node}: {how}"


def _against_model(
    stopped: Mapping[int, Replica],
    costs: Sequence[Costs],
    verdict: str,
    held: Sequence[Election],
) -> Iterator[str]:
    if verdict != (expected := _verdict(list(stopped.values()))):
        yield f"verdict {verdict}, not {expected}"
    rows = [
        (
            each.candidate.broker_id,
            each.rank,
            each.lost.total,
            each.lost.known,
            each.lost.possible,
            (each.kept_apart.known, each.kept_apart.possible, each.kept_apart.total),
            each.kind.value,
            [
                (
                    outcome.follower.broker_id,
                    outcome.log_end_offset,
                    outcome.truncation_offset,
                    len(outcome.following.rounds),
                    outcome.records_cut,
                    outcome.silent_divergence,
                    outcome.is_needless,
                    outcome.following.outcome.is_in_sync,
                )
                for outcome in each.followers
            ],
        )
        for each in held
    ]
    wanted = [
        (
            each.candidate,
            each.rank,
            each.lost,
            each.known,
            each.possible,
            each.apart,
            each.kind,
            [
                (
                    one.follower,
                    one.log_end,
                    one.truncation,
                    one.rounds,
                    one.records_cut,
                    one.silent_divergence,
                    one.is_needless,
                    one.gets_in_sync,
                )
                for one in each.followers
            ],
        )
        for each in costs
    ]
    for row, want in zip(rows, wanted, strict=True):
        if row != want:
            yield f"election {row}, not {want}"


def _verdict(replicas: Sequence[Replica]) -> str:
    pairs = [(one, other) for one in replicas for other in replicas if one is not other]
    if any(content_fork(*pair) is not None for pair in pairs):
        return "forked"
    if any(superseded(replica, replicas) < replica.end for replica in replicas):
        return "pending-truncation"
    return "lagging" if len({replica.end for replica in replicas}) > 1 else "consistent"


def _against_truth(
    history: History,
    stopped: Mapping[int, Replica],
    bounds: Sequence[CommitBounds],
    held: Sequence[Election],
) -> Iterator[str]:
    """Compare what the audits call committed with the truth, if all elections were clean."""
    if not history.temper.is_clean or history.epochs_were_forgotten:
        return
    for (node, replica), bound in zip(stopped.items(), bounds, strict=True):
        end = history.committed_end(node)
        if not bound.known <= max(end, replica.start) <= max(bound.possible, replica.start):
            yield f"broker {node}: committed to {end}, said {bound.known} to {bound.possible}"
        if bound.superseded is not None and bound.superseded < bound.known:
            yield f"broker {node}: KL-514 although every election was clean"
        assert hw_low(replica) == bound.known
    state_of = committed(stopped)
    gone = {"only if unclean", "not"}
    for record in history.acknowledged:
        if any(record in each.records for each in stopped.values()) and state_of(record) in gone:
            yield f"{record} was acknowledged and is said not to be committed"
    for election in held:
        kept = {r for broker in history.brokers.values() for r in broker.replica.records}
        lost = {r for each in election.lost_ranges for r in kept
                if each.first_offset <= r.offset < each.next_offset
                and r in stopped[each.replicas[0].broker_id].records}  # fmt: skip
        if election.kind.value == "clean" and lost & history.acknowledged:
            yield (
                f"candidate {election.candidate.name} is called clean and loses acknowledged "
                "records"
            )


def _misled(held: Sequence[Election]) -> Iterator[str]:
    """Where the invariant of 4.7 fails: the loop ends at the content fork, not above or below."""
    for election in held:
        for outcome in election.followers:
            if outcome.silent_divergence is not None:
                yield f"{outcome.follower.name} differs from {election.candidate.name} afterwards"
            if outcome.is_needless:
                yield f"{outcome.follower.name} cuts what {election.candidate.name} has"
