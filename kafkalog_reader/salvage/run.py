"""A whole salvage: every requested partition in turn, then the manifest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.salvage.copy_groups import copy_groups, without_foreign
from kafkalog_reader.salvage.leftovers import compare_with_logs, write_leftovers
from kafkalog_reader.salvage.manifest import SalvagedPartition, manifest_text
from kafkalog_reader.salvage.output_folder import OutputFolder
from kafkalog_reader.salvage.partition_writer import PartitionWriter
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.scan.expected_end import ExpectedEnds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.partition.without_copy import WithoutCopy
    from kafkalog_reader.io.directories import Identity, PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.salvage.leftovers import Leftover
    from kafkalog_reader.salvage.receiver import Receiver
    from kafkalog_reader.tables.request import ReadRequest


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
    leftovers: Sequence[Leftover] = (),
    with_leftovers: bool = False,
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
        leftovers: of the requested partitions, for the manifest.
        with_leftovers: whether their records are written, too.
        progress: receives the bytes read.

    Raises:
        UsageError: there is no replica to read, the output is not empty or lies in an input, or
            a topic has no id; at the end, where copies to merge are of different histories.
    """
    request = replace(request, mode=Mode.PERMISSIVE, log_range_only=receiver is not None)
    expected = ExpectedEnds()
    groups = list(copy_groups(evidence, request, expected, is_merge=merge))
    writes_leftovers = with_leftovers and bool(leftovers)
    if not groups and not writes_leftovers:
        raise UsageError(f"nothing to salvage: {_missing(request, leftovers)}")
    foreign: set[str] = set()
    if receiver is not None and groups:
        groups, foreign = without_foreign(groups, request, receiver)
        receiver.check(group.copies[0] for group in groups)
    folder = OutputFolder(output, evidence)
    writer = PartitionWriter(evidence, request, receiver, folder, expected, progress)
    is_finished = False
    logs: dict[Identity, list[PartitionDirectory]] = {}
    for group in groups:
        logs.setdefault(group.copies[0].identity, []).extend(group.copies)
    compare_with_logs(leftovers, logs, log_range_only=receiver is not None)
    try:
        for group in groups:
            salvaged = writer.write(group)
            if salvaged is not None:
                yield salvaged
        if writes_leftovers:
            write_leftovers(leftovers, folder.path)
        is_finished = not writer.refused
    finally:
        if writer.done or writes_leftovers:
            form = "parquet" if receiver is None else "segments"
            folder.write_manifest(
                manifest_text(
                    form,
                    inputs,
                    writer.done,
                    topics_left_out=foreign | topics_left_out,
                    absent=absent,
                    leftovers=leftovers,
                    is_finished=is_finished,
                    is_whole=not topics_left_out,
                )
            )
    if writer.refused:
        raise UsageError("\n".join(writer.refused))


def _missing(request: ReadRequest, leftovers: Sequence[Leftover]) -> str:
    if leftovers:
        return "there are only leftovers, which no broker serves: --leftovers writes their records"
    if request.replica in ("all", "best"):
        return (
            "there is no partition directory that a broker would serve; one that was set aside, "
            "such as orders-0.*-stray, is read if that folder itself is given"
        )
    return f"{request.replica.replace(':', ' ')} has no copy of what was asked for"
