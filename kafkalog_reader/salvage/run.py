"""A whole salvage: every partition asked for, one after another, and the manifest at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.errors import LocatedError, UsageError
from kafkalog_reader.salvage.left_out import Warnings
from kafkalog_reader.salvage.manifest import SalvagedPartition, manifest_text
from kafkalog_reader.salvage.output_folder import OutputFolder
from kafkalog_reader.salvage.parquet import write_parquet
from kafkalog_reader.salvage.segments import Receiver, write_segments
from kafkalog_reader.tables.best_replica import chosen_replicas
from kafkalog_reader.tables.request import Mode
from kafkalog_reader.tables.table import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.tables.request import ReadRequest


def salvage(
    evidence: Evidence,
    request: ReadRequest,
    output: str,
    *,
    inputs: Sequence[str] = (),
    receiver: Receiver | None = None,
    progress: Progress = no_progress,
) -> Iterator[SalvagedPartition]:
    """Write what can be read of each replica asked for; yield each when it is done.

    Args:
        evidence: what was supplied; never written to.
        request: topics, partitions, brokers and replica; its mode does not matter.
        output: a folder, new or empty.
        inputs: paths as given, for the manifest.
        receiver: the cluster that takes the logs over; None writes Parquet.
        progress: told the bytes read.

    Raises:
        UsageError: there is no replica to read, the output holds something or lies in an input, or
            a topic has no id.
    """
    request = replace(request, mode=Mode.PERMISSIVE, log_range_only=receiver is not None)
    directories = list(chosen_replicas(evidence, request))
    if not directories:
        raise UsageError(f"nothing to salvage: {_missing(request)}")
    if receiver is not None:
        for directory in directories:
            receiver.topic_id(directory.topic)
    folders = OutputFolder(output, evidence)
    done: list[SalvagedPartition] = []
    is_complete = False
    try:
        for directory in directories:
            salvaged = SalvagedPartition(directory=directory)
            done.append(salvaged)
            _salvage_one(salvaged, request, receiver, folders, progress)
            yield salvaged
        is_complete = True
    finally:
        form = "parquet" if receiver is None else "segments"
        folders.write_manifest(manifest_text(form, inputs, done, is_complete=is_complete))


def _missing(request: ReadRequest) -> str:
    if request.replica in ("all", "best"):
        return "there is no partition directory that a broker would serve"
    return f"{request.replica.replace(':', ' ')} has no copy of what was asked for"


def _salvage_one(
    salvaged: SalvagedPartition,
    request: ReadRequest,
    receiver: Receiver | None,
    folders: OutputFolder,
    progress: Progress,
) -> None:
    folder = folders.begin(salvaged.directory)
    with Warnings() as warnings:
        salvaged.warnings = warnings.messages
        try:
            if receiver is None:
                write_parquet(salvaged, request, folder, progress)
            else:
                write_segments(salvaged, request, receiver, folder, progress)
        except LocatedError as error:  # a file that cannot be read ends this replica, not the rest
            salvaged.left_out.add(error)
    finished = folders.finish(folder)
    salvaged.folder = None if finished is None else finished.name
