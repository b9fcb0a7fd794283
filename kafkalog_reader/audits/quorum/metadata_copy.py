"""One copy of the metadata log as its controller will see it after its next start.

Source: Kafka 4.4, KafkaRaftLog (``recoverSnapshots``, ``truncateToLatestSnapshot``), QuorumState.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.audits.election.node_load import is_controllers, node_load
from kafkalog_reader.audits.quorum.metadata_batches import MetadataBatches, no_batches, read_batches
from kafkalog_reader.audits.quorum.voter_set import (
    VoterSet,
    VoterSource,
    configured_voters,
    recorded_voters,
)
from kafkalog_reader.audits.recovery.metadata_snapshot import SnapshotEnd, newest_snapshot
from kafkalog_reader.errors import CorruptLogError, LogPosition, UnsupportedFormatError
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.kraft_message import parse_kraft_message
from kafkalog_reader.format.quorum_state import QuorumState, parse_quorum_state
from kafkalog_reader.io.directories import PartitionDirectory
from kafkalog_reader.io.names import METADATA_TOPIC, QUORUM_STATE, shown
from kafkalog_reader.io.partition_directory import metadata_snapshot_ids
from kafkalog_reader.io.small_file import METADATA_LIMIT, read_if_present
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.record_rows import read_slice
from kafkalog_reader.tables.records import RecordsTable
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.recovery.node_releases import NodeReleases
    from kafkalog_reader.io.directories import LogDirectory
    from kafkalog_reader.scan.segment_slice import SegmentSlice

_REQUEST: Final = ReadRequest(
    columns=("offset", "leaderEpoch", "controlType", "value"), include_control_records=True
)
_SCHEMA: Final = RecordsTable().projected(_REQUEST)
_KRAFT_TYPES: Final = (
    ControlType.KRAFT_VERSION.name, ControlType.KRAFT_VOTERS.name, ControlType.LEADER_CHANGE.name,
)  # fmt: skip


class LogEnd(NamedTuple):
    """How far a log reaches, as votes compare it: the last leader epoch first."""

    leader_epoch: int
    offset: int


class StoredRecord(NamedTuple):
    """A record of the log or of a snapshot."""

    offset: int
    leader_epoch: int
    control_type: str | None
    value: bytes | None


@dataclass(frozen=True, kw_only=True)
class MetadataCopy:
    """One copy.

    Attributes:
        state: of ``quorum-state``; None if there is no such file.
        batches: what a start keeps of the log.
        snapshot: (end offset, leader epoch) of the newest snapshot; None without one.
        voters: the newest set that the copy names; None if none.
        kraft_version: 1 if voters are in the log (KIP-853).
        refusal: why a controller does not start with it; empty if nothing here keeps it from it.
        is_missing: there is no metadata log in the log directory.
        snapshot_problem: place and kind of damage of the newest snapshot; empty if it is whole.
        lacks: why its node starts and knows less than it should; empty if it knows all.
    """

    directory: PartitionDirectory
    state: QuorumState | None
    batches: MetadataBatches
    snapshot: tuple[int, int] | None
    voters: VoterSet | None
    kraft_version: int
    refusal: str
    is_missing: bool = False
    snapshot_problem: str = ""
    lacks: str = ""

    @property
    def node_id(self) -> int | None:
        """Of the controller or broker; None if unknown."""
        return self.directory.log_directory.broker_id

    @property
    def directory_id(self) -> str | None:
        """``directory.id`` of its log directory."""
        return self.directory.log_directory.directory_id

    @cached_property
    def is_truncated_to_snapshot(self) -> bool:
        """Whether a start drops the whole log, because the newest snapshot is newer."""
        if self.snapshot is None:
            return False
        end, leader_epoch = self.snapshot
        last = self.batches.last_leader_epoch or 0
        return (leader_epoch, end) > (last, self.batches.next_offset)

    @cached_property
    def end(self) -> LogEnd:
        """The end of the log after the next start; (0, 0) if it is empty."""
        last = self.batches.last_leader_epoch
        if self.snapshot is not None and (self.is_truncated_to_snapshot or last is None):
            return LogEnd(self.snapshot[1], self.snapshot[0])
        return LogEnd(last or 0, self.batches.next_offset)

    @property
    def is_empty(self) -> bool:
        """Whether it holds no record, as after formatting."""
        return self.end.offset == 0

    @property
    def committed_low(self) -> int:
        """Records below are committed: snapshots and log starts are never above the high watermark.

        Source: KafkaRaftLog#createNewSnapshot.
        """
        return max(self.batches.start or 0, self.snapshot[0] if self.snapshot else 0)

    def records(self, first: int = 0) -> Iterator[StoredRecord]:
        """The records of the log from an offset on, in order.

        Raises:
            LocatedError: a record contradicts the format.
        """
        for each in self.batches.slices:
            yield from (record for record in _records(each) if record.offset >= first)

    def snapshot_records(self) -> Iterator[StoredRecord]:
        """The records of the newest snapshot that a start loads; their offsets are not the log's.

        Raises:
            LocatedError: a record contradicts the format.
        """
        newest = None if self.is_missing else newest_snapshot(self.directory)
        if newest is not None:
            yield from _records(newest.loaded)


def read_metadata_copy(directory: PartitionDirectory) -> MetadataCopy:
    """Read one copy.

    Raises:
        LocatedError: a control record is damaged.
        UnreadableFileError: a file cannot be opened or read.
    """
    state, refusal = _quorum_state(directory)
    batches = read_batches(directory)
    ids = metadata_snapshot_ids(directory)
    snapshot = ids[-1] if ids else None
    bare = MetadataCopy(
        directory=directory, state=state, batches=batches, snapshot=snapshot, voters=None,
        kraft_version=0, refusal="",
    )  # fmt: skip
    version, voters = _voters(bare)
    if version == 0 and state is not None and state.voters:
        voters = configured_voters(state.voters, VoterSource.QUORUM_STATE)
    root = directory.log_directory
    if not refusal and root.meta_version is None and root.clean_shutdown is not None:
        refusal = f"{shown(root.path)}: no readable meta.properties"
    start = batches.start or 0
    if not refusal and start and (snapshot is None or snapshot[0] < start):
        refusal = f"its log begins at offset {start:,}, and no snapshot has the state before it"
    newest = newest_snapshot(directory)
    is_damaged = newest is not None and newest.end is not SnapshotEnd.WHOLE
    return MetadataCopy(
        directory=directory, state=state, batches=batches, snapshot=snapshot, voters=voters,
        kraft_version=version, refusal=refusal,
        snapshot_problem=f"{newest.where}: {newest.problem}" if newest and is_damaged else "",
    )  # fmt: skip


def as_loaded(copy: MetadataCopy, releases: NodeReleases) -> MetadataCopy:
    """A copy with what its node's replay says: whether it starts, and what it knows then."""
    is_voter = copy.voters is not None and copy.voters.voter_at(copy.node_id, copy.directory_id)
    load = node_load(
        copy.directory,
        is_controller=bool(is_voter) or is_controllers(copy.directory, None),
        releases=releases,
    )
    return replace(copy, refusal=copy.refusal or load.ends, lacks=load.lacks)


def missing_log(root: LogDirectory) -> MetadataCopy:
    """That of a log directory without a metadata log: its controller starts with an empty one."""
    name = f"{METADATA_TOPIC}-0"
    directory = PartitionDirectory(
        path=posixpath.join(root.path, name),
        log_directory=root, topic=METADATA_TOPIC, partition=0,
    )  # fmt: skip
    return MetadataCopy(
        directory=directory, state=None, batches=no_batches(), snapshot=None, voters=None,
        kraft_version=0, refusal="", is_missing=True,
    )  # fmt: skip


def _quorum_state(directory: PartitionDirectory) -> tuple[QuorumState | None, str]:
    """What ``quorum-state`` says, and why a controller does not start with it."""
    path = posixpath.join(directory.path, QUORUM_STATE)
    content = read_if_present(path, METADATA_LIMIT, context=directory.context)
    if content is None:
        return None, ""
    try:
        return parse_quorum_state(content, LogPosition(shown(path))), ""
    except (CorruptLogError, UnsupportedFormatError) as error:
        return None, str(error)


def _voters(copy: MetadataCopy) -> tuple[int, VoterSet | None]:
    """kraft.version and the newest voters of the snapshot and the log after it."""
    version = 0
    named: VoterSet | None = None
    elected: VoterSet | None = None
    in_snapshot = ((None, each) for each in copy.snapshot_records())
    in_log = ((each.offset, each) for each in copy.records())
    for stream in (in_snapshot, () if copy.is_truncated_to_snapshot else in_log):
        for offset, record in stream:
            if record.control_type not in _KRAFT_TYPES:
                continue
            kind = ControlType[record.control_type]
            where = LogPosition(shown(copy.directory.path), offset=record.offset)
            message = parse_kraft_message(kind, record.value, where)
            if kind is ControlType.KRAFT_VERSION:
                version = message.kRaftVersion
            elif kind is ControlType.KRAFT_VOTERS:
                named = recorded_voters(message, offset)
            else:
                ids = (each.voterId for each in message.voters)
                elected = configured_voters(ids, VoterSource.LEADER_CHANGE)
    return version, named if version and named is not None else elected


def _records(segment_slice: SegmentSlice) -> Iterator[StoredRecord]:
    if segment_slice.stop == 0:
        return
    for rows in read_slice(segment_slice, _SCHEMA, _REQUEST, Damage(Mode.FAILFAST)):
        columns = (rows[name].to_pylist() for name in _SCHEMA.names)
        yield from map(StoredRecord._make, zip(*columns, strict=True))
