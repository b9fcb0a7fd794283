"""``manifest.json``: what a salvage holds, what it left out, and why."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader import __version__
from kafkalog_reader.io.names import MANIFEST_KEY, shown
from kafkalog_reader.salvage.counts import Counts, Reason
from kafkalog_reader.salvage.left_out import Places
from kafkalog_reader.salvage.offset_coverage import LostOffsets, OffsetCoverage
from kafkalog_reader.tables.identity import identity_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from kafkalog_reader.audits.log.torn_batch import RepairedBatch
    from kafkalog_reader.audits.partition.without_copy import WithoutCopy
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.salvage.leftovers import Leftover
    from kafkalog_reader.salvage.missing_segments import MissingSegment
    from kafkalog_reader.scan.segment_slice import SegmentSlice
    from kafkalog_reader.tables.doubtful_batches import DoubtfulBatches
    from kafkalog_reader.tables.lacking import Lacking

MAX_NOTES: Final = 10_000
"""Repairs and doubtful places listed of one partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairNote:
    """One repaired batch; ``kind`` and ``how`` as of ``RepairedBatch``."""

    file: str
    position: int
    firstOffset: int  # noqa: N815  as the manifest has it
    lastOffset: int  # noqa: N815
    kind: str
    how: str

    @classmethod
    def of(cls, segment_slice: SegmentSlice, repair: RepairedBatch) -> Self:
        """The note of a repair."""
        run = repair.run
        return cls(
            file=shown(segment_slice.path),
            position=int(run.position[0]),
            firstOffset=int(run.base_offset[0]),
            lastOffset=int(run.last_offset[0]),
            kind=repair.kind,
            how=repair.how,
        )


@dataclass(slots=True, kw_only=True)
class SalvagedPartition:
    """One replica that was salvaged.

    Attributes:
        folder: where its files are, below the output; None when nothing of it could be kept.
        doubtful_folder: where the records at doubtful offsets are.
        records: kept ones, control records included; in a log for another cluster, only those of
            consumers that read committed records.
        log_start: the first offset that consumers were shown; 0 if it cannot be read.
        deleted_records: kept ones below it: deleted already, by retention or on request.
        left_out: damage, and copies that could not be read.
        unread_copies: how many of these: other copies, one of which might have been better.
        repairs: batches that were repaired and kept.
        doubtful: batches with doubtful offsets, by segment.
        lost: offsets that the copy should hold but does not, as far as known.
        missing_segments: segments without a log file, or whose file has another name.
        lacking: offsets asked for that only other copies hold, such as the branch after a fork.
        in_sync_not_supplied: node ids of the in-sync replicas where no copy of one was supplied.
        is_in_place: of a log, whether it is for the place of its copies; None for Parquet.
        notes: further counts for segments: transactions and producers.
        warnings: other warnings of the reader.
    """

    directory: PartitionDirectory
    folder: str | None = None
    doubtful_folder: str | None = None
    files: list[str] = field(default_factory=list)
    records: int = 0
    offsets: OffsetCoverage = field(default_factory=OffsetCoverage)
    log_start: int = 0
    deleted_records: int = 0
    left_out: Places = field(default_factory=Places)
    unread_copies: int = 0
    repairs: list[RepairNote] = field(default_factory=list)
    doubtful: list[tuple[SegmentSlice, DoubtfulBatches]] = field(default_factory=list)
    lost: list[LostOffsets] = field(default_factory=list)
    missing_segments: tuple[MissingSegment, ...] = ()
    counts: Counts = field(default_factory=Counts)
    is_in_place: bool | None = None
    is_finished: bool = False
    lacking: list[Lacking] = field(default_factory=list)
    in_sync_not_supplied: tuple[int, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The partition for people."""
        directory = self.directory
        if directory.topic is None:
            return shown(directory.path)
        return f"{shown(directory.topic)}-{directory.partition}"

    @property
    def is_complete(self) -> bool:
        """Whether all that the copies should hold is here, at offsets that are not in doubt."""
        has_torn = any(repair.kind == "tornBatch" for repair in self.repairs)
        is_lacking = self.left_out.count or self.doubtful or self.lost or has_torn or self.lacking
        is_whole = not (is_lacking or self.in_sync_not_supplied or self.missing_segments)
        return self.is_finished and is_whole and not self.records_of_transactions

    @property
    def records_of_transactions(self) -> int:
        """How many records were left out because their transaction was aborted or is open."""
        left_out = self.counts.left_out
        return left_out[Reason.ABORTED].records + left_out[Reason.UNDECIDED].records

    def as_json(self) -> dict[str, Any]:
        """As the manifest has it."""
        return {
            **identity_of(self.directory),
            "directory": shown(self.directory.path),
            "isComplete": self.is_complete,
            "folder": self.folder,
            "files": self.files,
            **({} if self.is_in_place is None else {"batchesUnchanged": self.is_in_place}),
            "records": self.records,
            **self.offsets.as_json(),
            "logStartOffset": self.log_start,
            "recordsBelowLogStart": self.deleted_records,
            "counts": self.counts.as_json(),
            "leftOut": {
                "count": self.left_out.count,
                "places": [asdict(place) for place in self.left_out.first],
            },
            "repaired": {
                "count": len(self.repairs),
                "batches": [asdict(note) for note in self.repairs[:MAX_NOTES]],
            },
            "doubtfulOffsets": {
                "folder": self.doubtful_folder,
                "count": len(self.doubtful),
                "places": [
                    {
                        "file": shown(segment_slice.path),
                        "position": each.position,
                        "endPosition": each.end_position,
                        "firstOffset": each.first_offset,
                        "lastOffset": each.last_offset,
                        "likelyFirstOffset": each.likely_offset,
                        "problem": each.problem,
                    }
                    for segment_slice, each in self.doubtful[:MAX_NOTES]
                ],
            },
            "lostOffsets": [each.as_json() for each in self.lost],
            "missingSegments": [each.as_json() for each in self.missing_segments],
            "otherCopies": [
                {
                    "copy": each.replica.replica_name,
                    "firstOffset": each.first_offset,
                    "lastOffset": each.next_offset - 1,
                    "isFork": each.is_fork,
                    "isUnderOneLeaderEpoch": each.is_contradiction,
                }
                for each in self.lacking
            ],
            "inSyncNotSupplied": list(self.in_sync_not_supplied),
            **self.notes,
            "warnings": [shown(warning) for warning in self.warnings],
        }


def manifest_text(
    form: str,
    inputs: Sequence[str],
    partitions: Sequence[SalvagedPartition],
    *,
    topics_left_out: Iterable[str] = (),
    absent: Sequence[WithoutCopy] = (),
    leftovers: Sequence[Leftover] = (),
    is_finished: bool,
    is_whole: bool = True,
) -> str:
    """The whole manifest.

    Args:
        form: ``parquet`` or ``segments``.
        inputs: paths as given.
        partitions: in the order in which they were salvaged.
        topics_left_out: those that no other cluster can take over, and those whose copies are of
            several topics.
        absent: partitions of which no copy was supplied.
        leftovers: of the requested partitions; no log should have their records.
        is_finished: whether the salvage ran to its end.
        is_whole: whether no topic was left out that another salvage can write.
    """
    content = {
        MANIFEST_KEY: __version__,
        "form": form,
        "inputs": [shown(path) for path in inputs],
        "topicsLeftOut": sorted(topics_left_out),
        "partitionsWithoutCopy": [
            {"topic": shown(each.topic), "partition": each.partition, "brokers": [*each.brokers]}
            for each in absent
        ],
        "leftovers": [each.as_json() for each in leftovers],
        "isFinished": is_finished,
        "isComplete": is_finished
        and is_whole
        and not absent
        and not any(each.is_left_out for each in leftovers)
        and all(each.is_complete for each in partitions),
        "partitions": [partition.as_json() for partition in partitions],
    }
    return json.dumps(content, indent=1) + "\n"
