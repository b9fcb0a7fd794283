"""Which ``leader-epoch-checkpoint`` files findings advise to write, and where that helps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    COMPARE_REPLICAS,
    NOTHING_TO_DO,
    WRITE_EPOCHS,
)
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.replica_rules import FOLLOWER_MAY_LOOP
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.election.election_loss import lost_ranges
from kafkalog_reader.audits.election.follow import elected
from kafkalog_reader.audits.election.follower_outcome import follower_outcome
from kafkalog_reader.audits.partition.epoch_rows import are_rebuilt, epoch_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kafkalog_reader.audits.election.candidate import Candidate
    from kafkalog_reader.audits.election.candidates import Election
    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.epoch_rows import EpochRows
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

EPOCH_FILES: Final = "epochFilesOf"
"""In evidence: the replicas whose file is to be written, where it may be another one's."""
_REBUILT: Final = codes_with(Role.REPAIRED_BY_RECOVERY)
_OF_ONE_LEADER: Final = codes_with(Role.ONE_LEADER)


def advised_epoch_rows(
    audit: PartitionAudit, found: Iterable[Finding], severities: str
) -> dict[ReplicaAudit, EpochRows]:
    """The files that findings of some severities advise to write."""
    asked = dict.fromkeys(
        replica
        for each in found
        if each.severity in severities and WRITE_EPOCHS in each.actions and may_happen(audit, each)
        for replica in files_to_write(audit, each)
    )
    rows = ((each, epoch_rows(audit, each)) for each in audit.replicas if each in asked)
    return {each: found_rows for each, found_rows in rows if found_rows is not None}


def without_rebuilt(audit: PartitionAudit, each: Finding) -> Finding:
    """KL-302 or KL-406 without urgency where the next start writes the file by itself.

    Brokers and controllers read the metadata log from its beginning at every start (Kafka 4.0,
    KafkaMetadataLog: recoveryPoint 0, lastShutdownClean false).
    """
    if each.code not in _REBUILT or WRITE_EPOCHS not in each.actions:
        return each
    own = (r for r in audit.replicas if r.directory == each.directory)
    if not (audit.is_metadata or any(are_rebuilt(audit, replica) for replica in own)):
        return each
    message = f"{each.message}; the next start reads the log again, and writes it"
    return replace(each, severity="L", message=message, actions=(NOTHING_TO_DO,))


def with_epoch_actions(audit: PartitionAudit, each: Finding) -> Finding:
    """A finding with the files to write, or without that advice where it changes nothing."""
    if WRITE_EPOCHS not in each.actions:
        return each
    files = files_to_write(audit, each)
    is_own = each.directory is None or any(
        replica.directory == each.directory for replica in audit.replicas
    )
    if not is_own or any(epoch_rows(audit, replica) is not None for replica in files):
        if each.actions[0] == WRITE_EPOCHS and not each.repairs:
            rows = ((replica, epoch_rows(audit, replica)) for replica in files)
            repairs = tuple(found.repair(replica) for replica, found in rows if found is not None)
            each = replace(each, repairs=repairs)
        if each.directory is not None and not _names_pair(each):
            return each
        names = ", ".join(replica.name for replica in files)
        return replace(each, evidence=(*each.evidence, (EPOCH_FILES, names)))
    kept = tuple(action for action in each.actions if action != WRITE_EPOCHS)
    instead = COMPARE_REPLICAS if each.code == FOLLOWER_MAY_LOOP else CHECK_HARDWARE
    return replace(each, actions=kept or (instead,))


def may_happen(audit: PartitionAudit, each: Finding) -> bool:
    """Whether a finding is about the leader to be elected, or about no particular leader.

    Problems under another leader need no action, least of all moving copies aside.
    """
    leader = dict(each.evidence).get("leader") if each.code in _OF_ONE_LEADER else None
    best = audit.elections[0].candidate if audit.elections else None
    return leader is None or best is None or leader == best.name


def files_to_write(audit: PartitionAudit, each: Finding) -> tuple[ReplicaAudit, ...]:
    """The copies whose epoch file a finding advises to write; none if that changes nothing.

    The file that misleads a follower may be the leader's (replica-divergence.md, cases M3 and M10):
    of KL-517 and KL-521 each file is tried, then both, by the truncation that follows. A finding
    about no copy in particular is about every file that the batches contradict.
    """
    if each.directory is None:
        return tuple(r for r in audit.replicas if epoch_rows(audit, r) is not None)
    own = [r for r in audit.replicas if r.directory == each.directory]
    if not _names_pair(each):
        return tuple(own)
    names = dict(each.evidence)
    pair = [r for name in ("leader", "follower") for r in audit.replicas if r.name == names[name]]
    if len(pair) != 2 or not isinstance(audit.comparison, Comparison):  # two copies of one name
        return tuple(own)
    leader, follower = pair
    tried = ((leader,), (follower,), (leader, follower))
    return next((files for files in tried if _is_cured(audit, leader, follower, files)), ())


def _names_pair(each: Finding) -> bool:
    """Whether a finding is about a follower and its leader; either file may be the wrong one."""
    return {"leader", "follower"} <= dict(each.evidence).keys()


def once_written(
    audit: PartitionAudit, election: Election, files: Collection[ReplicaAudit]
) -> Election:
    """The election after some epoch files were written as the batches have them."""
    comparison = audit.comparison
    assert isinstance(comparison, Comparison)
    written = {each.candidate: _written(audit, each) or each.candidate for each in files}
    leading = written.get(election.candidate) or election.candidate
    if leading.log is None or not written:
        return election
    leader = elected(leading.log, election.leader_epoch)
    followers = tuple(
        replace(
            follower_outcome(
                written.get(each.follower) or each.follower,
                leading,
                leader,
                comparison,
                audit.rules,
            ),
            follower=each.follower,
        )
        for each in election.followers
    )
    lost, apart = lost_ranges(leading, followers, audit.candidates, comparison)
    return replace(election, followers=followers, lost_ranges=lost, apart_ranges=apart)


def _is_cured(
    audit: PartitionAudit,
    leader: ReplicaAudit,
    follower: ReplicaAudit,
    files: tuple[ReplicaAudit, ...],
) -> bool:
    """Whether the follower truncates all that differs once these files are written."""
    election = next((e for e in audit.elections if e.candidate == leader.candidate), None)
    if election is None or any(_written(audit, each) is None for each in files):
        return False
    outcomes = once_written(audit, election, files).followers
    return any(
        each.follower == follower.candidate
        and each.silent_divergence is None
        and each.following.outcome.is_in_sync
        for each in outcomes
    )


def _written(audit: PartitionAudit, replica: ReplicaAudit) -> Candidate | None:
    """The replica after its start with the file as the batches have it; None if not known."""
    found, candidate = epoch_rows(audit, replica), replica.candidate
    if found is None or candidate is None or candidate.log is None:
        return None
    return replace(candidate, log=found.loaded(candidate.log))
