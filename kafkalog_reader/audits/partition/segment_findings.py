"""Findings about the bytes of one replica's segments: damage, torn ends, unknown formats."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.actions import (
    CHECK_HARDWARE,
    COMPARE_REPLICAS,
    DO_NOT_START,
    FORCE_RECOVERY,
    NOTHING_TO_DO,
    REBUILD_INDEX,
    SAVE_RECORDS,
)
from kafkalog_reader.audits.catalogue.batch_rules import (
    BATCH_CRC_MISMATCH,
    BATCH_LENGTH_IMPOSSIBLE,
    MAGIC_IMPOSSIBLE,
    OFFSET_REGRESSION,
    RECORD_UNDECODABLE,
    TORN_TAIL,
    UNREADABLE_REGION,
    ZERO_TAIL,
)
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.input_rules import (
    LIMIT_REACHED,
    UNKNOWN_VERSION,
    UNREADABLE_FILE,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.catalogue.traps import COPIED_WHILE_RUNNING
from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.comparison.verdict import is_replaced, is_unread
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.refused_file import actions_of_refusal
from kafkalog_reader.audits.log.flipped_bit import FlippedBit, flipped_bit
from kafkalog_reader.audits.log.header_repair import Repair, repair_of
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.format.batch_fields import LAST_CODEC, MIN_SIZE_0
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.format.compression import unknown_codec_text
from kafkalog_reader.format.offset_words import offsets_words
from kafkalog_reader.scan.scan_end import ScanEnd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.log.batch_place import BatchPlace
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.scan.unreadable_region import UnreadableRegion

_NEWEST_MAGIC = 2
_TAILS = codes_with(Role.TAIL)
_ELSEWHERE = (COMPARE_REPLICAS, CHECK_HARDWARE)
_NOWHERE_ELSE = (DO_NOT_START, SAVE_RECORDS, CHECK_HARDWARE)


def segment_findings(audit: PartitionAudit) -> Iterator[Finding]:
    """Yield what is wrong with the files of each replica, replica by replica."""
    for replica in audit.replicas:
        directory, summary, damaged = replica.directory, replica.summary, replica.damaged
        for problem in replica.files.problems:
            yield finding(
                UNREADABLE_FILE,
                f"{problem.where}: {problem.problem}",
                directory=directory,
                file=_file(directory, problem.where),
                position=problem.where.position,
                actions=actions_of_refusal(problem.problem),
            )
        for place in damaged.places:
            if _is_other_magic(directory, place):
                yield _wrong_magic(directory, place)
            else:
                yield _crc_mismatch(audit, replica, place, _bit(place))
        if damaged.count > len(damaged.places):
            yield _further_mismatches(audit, replica)
        if damaged.left_out and len(audit.replicas) > 1:
            yield finding(
                LIMIT_REACHED,
                f"{replica.name}: {damaged.left_out:,} further damaged batches were not compared "
                "with other copies: elections may lose fewer records than stated",
                directory=directory,
                evidence={"batches": damaged.left_out},
            )
        for stop in summary.stops:
            yield _stop_finding(audit, replica, stop)
        yield from _codec_findings(replica)
        if summary.regressions:
            yield _regression(replica)


def _codec_findings(replica: ReplicaAudit) -> Iterator[Finding]:
    """KL-006 for codecs of later releases, KL-108 for a codec that messages cannot have."""
    directory, summary = replica.directory, replica.summary
    for where, codec, magic in summary.unknown_codecs:
        problem = unknown_codec_text(codec, magic)
        yield finding(
            RECORD_UNDECODABLE if codec <= LAST_CODEC else UNKNOWN_VERSION,
            f"{where}: {problem}",
            directory=directory,
            file=_file(directory, where),
            position=where.position,
            evidence={"problem": problem} if codec <= LAST_CODEC else {"codec": codec},
        )
    if further := summary.unknown_codec_count - len(summary.unknown_codecs):
        yield finding(
            UNKNOWN_VERSION,
            f"{replica.name}: {further:,} further batches have such a codec",
            directory=directory,
            evidence={"batches": further},
        )


def _is_other_magic(directory: PartitionDirectory, place: BatchPlace) -> bool:
    """Whether the checksum is valid if the batch is read as one of magic 2."""
    return place.magic < _NEWEST_MAGIC and (
        _repair(directory, place.where, place.size_in_bytes) is Repair.MAGIC
    )


def _wrong_magic(directory: PartitionDirectory, place: BatchPlace) -> Finding:
    return finding(
        MAGIC_IMPOSSIBLE,
        f"{place.where}: the magic is wrong: read as magic {_NEWEST_MAGIC}, the checksum is valid",
        directory=directory,
        file=_file(directory, place.where),
        position=place.where.position,
        size_in_bytes=place.size_in_bytes,
        evidence={"readAs": "message"},
        bytes_at_risk=place.size_in_bytes,
    )


def _bit(place: BatchPlace) -> FlippedBit | None:
    """The single bit of a batch whose flip explains its wrong CRC, if there is one."""
    return flipped_bit(place.crc, place.crc_computed, place.size_in_bytes, place.magic)


def _bit_text(place: BatchPlace, bit: FlippedBit) -> str:
    position = (place.where.position or 0) + bit.position
    where = "of the CRC field itself" if bit.in_crc else "of the batch"
    return f"; one flipped bit {where} explains it: byte {position:,} bit {bit.bit}"


def _bit_evidence(place: BatchPlace, bit: FlippedBit | None) -> dict[str, object]:
    if bit is None:
        return {}
    return {
        "flippedByte": (place.where.position or 0) + bit.position,
        "flippedBit": bit.bit,
        "flippedField": "crc" if bit.in_crc else "covered",
    }


def _crc_mismatch(
    audit: PartitionAudit, replica: ReplicaAudit, place: BatchPlace, bit: FlippedBit | None
) -> Finding:
    """Rate a batch with a wrong CRC: critical if no other copy has it intact."""
    directory = replica.directory
    first_offset = place.where.offset or 0
    peers = joined_names(place.intact_on) if place.intact_on else ""
    saved = f"intact on {peers}" if peers else "no supplied copy has it intact"
    in_tail = place.next_offset >= replica.log_end
    is_hot = in_tail and not directory.log_directory.clean_shutdown
    return finding(
        BATCH_CRC_MISMATCH,
        f"{place.where}: CRC stored 0x{place.crc:08x}, computed 0x{place.crc_computed:08x}"
        f"{'' if bit is None else _bit_text(place, bit)}; {saved}",
        severity="H" if peers else "C",
        confidence="possible" if is_hot else "proven",
        directory=directory,
        file=_file(directory, place.where),
        position=place.where.position,
        size_in_bytes=place.size_in_bytes,
        offsets=(first_offset, place.next_offset),
        evidence={
            "crcStored": f"0x{place.crc:08x}",
            "crcComputed": f"0x{place.crc_computed:08x}",
            "syndrome": f"0x{place.crc ^ place.crc_computed:08x}",
            **_bit_evidence(place, bit),
            "leaderEpoch": place.leader_epoch,
            "intactOn": peers,
        },
        lookalikes=(COPIED_WHILE_RUNNING,) if is_hot else (),
        records_at_risk=place.records,
        bytes_at_risk=place.size_in_bytes,
        committed=_committed(audit, replica, first_offset),
        actions=_ELSEWHERE if peers or len(audit.replicas) == 1 else _NOWHERE_ELSE,
    )


def _further_mismatches(audit: PartitionAudit, replica: ReplicaAudit) -> Finding:
    """One finding for all batches beyond those that have a finding each."""
    damaged = replica.damaged
    last, count = damaged.places[-1], damaged.count - len(damaged.places)
    alone = damaged.alone - sum(not place.intact_on for place in damaged.places)
    saved = f"{alone:,} are intact on no supplied copy" if alone else "all intact elsewhere"
    return finding(
        BATCH_CRC_MISMATCH,
        f"{replica.name}: {count:,} further batches have a wrong CRC, from offset "
        f"{last.next_offset:,} of {posixpath.basename(last.where.file)} on; {saved}",
        severity="C" if alone else "H",
        confidence="proven",
        directory=replica.directory,
        offsets=(last.next_offset, replica.log_end),
        evidence={"batches": count, "batchesIntactNowhere": alone},
        actions=_ELSEWHERE if not alone or len(audit.replicas) == 1 else _NOWHERE_ELSE,
    )


def _committed(audit: PartitionAudit, replica: ReplicaAudit, offset: int) -> str | None:
    if isinstance(audit.comparison, NotCompared):
        return None
    bound = replica.bounds
    return "known" if offset < bound.known else "possible" if offset < bound.possible else "none"


def _stop_finding(audit: PartitionAudit, replica: ReplicaAudit, stop: UnreadableRegion) -> Finding:
    """Rate the place where the batches of a segment could not be followed any further."""
    replaced = _is_replaced(audit, replica, stop)
    code, severity, confidence = _judged(replica, stop, is_replaced=replaced)
    directory = replica.directory
    offset = stop.where.offset
    hides = offset is not None and stop.next_offset is not None and stop.next_offset > offset
    saved, held = "", None
    if offset is not None and stop.next_offset is not None and hides:
        held = stop.next_offset - offset
        pronoun = "it" if held == 1 else "them"
        saved = f"; {offsets_words(offset, stop.next_offset)}: up to {records_text(held)}"
        saved += f", another copy has {pronoun}" if replaced else ""
    until = None if offset is None else stop.next_offset or offset
    return finding(
        code,
        f"{stop.where}: {stop.problem}{saved}",
        severity=severity,
        confidence=confidence,
        directory=directory,
        file=_file(directory, stop.where),
        position=stop.where.position,
        size_in_bytes=stop.size_in_bytes,
        offsets=None if offset is None or until is None else (offset, until),
        evidence={"problem": stop.problem, "bytesNotRead": stop.size_in_bytes},
        lookalikes=None if stop.ends_log else (),
        records_at_risk=held,
        bytes_at_risk=stop.size_in_bytes,
        actions=_actions_of(replica, stop, code, severity),
    )


def _actions_of(
    replica: ReplicaAudit, stop: UnreadableRegion, code: str, severity: str | None
) -> tuple[str, ...] | None:
    """The actions; a clean log loses zeros and a torn end only if its next start recovers it."""
    if code == ZERO_TAIL and severity == "I":
        return (NOTHING_TO_DO,)
    if code in _TAILS and stop.ends_log and replica.directory.log_directory.clean_shutdown:
        start = replica.start
        is_enough = isinstance(start, Recovery) and start.rebuild is not None
        return (REBUILD_INDEX if is_enough else FORCE_RECOVERY, COMPARE_REPLICAS)
    return actions_of_refusal(stop.problem)


def _is_replaced(audit: PartitionAudit, replica: ReplicaAudit, stop: UnreadableRegion) -> bool:
    if isinstance(audit.comparison, NotCompared) or len(audit.replicas) == 1:
        return False
    stops = {each.files: each.summary.stops for each in audit.replicas}
    return is_replaced(audit.comparison, replica.files, stop, stops)


def _judged(
    replica: ReplicaAudit, stop: UnreadableRegion, *, is_replaced: bool
) -> tuple[str, str | None, str]:
    directory = replica.directory
    is_hot = stop.ends_log and not directory.log_directory.clean_shutdown
    confidence = "possible" if is_hot else "proven"
    if stop.end is ScanEnd.REFUSED:
        return UNREADABLE_FILE, None, "proven"
    if not stop.goes_on and stop.end is ScanEnd.ZEROS:
        return ZERO_TAIL, _severity_of_zeros(stop, is_hot=is_hot), confidence
    if not stop.begins_batch and not _is_fragment(stop):
        return UNREADABLE_REGION, None, confidence
    match stop.end:
        case ScanEnd.UNKNOWN_MAGIC:
            return UNKNOWN_VERSION if is_unread(stop) else MAGIC_IMPOSSIBLE, None, "proven"
        case ScanEnd.TORN if not stop.goes_on:
            return TORN_TAIL, "L" if stop.ends_log else "H", confidence
        case ScanEnd.WRONG_CRC:
            return _judged_checksum(directory, stop, is_replaced=is_replaced)
    return BATCH_LENGTH_IMPOSSIBLE, None, confidence


def _judged_checksum(
    directory: PartitionDirectory, stop: UnreadableRegion, *, is_replaced: bool
) -> tuple[str, str | None, str]:
    """What the checksum shows: only the length is wrong, or the content is damaged, too."""
    if stop.goes_on:
        match _repair(directory, stop.where, stop.size_in_bytes):
            case Repair.LENGTH:
                return BATCH_LENGTH_IMPOSSIBLE, None, "proven"
            case Repair.MAGIC:
                return MAGIC_IMPOSSIBLE, None, "proven"
    return BATCH_CRC_MISMATCH, "H" if is_replaced else "C", "proven"


def _repair(directory: PartitionDirectory, where: LogPosition, size: int) -> Repair | None:
    start = where.position or 0
    path = posixpath.join(directory.path, posixpath.basename(where.file))
    return repair_of(path, start, start + size, context=directory.context)


def _is_fragment(stop: UnreadableRegion) -> bool:
    """Whether too few bytes are left to tell it from a batch."""
    is_small = not stop.goes_on and stop.size_in_bytes < MIN_SIZE_0
    return is_small and stop.end is ScanEnd.TORN


def _severity_of_zeros(stop: UnreadableRegion, *, is_hot: bool) -> str:
    """The severity of zeros; a shutdown trims preallocated ones."""
    if not stop.ends_log or not is_hot:
        return "H"
    return "I" if stop.may_be_preallocated else "M"


def _regression(replica: ReplicaAudit) -> Finding:
    summary, directory = replica.summary, replica.directory
    first = summary.regressions[0]
    return finding(
        OFFSET_REGRESSION,
        f"{first.where}: starts at or below offset {first.previous_last_offset:,}, the last offset "
        f"before it; {summary.regression_count} such batches",
        directory=directory,
        file=_file(directory, first.where),
        position=first.where.position,
        offsets=(first.where.offset or 0, first.previous_last_offset + 1),
        evidence={
            "previousLastOffset": first.previous_last_offset,
            "batches": summary.regression_count,
        },
    )


def _file(directory: PartitionDirectory, where: LogPosition) -> str:
    """The file, relative to its log directory."""
    root = directory.log_directory.path.rstrip("/") + "/"
    if where.file.startswith(root):
        return where.file[len(root) :]
    return posixpath.join(*where.file.split("/")[-2:])
