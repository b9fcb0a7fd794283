"""Where reading stops at damage: which supplied copy, or which merge, has the records."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import (
    CorruptLogError,
    KafkaLogError,
    LocatedError,
    MissingRecordsError,
)
from kafkalog_reader.io.names import shown
from kafkalog_reader.scan.damage import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.evidence import Evidence
    from kafkalog_reader.salvage.intact_copies import OtherCopies
    from kafkalog_reader.tables.request import ReadRequest

PAST_DAMAGE: Final = (
    "--mode PERMISSIVE shows what can be read around it; `kafkalog salvage` writes that to a folder"
)


@contextmanager
def ways_past_damage(
    evidence: Evidence, request: ReadRequest, *, is_of_records: bool = True
) -> Iterator[None]:
    """Add to an error about damage or missing records how to go on.

    Args:
        evidence: the inputs.
        request: what is read from them.
        is_of_records: whether records are read, so that another copy has the same.
    """
    try:
        yield
    except (CorruptLogError, MissingRecordsError) as error:
        if request.mode is Mode.FAILFAST:
            error.advice = ""  # in the words of Python
            if is_of_records:
                for line in _ways(error, evidence, replace(request, brokers=None)):
                    error.add_note(line)
            error.add_note(PAST_DAMAGE)
        raise


def _ways(error: LocatedError, evidence: Evidence, request: ReadRequest) -> Iterator[str]:
    """Yield lines with commands that read the partition whole, or at least to a later offset."""
    from kafkalog_reader.salvage.intact_copies import other_copies

    found = other_copies(error, evidence, request)
    if found is None:
        return
    if (best := found.intact) is not None:
        short = f", but it ends at offset {found.end - 1:,}" if found.is_shorter else ""
        yield f"{best.replica_name} has an intact copy{short}: {_reading(best, found)}"
    elif (offset := error.where.offset) is not None:
        yield from _reading_there(offset, found)
    if found.is_shorter and _can_be_merged(found.everyone):
        yield f"All copies together make one log with more records: {_merging(found.everyone)}"


def _reading_there(offset: int, found: OtherCopies) -> Iterator[str]:
    """Name the copy that can be read at the damage, although it is damaged or forks elsewhere."""
    from kafkalog_reader.salvage.intact_copies import fork_of, is_readable

    for each in found.others:
        fork = fork_of(each, found.damaged)
        if (fork is None or offset < fork) and is_readable(each, offset):
            stop = "" if fork is None else f" --to-offset {fork}"
            there = f"{_reading(each, found)} --from-offset {offset}{stop}"
            yield f"{each.replica_name} can be read at offset {offset:,}: {there}"
            return


def _can_be_merged(copies: Sequence[PartitionDirectory]) -> bool:
    """Whether a merge has more than any copy, and lacks nothing that one of them has readable."""
    from kafkalog_reader.salvage.merge import try_merge
    from kafkalog_reader.tables.request import ReadRequest

    request = ReadRequest(mode=Mode.PERMISSIVE, log_range_only=True)
    try:
        return try_merge(shown(copies[0].path), copies, request).gained_offsets > 0
    except KafkaLogError:
        return False


def _reading(copy: PartitionDirectory, found: OtherCopies) -> str:
    broker = found.broker_of(copy)
    if broker is None:
        return f"kafkalog records {_words([copy])}"
    return f"kafkalog records {_words(found.everyone)} --replica broker:{broker}"


def _merging(copies: Sequence[PartitionDirectory]) -> str:
    from kafkalog_reader.report.command_text import merged_folder
    from kafkalog_reader.report.shell_word import shell_word

    folder = shell_word(merged_folder(copies[0].topic, copies[0].partition))
    return f"kafkalog salvage {_words(copies)} --merge --as-segments --output {folder}"


def _words(copies: Sequence[PartitionDirectory]) -> str:
    from kafkalog_reader.report.command_text import path_word
    from kafkalog_reader.report.shell_word import shell_word

    paths = " ".join(dict.fromkeys(map(path_word, copies)))
    links = " --follow-links" if any(each.follow_links for each in copies) else ""
    topic = shell_word(copies[0].topic or "")
    return f"{paths}{links} --topic {topic} --partition {copies[0].partition}"
