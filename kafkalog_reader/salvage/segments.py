"""A replica's readable batches as a partition directory that any cluster can take over.

Of transactions only what was committed is kept, as plain records; markers, and what was aborted or
never decided, go. So nothing refers to a producer or a coordinator of the cluster it came from, and
no open transaction can hold back the last stable offset of the one that receives it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from kafkalog_reader.errors import UnreadableFileError, UsageError
from kafkalog_reader.format.checkpoint import LeaderEpochEntry, build_leader_epoch_checkpoint
from kafkalog_reader.format.partition_metadata import PartitionMetadata, build_partition_metadata
from kafkalog_reader.format.producer_snapshot import build_producer_snapshot
from kafkalog_reader.io.names import LEADER_EPOCHS, PARTITION_METADATA, shown
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.salvage.left_out import NotedDamage
from kafkalog_reader.salvage.offset_coverage import OffsetCoverage
from kafkalog_reader.salvage.offset_order import OrderedBatches
from kafkalog_reader.salvage.segment_file import SegmentFile
from kafkalog_reader.salvage.standalone_batches import standalone_batches
from kafkalog_reader.salvage.transaction_outcomes import TransactionOutcomes
from kafkalog_reader.tables.control_type import ABORT, CONTROL
from kafkalog_reader.tables.damage import Damage
from kafkalog_reader.tables.index_file import TRANSACTION_INDEX_ENTRY, read_entries
from kafkalog_reader.tables.record_decoder import RecordDecoder
from kafkalog_reader.tables.request import Mode
from kafkalog_reader.tables.table import no_progress
from kafkalog_reader.tables.transaction_outcomes import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from kafkalog_reader.io.evidence import PartitionDirectory
    from kafkalog_reader.salvage.manifest import SalvagedPartition
    from kafkalog_reader.tables.batch_scan import BatchRun
    from kafkalog_reader.tables.record_decoder import DecodedRecords
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Progress

FOREIGN_TO_ALL = frozenset({"__cluster_metadata", "__transaction_state"})
"""Topics that say what one cluster is, and make no sense in another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """The cluster that takes the log over.

    Attributes:
        topic_ids: as it calls the topics.
        leader_epoch: under which it shall believe that everything was written; no greater than
            its own of the partition, so 0 always fits.
    """

    topic_ids: dict[str, str]
    leader_epoch: int = 0

    def topic_id(self, topic: str | None) -> str:
        """The id of a topic over there.

        Raises:
            UsageError: it was not said, or the topic cannot be taken over.
        """
        if topic in FOREIGN_TO_ALL:
            raise UsageError(f"{topic} belongs to its cluster: no other can take it over")
        if topic is None or topic not in self.topic_ids:
            raise UsageError(
                f"--topic-id {shown(topic or 'TOPIC')}=ID is missing: a broker sets aside a "
                "directory whose topic id is not the topic's"
            )
        return self.topic_ids[topic]


@dataclass(slots=True)
class _Survey:
    """What a first reading found out."""

    outcomes: TransactionOutcomes = field(default_factory=TransactionOutcomes)
    unreadable: dict[str, set[int]] = field(default_factory=dict)
    read: OffsetCoverage = field(default_factory=OffsetCoverage)


def write_segments(
    salvaged: SalvagedPartition,
    request: ReadRequest,
    receiver: Receiver,
    folder: Path,
    progress: Progress,
) -> None:
    """Write what can be read of one replica into ``folder``; ``salvaged`` is filled in.

    It is read twice: what a transaction came to stands behind its records.

    Raises:
        UnreadableFileError: the directory cannot be listed, or a file cannot be read.
    """
    topic_id = receiver.topic_id(salvaged.directory.topic)
    # A marker that decides a transaction may lie behind the offsets asked for.
    whole = replace(request, from_offset=None, to_offset=None)
    survey = _survey(salvaged, whole, progress)
    copy = _Copy(salvaged, receiver.leader_epoch, survey, folder)
    # Whatever is damaged was reported by the survey.
    silent = Damage(Mode.DROPMALFORMED)
    for piece, run in OrderedBatches(salvaged.directory, request, silent, no_progress):
        copy.add(run, piece.segment.base_offset, survey.unreadable.get(shown(piece.path), set()))
    copy.finish()
    if salvaged.offsets.first is not None:
        _write_small_files(salvaged, folder, receiver.leader_epoch, topic_id, copy.bases)


def _survey(salvaged: SalvagedPartition, request: ReadRequest, progress: Progress) -> _Survey:
    """Read everything once: find batches whose records do not come out, and the markers."""
    damage = NotedDamage(salvaged.left_out)
    survey = _Survey(unreadable=damage.positions)
    decoder, path = None, None
    for piece, run in OrderedBatches(salvaged.directory, request, damage, progress):
        if decoder is None or piece.path != path:
            if decoder is not None:
                _decode(decoder.flush())
            path = piece.path
            decoder = RecordDecoder(frozenset({"offset"}), piece, damage)
        survey.outcomes.gather(run)
        survey.read.add(run.base_offset[run.crc_valid], run.last_offset[run.crc_valid])
        _decode(decoder.add(run))
    if decoder is not None:
        _decode(decoder.flush())
    _learn_lost_aborts(salvaged.directory, survey, damage)
    survey.outcomes.settle()
    return survey


def _learn_lost_aborts(directory: PartitionDirectory, survey: _Survey, damage: Damage) -> None:
    """Where an abort marker is lost to damage, the transaction index still says what it said."""
    for segment in segments(directory):
        if not segment.transaction_index_size:
            continue
        try:
            for _, entries in read_entries(
                segment.path("txnindex"), TRANSACTION_INDEX_ENTRY, no_progress
            ):
                known = entries[entries["version"] == 0]
                markers = zip(
                    known["producer_id"].tolist(), known["last_offset"].tolist(), strict=True
                )
                for producer_id, offset in markers:
                    if survey.read.lacks(offset):
                        survey.outcomes.abort(producer_id, offset)
        except UnreadableFileError as error:
            damage.left_out(error)


def _decode(records: Iterator[DecodedRecords]) -> None:
    """Decode and forget: whether records come out is all that is asked; damage is noted."""
    for _ in records:
        pass


class _Copy:
    """Copies batches into segments; one segment becomes one, unless its offsets span too much."""

    def __init__(
        self, salvaged: SalvagedPartition, leader_epoch: int, survey: _Survey, folder: Path
    ) -> None:
        self.bases: list[int] = []
        self._salvaged = salvaged
        self._leader_epoch = leader_epoch
        self._survey = survey
        self._folder = folder
        self._segment: SegmentFile | None = None
        self._source_base: int | None = None
        self._numbers = dict.fromkeys(
            ("batchesWithoutProducerNow", "abortedBatches", "undecidedBatches", "markers"), 0
        )

    def add(self, run: BatchRun, source_base: int, unreadable: set[int]) -> None:
        """Copy what is to be kept of a run."""
        if source_base != self._source_base:
            self._roll()
            self._source_base = source_base
        kept = run.taken(np.flatnonzero(self._kept(run, unreadable)))
        while kept.count:
            if self._segment is None:
                base = int(kept.base_offset[0])
                self._segment = SegmentFile(self._folder, base)
                self.bases.append(base)
            room = self._segment.room_for(kept.last_offset, kept.size_in_bytes.astype(np.int64))
            if room:
                self._append(kept.taken(slice(0, room)))
                kept = kept.taken(slice(room, None))
            if kept.count:
                self._roll()

    def finish(self) -> None:
        """Close the last segment."""
        self._roll()
        self._salvaged.notes.update(self._numbers)

    def _kept(self, run: BatchRun, unreadable: set[int]) -> NDArray[np.bool_]:
        outcomes = self._survey.outcomes.of(run)
        is_marker = (run.attributes & CONTROL) != 0
        aborted, undecided = outcomes == ABORT, outcomes == UNDECIDED
        self._numbers["markers"] += int(is_marker.sum())
        self._numbers["abortedBatches"] += int(aborted.sum())
        self._numbers["undecidedBatches"] += int(undecided.sum())
        kept: NDArray[np.bool_] = ~(is_marker | aborted | undecided)
        if unreadable:
            kept &= ~np.isin(run.position, list(unreadable))
        return kept

    def _append(self, run: BatchRun) -> None:
        assert self._segment is not None
        content, stripped = standalone_batches(run, self._leader_epoch)
        self._numbers["batchesWithoutProducerNow"] += stripped
        sizes = run.size_in_bytes.astype(np.int64)
        self._segment.append(content, sizes, run.last_offset, run.max_timestamp)
        self._salvaged.records += int(run.records_count.sum())
        self._salvaged.offsets.add(run.base_offset, run.last_offset)

    def _roll(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._salvaged.files += self._segment.names
        self._segment = None


def _write_small_files(
    salvaged: SalvagedPartition, folder: Path, leader_epoch: int, topic_id: str, bases: list[int]
) -> None:
    assert salvaged.offsets.first is not None
    assert salvaged.offsets.last is not None
    epochs = [LeaderEpochEntry(leader_epoch=leader_epoch, start_offset=salvaged.offsets.first)]
    contents = {
        LEADER_EPOCHS: build_leader_epoch_checkpoint(epochs),
        PARTITION_METADATA: build_partition_metadata(
            PartitionMetadata(version=0, topic_id=topic_id)
        ),
        # Without one at the log end a broker would replay the log after a clean stop.
        **{
            f"{offset:020d}.snapshot": build_producer_snapshot([])
            for offset in (*bases[1:], salvaged.offsets.last + 1)
        },
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        salvaged.files.append(name)
