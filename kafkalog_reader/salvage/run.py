"""A whole salvage: every requested partition in turn, then the manifest."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.audits.partition.outside_isr import InSyncReplicas
from kafkalog_reader.errors import LocatedError, UsageError
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.salvage.counts import Reason
from kafkalog_reader.salvage.left_out import NotedDamage, UnreadCopies, Warnings
from kafkalog_reader.salvage.lost_offsets import held_elsewhere, lost_offsets
from kafkalog_reader.salvage.manifest import SalvagedPartition, manifest_text
from kafkalog_reader.salvage.merge import merge_partition
from kafkalog_reader.salvage.missing_segments import missing_segments
from kafkalog_reader.salvage.output_folder import DOUBTFUL, OutputFolder
from kafkalog_reader.salvage.parquet import DoubtfulPart, write_parquet
from kafkalog_reader.salvage.readable_batches import ReadableBatches
from kafkalog_reader.salvage.receiver import foreign_text
from kafkalog_reader.salvage.segments import learn_lost_aborts, write_segments
from kafkalog_reader.salvage.survey import survey
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.expected_end import ExpectedEnds
from kafkalog_reader.tables.current_topics import CurrentTopics
from kafkalog_reader.tables.partition_copies import chosen_by_partition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kafkalog_reader.audits.partition.without_copy import WithoutCopy
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.salvage.receiver import Receiver
    from kafkalog_reader.tables.lacking import Lacking
    from kafkalog_reader.tables.request import ReadRequest

    _Group = tuple[
        Sequence[PartitionDirectory],
        Sequence[LocatedError],
        Sequence[PartitionDirectory],
        Sequence[Lacking],
    ]
    """Copies of one output, why others could not be read, those not chosen, what only they hold."""

logger = logging.getLogger(__name__)


def salvage(
    evidence: Evidence,
    request: ReadRequest,
    output: str,
    *,
    inputs: Sequence[str] = (),
    receiver: Receiver | None = None,
    merge: bool = False,
    topics_left_out: frozenset[str] = frozenset(),
    absent: Sequence[WithoutCopy] = (),
    progress: Progress = no_progress,
) -> Iterator[SalvagedPartition]:
    """Write what can be read of each requested replica; yield each when it is done.

    Args:
        evidence: what was supplied; never written to.
        request: topics, partitions, brokers and replica; its mode does not matter.
        output: a folder, new or empty.
        inputs: paths as given, for the manifest.
        receiver: the cluster that takes over the logs; None writes Parquet.
        merge: make one log of all copies of a partition; needs a receiver.
        topics_left_out: those that the caller left out, for the manifest.
        absent: requested partitions of which no copy was supplied, for the manifest.
        progress: receives the bytes read.

    Raises:
        UsageError: there is no replica to read, the output is not empty or lies in an input, or
            a topic has no id; at the end, where copies to merge are of different histories.
    """
    request = replace(request, mode=Mode.PERMISSIVE, log_range_only=receiver is not None)
    expected = ExpectedEnds()
    if merge:
        groups: list[_Group] = [
            (copies, (), (), ()) for _, copies in evidence.topic_partitions(request)
        ]
    else:
        groups = list(_chosen(evidence, request, expected))
    if not groups:
        raise UsageError(f"nothing to salvage: {_missing(request)}")
    foreign: set[str] = set()
    if receiver is not None:
        groups, foreign = _without_foreign(groups, request, receiver)
        receiver.check(copies[0] for copies, *_ in groups)
    folders = OutputFolder(output, evidence)
    supplied = dict(evidence.topic_partitions(replace(request, brokers=None)))
    in_sync = InSyncReplicas(evidence)
    done: list[SalvagedPartition] = []
    refused: list[str] = []
    is_finished = False
    try:
        for chosen, unread, others, lacking in groups:
            # The manifest has what is skipped, even if ``discover`` has said it.
            copies = [each.within(each.context.warning_again()) for each in chosen]
            salvaged = SalvagedPartition(directory=copies[0], unread_copies=len(unread))
            salvaged.lacking = list(_asked(lacking, request))
            of_partition = supplied.get(copies[0].identity, copies)
            salvaged.in_sync_not_supplied = in_sync.not_supplied(of_partition)
            for error_of_copy in unread:
                salvaged.left_out.add(error_of_copy)
            done.append(salvaged)
            try:
                _salvage_one(salvaged, copies, request, receiver, folders, expected, progress)
            except UsageError as error:  # a fork: the other partitions can be merged all the same
                done.pop()
                refused.append(str(error))
            else:
                salvaged.missing_segments = missing_segments(
                    of_partition if request.replica == "best" else copies, salvaged.offsets, request
                )
                salvaged.lost = held_elsewhere(salvaged.lost, others, request)
                yield salvaged
        is_finished = not refused
    finally:
        if done:
            form = "parquet" if receiver is None else "segments"
            folders.write_manifest(
                manifest_text(
                    form,
                    inputs,
                    done,
                    topics_left_out=foreign | topics_left_out,
                    absent=absent,
                    is_finished=is_finished,
                    is_whole=not topics_left_out,
                )
            )
    if refused:
        raise UsageError("\n".join(refused))


def _chosen(evidence: Evidence, request: ReadRequest, expected: ExpectedEnds) -> Iterator[_Group]:
    """Yield each copy to read, and why others could not be judged.

    A partition of which no copy can be judged is not passed over: what can be read of its first
    copy is salvaged.
    """
    damage = UnreadCopies()
    members = CurrentTopics(evidence=evidence).members
    found = chosen_by_partition(evidence, request, damage, expected, members=members)
    for copies, chosen, lacking in found:
        unread = damage.taken()
        if unread and not chosen:
            yield copies[:1], unread[1:], (), ()
        for directory in chosen:
            others = [] if len(chosen) > 1 else [each for each in copies if each != directory]
            yield (directory,), unread, others, lacking


def _asked(lacking: Sequence[Lacking], request: ReadRequest) -> Iterator[Lacking]:
    """What of these offsets is in the range asked for."""
    for each in lacking:
        first = max(each.first_offset, request.from_offset or 0)
        stop = each.next_offset
        if request.to_offset is not None:
            stop = min(stop, request.to_offset)
        if first < stop:
            yield replace(each, first_offset=first, next_offset=stop)


def _without_foreign(
    groups: list[_Group], request: ReadRequest, receiver: Receiver
) -> tuple[list[_Group], set[str]]:
    """The copies that the receiver can take over, and the topics left out, with a warning.

    A topic that was named is not left out: it is refused later.
    """
    named = request.topics or frozenset()
    kept = [
        group
        for group in groups
        if not receiver.is_foreign(group[0][0]) or group[0][0].topic in named
    ]
    foreign = {group[0][0].topic or "" for group in groups if group not in kept}
    if not foreign or not kept:
        return groups, set()
    logger.warning("left out: %s", foreign_text(foreign))
    return kept, foreign


def _missing(request: ReadRequest) -> str:
    if request.replica in ("all", "best"):
        return (
            "there is no partition directory that a broker would serve; one that was set aside, "
            "such as orders-0.*-stray, is read if that folder itself is given"
        )
    return f"{request.replica.replace(':', ' ')} has no copy of what was asked for"


def _salvage_one(
    salvaged: SalvagedPartition,
    copies: Sequence[PartitionDirectory],
    request: ReadRequest,
    receiver: Receiver | None,
    folders: OutputFolder,
    expected: ExpectedEnds,
    progress: Progress,
) -> None:
    folder = folders.begin(salvaged.directory)
    doubtful = DoubtfulPart(folders.doubtful(folder))
    with Warnings() as warnings:
        salvaged.warnings = warnings.messages
        try:
            if receiver is not None and len(copies) > 1:
                merge_partition(salvaged, copies, request, receiver, folder, doubtful, progress)
            else:
                _read_and_write(salvaged, request, receiver, folder, doubtful, expected, progress)
            doubtful.close()
            salvaged.counts.doubtful.records = doubtful.records
            salvaged.is_finished = True
        except UsageError:
            folders.finish(folder)
            raise
        except LocatedError as error:  # a file that cannot be read ends this replica, not the rest
            salvaged.left_out.add(error)
    finished = folders.finish(folder)
    salvaged.folder = None if finished is None else finished.name
    if doubtful.records:
        salvaged.doubtful_folder = f"{DOUBTFUL}/{folders.doubtful(folder).name}"
    if salvaged.is_finished:
        salvaged.counts.check(salvaged.name)


def _read_and_write(
    salvaged: SalvagedPartition,
    request: ReadRequest,
    receiver: Receiver | None,
    folder: Path,
    doubtful: DoubtfulPart,
    expected: ExpectedEnds,
    progress: Progress,
) -> None:
    """Read twice: only the first reading shows which offsets and transactions are reliable."""
    damage = NotedDamage(salvaged.left_out)
    source = ReadableBatches(salvaged.directory, request, damage, whole_log=receiver is not None)
    salvaged.log_start = source.log_start
    found = survey(source, salvaged, damage, progress)
    counts = salvaged.counts
    counts.found = found.found
    expected.prepare(salvaged.directory.log_directory)
    damaged = (each.offset for each in salvaged.left_out.first if each.offset is not None)
    salvaged.lost = lost_offsets(salvaged.directory, source, found, expected, damaged)
    if receiver is not None or salvaged.left_out.count:
        learn_lost_aborts(salvaged.directory, found, damage)
    found.outcomes.settle()
    if receiver is None:
        write_parquet(salvaged, request, source, found, folder, doubtful)
    else:
        write_segments(salvaged, receiver, source, found, folder, doubtful)
    counts.left_out[Reason.DAMAGED].batches = salvaged.left_out.batches
    counts.left_out[Reason.OUTSIDE_RANGE].batches += source.outside
