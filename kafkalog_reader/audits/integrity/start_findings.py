"""Findings about the next start of the broker: what it cuts, serves, sets aside or misreads.

``audits.recovery`` predicts the start; this module turns it into findings with their causes.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import (
    COMPARE_REPLICAS,
    DO_NOT_START,
    KEEP_OLD_SEGMENTS,
    LEAVE_ASIDE,
    MOVE_COPY_ASIDE,
    NOTHING_TO_DO,
    REBUILD_INDEX,
    RESTORE_TOPIC_ID,
    SAVE_RECORDS,
)
from kafkalog_reader.audits.catalogue.batch_rules import (
    MAGIC_IMPOSSIBLE,
    ZERO_TAIL,
)
from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.log_rules import (
    DAMAGE_BELOW_RECOVERY_POINT,
    END_WILL_BE_MISREAD,
    START_WILL_CUT,
    START_WILL_EXPIRE,
    START_WILL_SERVE_DAMAGE,
    START_WILL_SET_ASIDE,
)
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.file_repair import Write, index_moves, move_aside
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.format.partition_metadata import PartitionMetadata, build_partition_metadata
from kafkalog_reader.io.names import METADATA_TOPIC, PARTITION_METADATA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kafkalog_reader.audits.integrity.file_repair import FileRepair
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.audits.recovery.recovery import Recovery

_FAILS: Final = (StartOutcome.DIRECTORY_OFFLINE, StartOutcome.BROKER_ABORTS)
_MAY_STOP_RECOVERY: Final = codes_with(Role.MAY_STOP_RECOVERY)
_DAMAGED_BATCHES: Final = codes_with(Role.DAMAGED_BATCH)
_FAILS_READERS: Final = codes_with(Role.FAILS_READERS)
_TAILS: Final = codes_with(Role.TAIL)
_ZERO_TIMES: Final = codes_with(Role.ZERO_TIMES)


def start_findings(
    replica: Replica,
    found: Sequence[Finding],
    recovery: Recovery | LocatedError | None,
    log_end_offset: int,
    is_held_elsewhere: Callable[[int], bool],
) -> Iterator[Finding]:
    """Yield KL-412 to 418 for one replica, each with the finding that causes it.

    Args:
        replica: of a completely supplied log directory; nothing is known of others.
        found: findings about the bytes of its segments.
        recovery: the predicted start; nothing is yielded if it cannot be predicted.
        log_end_offset: one past the last sound batch, even after damage.
        is_held_elsewhere: whether other replicas have all its records from an offset on.
    """
    directory = replica.directory
    is_clean = directory.log_directory.clean_shutdown
    if is_clean is None or directory.topic == METADATA_TOPIC:
        return
    if recovery is None or isinstance(recovery, LocatedError):
        return
    in_order = sorted(found, key=lambda each: (each.file or "", each.position or 0))
    start = _Start(replica, recovery, log_end_offset, is_held_elsewhere)
    if recovery.outcome is StartOutcome.STRAY:
        yield start.set_aside()
        return
    if recovery.outcome is StartOutcome.EXPIRED:
        yield start.expires(in_order)
    elif recovery.expires_later:
        yield start.expires_later()
    yield from start.cut(in_order)
    yield from start.left(in_order, is_clean=is_clean)
    yield from start.misread(in_order)


class _Start:
    """The findings of one predicted start."""

    def __init__(
        self,
        replica: Replica,
        recovery: Recovery,
        log_end_offset: int,
        is_held_elsewhere: Callable[[int], bool],
    ) -> None:
        self._replica = replica
        self._recovery = recovery
        self._log_end_offset = log_end_offset
        self._is_held_elsewhere = is_held_elsewhere
        self._read = frozenset(recovery.segments_read)

    def set_aside(self) -> Finding:
        """KL-417: the whole replica is set aside."""
        first = self._replica.log_start_offset
        actions, repairs = self._kept_by()
        return self._reported(
            START_WILL_SET_ASIDE,
            self._recovery.reason,
            severity=self._severity(first, self._log_end_offset > first),
            offsets=(first, max(first, self._log_end_offset)),
            records_at_risk=self._recovery.records_cut,
            actions=actions,
            repairs=repairs,
        )

    def _kept_by(self) -> tuple[tuple[str, ...], tuple[FileRepair, ...]]:
        """What to do about a directory that is set aside, and how to do the first of it."""
        stray, directory = self._recovery.stray, self._replica.directory
        if stray is not None and stray.is_unloaded:  # KL-319 says how to repair its metadata
            return (DO_NOT_START, SAVE_RECORDS), ()
        if stray is not None and stray.has_topic_id:
            if stray.topic_id is None or stray.is_only_replica:  # of no topic here, or another one
                return (LEAVE_ASIDE, SAVE_RECORDS), ()
            root, name = posixpath.split(directory.path.rstrip("/"))
            return (MOVE_COPY_ASIDE, DO_NOT_START), (move_aside(root, name),)
        if stray is None or stray.topic_id is None:
            return (RESTORE_TOPIC_ID, DO_NOT_START, SAVE_RECORDS), ()
        lines = build_partition_metadata(PartitionMetadata(version=0, topic_id=stray.topic_id))
        path = posixpath.join(directory.path, PARTITION_METADATA)
        write = Write(path=path, lines=tuple(lines.decode().split("\n")))
        return (RESTORE_TOPIC_ID, DO_NOT_START, SAVE_RECORDS), (write,)

    def expires(self, found: Sequence[Finding]) -> Finding:
        """KL-418: time retention deletes segments that look like those of 1970."""
        first = self._replica.log_start_offset
        loaded = self._recovery.loaded
        after = self._log_end_offset if loaded is None else loaded.log.log_start_offset
        cause = next((each for each in found if each.code in _ZERO_TIMES), None)
        return self._reported(
            START_WILL_EXPIRE,
            self._recovery.reason,
            severity=self._severity(first, self._recovery.records_cut > 0),
            offsets=(first, max(first, after)),
            records_at_risk=self._recovery.records_cut,
            bytes_at_risk=self._recovery.bytes_cut,
            cause=cause,
            actions=(KEEP_OLD_SEGMENTS, DO_NOT_START)
            if cause is None
            else (REBUILD_INDEX, DO_NOT_START),
        )

    def expires_later(self) -> Finding:
        """KL-418 as information: only file times show it, and they may be those of a copy."""
        return finding(
            START_WILL_EXPIRE,
            f"{self._replica.name}: {self._recovery.expires_later}",
            severity="I",
            confidence="possible",
            directory=self._replica.directory,
        )

    def cut(self, found: Sequence[Finding]) -> Iterator[Finding]:
        """KL-412: recovery truncates, and deletes all later segments."""
        recovery = self._recovery
        if recovery.outcome is not StartOutcome.CUT:
            return
        cause = next(
            (e for e in found if _may_stop_recovery(e) and _base_of(e) in self._read), None
        )
        after = recovery.assumed_log_end
        if after is None or (cause is None and not recovery.records_cut):
            return  # zeros after the end are cut without a loss
        records = recovery.records_cut
        # A batch that a crash left unfinished was never stored; a damaged one may be repairable.
        has_loss = records > 0 or (cause is not None and cause.code in _DAMAGED_BATCHES)
        yield self._reported(
            START_WILL_CUT,
            f"the next start cuts {recovery.cut_text} off the log, at offset {after:,} "
            f"({recovery.reason})",
            severity=self._severity(after, has_loss) if has_loss else "L",
            offsets=(after, max(after, self._log_end_offset)),
            records_at_risk=records,
            bytes_at_risk=recovery.bytes_cut,
            cause=cause,
            actions=None if has_loss else (NOTHING_TO_DO,),
        )

    def left(self, found: Sequence[Finding], *, is_clean: bool) -> Iterator[Finding]:
        """KL-413 or KL-414: damage that the start does not check."""
        unseen = [
            each
            for each in found
            if (fails_readers(each) or (is_clean and each.code in _TAILS))
            and _base_of(each) not in self._read
        ]
        if not is_clean:  # a torn end is damage, except in the last segment
            unseen += [
                each
                for each in found
                if each.code in _TAILS and each.severity == "H" and _base_of(each) not in self._read
            ]
        if not unseen:
            return
        first = unseen[0]
        places = f"; {len(unseen):,} such places" if len(unseen) > 1 else ""
        if self._recovery.outcome in _FAILS:
            yield self._of(
                START_WILL_SERVE_DAMAGE if is_clean else START_WILL_CUT,
                first,
                f"the next start fails: {self._recovery.reason}",
            )
        elif is_clean:
            yield self._of(
                START_WILL_SERVE_DAMAGE,
                first,
                "there is a clean-shutdown marker: the next start checks nothing, and readers "
                f"fail at the damage{places}",
                is_rebuilt=self._recovery.rebuild is not None,
            )
        else:
            yield self._of(
                DAMAGE_BELOW_RECOVERY_POINT,
                first,
                "the damage is below the recovery point: no start checks it, and readers and the "
                f"cleaner fail at it{places}",
            )

    def misread(self, found: Sequence[Finding]) -> Iterator[Finding]:
        """KL-415: the broker sees another log end than the end of the sound batches."""
        after = self._recovery.assumed_log_end
        serves = self._recovery.outcome in (StartOutcome.LOADS, StartOutcome.HIDDEN)
        if not serves or after in (None, self._log_end_offset):
            return
        assert after is not None
        records = self._recovery.records_cut
        low, high = sorted((after, self._log_end_offset))
        cause = next((e for e in reversed(found) if e.code in _FAILS_READERS | _TAILS), None)
        yield self._reported(
            END_WILL_BE_MISREAD,
            f"the broker will see the log end at {after:,}, the sound batches end at "
            f"{self._log_end_offset:,}: "
            + (
                f"{records_text(records)} in the file will not be served, and new records will "
                "take their offsets"
                if records
                else "it assigns offsets that already exist, or skips some"
            )
            + (f"; not known: {self._recovery.unknown}" if self._recovery.unknown else ""),
            offsets=(low, high),
            records_at_risk=records or None,
            cause=cause,
            actions=self._read_again_by(),
            repairs=self._moves(),
        )

    def _read_again_by(self) -> tuple[str, ...] | None:
        """What to do about a misread end; without the marker there is none to move aside."""
        if self._recovery.rebuild:
            return REBUILD_INDEX, DO_NOT_START
        is_marked = self._replica.directory.log_directory.clean_shutdown
        return None if is_marked else (DO_NOT_START, COMPARE_REPLICAS)

    def _severity(self, offset: int, has_records: bool) -> str:
        return "H" if not has_records or self._is_held_elsewhere(offset) else "C"

    def _of(self, code: str, cause: Finding, effect: str, *, is_rebuilt: bool = False) -> Finding:
        """A finding that another one causes; if ``is_rebuilt``, moving index files aside helps."""
        offsets = (
            None
            if cause.first_offset is None or cause.next_offset is None
            else (cause.first_offset, cause.next_offset)
        )
        return self._reported(
            code,
            effect,
            offsets=offsets,
            cause=cause,
            actions=(REBUILD_INDEX, COMPARE_REPLICAS) if is_rebuilt else None,
            repairs=self._moves() if is_rebuilt else (),
        )

    def _moves(self) -> tuple[FileRepair, ...]:
        rebuild = self._recovery.rebuild
        return index_moves(self._replica.directory, rebuild.files if rebuild else ())

    def _reported(
        self,
        code: str,
        effect: str,
        *,
        severity: str | None = None,
        offsets: tuple[int, int] | None = None,
        records_at_risk: int | None = None,
        bytes_at_risk: int | None = None,
        cause: Finding | None = None,
        actions: tuple[str, ...] | None = None,
        repairs: tuple[FileRepair, ...] = (),
    ) -> Finding:
        recovery = self._recovery
        return finding(
            code,
            f"{self._replica.name}: {effect}",
            severity=severity,
            confidence=(
                "possible" if recovery.unknown else "proven" if cause is None else cause.confidence
            ),
            directory=self._replica.directory,
            file=None if cause is None else cause.file,
            position=None if cause is None else cause.position,
            offsets=offsets,
            evidence={
                "outcome": recovery.outcome.value,
                "logEndOffset": self._log_end_offset,
                "logEndOffsetAfterStart": recovery.log_end_offset_after_start,
                "recordsCut": recovery.records_cut,
                "maxCutInDamagedBatches": recovery.max_cut_in_damaged_batches,
                "maxCutInTornBatch": recovery.max_cut_in_torn_batch,
                "bytesCut": recovery.bytes_cut,
            },
            lookalikes=None if cause is None else cause.lookalikes,
            records_at_risk=records_at_risk,
            bytes_at_risk=bytes_at_risk,
            caused_by=None if cause is None else f"{cause.code} {cause.file} {cause.position}",
            actions=actions,
            repairs=repairs,
        )


def _may_stop_recovery(each: Finding) -> bool:
    """Whether recovery stops there; also at zeros, if they are not at the end of the log."""
    return each.code in _MAY_STOP_RECOVERY or (each.code == ZERO_TAIL and each.severity == "H")


def fails_readers(each: Finding) -> bool:
    """Whether readers and recoveries fail there.

    A batch whose magic was changed to that of messages fails their checksum; a magic above 2 is
    read.
    """
    is_read_as_message = dict(each.evidence).get("readAs") == "message"
    return each.code in _FAILS_READERS or (each.code == MAGIC_IMPOSSIBLE and is_read_as_message)


def _base_of(each: Finding) -> int:
    name = (each.file or "").rsplit("/", 1)[-1]
    return int(name.split(".")[0]) if name[:20].isdigit() else 0
