"""Writes what can be read of one partition after another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.partition.outside_isr import InSyncReplicas
from kafkalog_reader.errors import LocatedError, UsageError
from kafkalog_reader.salvage.counts import Reason
from kafkalog_reader.salvage.left_out import NotedDamage, Warnings
from kafkalog_reader.salvage.lost_offsets import held_elsewhere, lost_offsets
from kafkalog_reader.salvage.manifest import SalvagedPartition
from kafkalog_reader.salvage.merge import merge_partition
from kafkalog_reader.salvage.missing_segments import missing_segments
from kafkalog_reader.salvage.output_folder import DOUBTFUL, OutputFolder
from kafkalog_reader.salvage.parquet import DoubtfulPart, write_parquet
from kafkalog_reader.salvage.readable_batches import ReadableBatches
from kafkalog_reader.salvage.segments import learn_lost_aborts, write_segments
from kafkalog_reader.salvage.survey import survey

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.io.progress import Progress
    from kafkalog_reader.salvage.copy_groups import CopyGroup
    from kafkalog_reader.salvage.receiver import Receiver
    from kafkalog_reader.scan.expected_end import ExpectedEnds
    from kafkalog_reader.tables.lacking import Lacking
    from kafkalog_reader.tables.request import ReadRequest


class PartitionWriter:
    """Writes what can be read of each partition.

    Attributes:
        done: what was written so far, finished or not.
        refused: why copies could not be merged.
    """

    def __init__(
        self,
        evidence: Evidence,
        request: ReadRequest,
        receiver: Receiver | None,
        folders: OutputFolder,
        expected: ExpectedEnds,
        progress: Progress,
    ) -> None:
        self.done: list[SalvagedPartition] = []
        self.refused: list[str] = []
        self._request = request
        self._receiver = receiver
        self._folders = folders
        self._expected = expected
        self._progress = progress
        self._supplied = dict(evidence.topic_partitions(replace(request, brokers=None)))
        self._in_sync = InSyncReplicas(evidence)

    def write(self, group: CopyGroup) -> SalvagedPartition | None:
        """Write one partition; None if its copies are of different histories."""
        request = self._request
        # The manifest has what is skipped, even if ``discover`` has said it.
        copies = [each.within(each.context.warning_again()) for each in group.copies]
        salvaged = SalvagedPartition(directory=copies[0], unread_copies=len(group.unread))
        salvaged.lacking = list(_asked(group.lacking, request))
        of_partition = self._supplied.get(copies[0].identity, copies)
        salvaged.in_sync_not_supplied = self._in_sync.not_supplied(of_partition)
        for error_of_copy in group.unread:
            salvaged.left_out.add(error_of_copy)
        self.done.append(salvaged)
        try:
            self._write_copies(salvaged, copies)
        except UsageError as error:  # a fork: the other partitions can be merged all the same
            self.done.pop()
            self.refused.append(str(error))
            return None
        salvaged.missing_segments = missing_segments(
            of_partition if request.replica == "best" else copies, salvaged.offsets, request
        )
        salvaged.lost = held_elsewhere(salvaged.lost, group.others, request)
        return salvaged

    def _write_copies(
        self, salvaged: SalvagedPartition, copies: Sequence[PartitionDirectory]
    ) -> None:
        folders, receiver = self._folders, self._receiver
        folder = folders.begin(salvaged.directory)
        doubtful = DoubtfulPart(folders.doubtful(folder))
        with Warnings() as warnings:
            salvaged.warnings = warnings.messages
            try:
                if receiver is not None and len(copies) > 1:
                    merge_partition(
                        salvaged, copies, self._request, receiver, folder, doubtful,
                        self._progress,
                    )  # fmt: skip
                else:
                    self._read_and_write(salvaged, folder, doubtful)
                doubtful.close()
                salvaged.counts.doubtful.records = doubtful.records
                salvaged.is_finished = True
            except UsageError:
                folders.finish(folder)
                raise
            except LocatedError as error:  # an unreadable file ends this replica, not the rest
                salvaged.left_out.add(error)
        finished = folders.finish(folder)
        salvaged.folder = None if finished is None else finished.name
        if doubtful.records:
            salvaged.doubtful_folder = f"{DOUBTFUL}/{folders.doubtful(folder).name}"
        if salvaged.is_finished:
            salvaged.counts.check(salvaged.name)

    def _read_and_write(
        self, salvaged: SalvagedPartition, folder: Path, doubtful: DoubtfulPart
    ) -> None:
        """Read twice: only the first reading shows which offsets and transactions are reliable."""
        request, receiver = self._request, self._receiver
        damage = NotedDamage(salvaged.left_out)
        source = ReadableBatches(
            salvaged.directory, request, damage, whole_log=receiver is not None
        )
        salvaged.log_start = source.log_start
        found = survey(source, salvaged, damage, self._progress)
        counts = salvaged.counts
        counts.found = found.found
        self._expected.prepare(salvaged.directory.log_directory)
        damaged = (each.offset for each in salvaged.left_out.first if each.offset is not None)
        salvaged.lost = lost_offsets(salvaged.directory, source, found, self._expected, damaged)
        if receiver is not None or salvaged.left_out.count:
            learn_lost_aborts(salvaged.directory, found, damage)
        found.outcomes.settle()
        if receiver is None:
            write_parquet(salvaged, request, source, found, folder, doubtful)
        else:
            write_segments(salvaged, receiver, source, found, folder, doubtful)
        counts.left_out[Reason.DAMAGED].batches = salvaged.left_out.batches
        counts.left_out[Reason.OUTSIDE_RANGE].batches += source.outside


def _asked(lacking: Sequence[Lacking], request: ReadRequest) -> Iterator[Lacking]:
    """What of these offsets is in the range asked for."""
    for each in lacking:
        first = max(each.first_offset, request.from_offset or 0)
        stop = each.next_offset
        if request.to_offset is not None:
            stop = min(stop, request.to_offset)
        if first < stop:
            yield replace(each, first_offset=first, next_offset=stop)
