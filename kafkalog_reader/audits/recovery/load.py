"""Simulates step by step how a starting broker loads one log; no file is changed.

Two passes read segments. The first reads every segment whose offset index is missing, or whose
transaction index contradicts its name; it cuts without a message, and later segments stay. The
second starts at the recovery point after an unclean shutdown; where it cuts, it deletes all later
segments. Source: Kafka 4.3, storage.internals.log.LogLoader.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.recovery.batches import WalkEnd, following
from kafkalog_reader.audits.recovery.index import (
    check_transaction_index,
    index_contradiction,
    overwritten_index,
)
from kafkalog_reader.audits.recovery.loss import LostBytes
from kafkalog_reader.audits.recovery.outcome import DirectoryFailure, StartFailure
from kafkalog_reader.audits.recovery.producers import ProducerReplay
from kafkalog_reader.audits.recovery.rebuilt_index import ENTRY_SIZES
from kafkalog_reader.audits.recovery.rule import CURRENT_RULE, IndexCheck, StartRule
from kafkalog_reader.audits.recovery.segment import (
    LoadingSegment,
    Recovered,
    emptied,
    loading_segments,
    read_next_offset,
    recover,
)
from kafkalog_reader.audits.recovery.sound_prefix import SoundPrefix, sound_prefix
from kafkalog_reader.audits.recovery.split import split_segment
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.offset_limits import MAX_RELATIVE_OFFSET
from kafkalog_reader.io.interrupted_swap import read_next_offset as end_of
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.partition_directory import readable_segments
from kafkalog_reader.io.progress import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.recovery.rule import LogConfig
    from kafkalog_reader.io.directories import PartitionDirectory
    from kafkalog_reader.io.segment_files import SegmentFiles


_INTERVAL: Final = (
    "what the start makes of that is not known: it depends on index.interval.bytes of the broker, "
    "which the topic does not set"
)


class LogLoad:
    """The load of one log.

    Args:
        directory: the replica.
        cache: its leader epoch checkpoint.
        recovery_point: from the checkpoint; 0 without a row.
        log_start: from the checkpoint; 0 without a row.
        is_clean: whether the clean-shutdown marker exists.
        is_deleted: whether the directory waits for its deletion; it is loaded, but not recovered.
        config: of the topic.
        rule: of the broker's release.
        progress: receives the number of bytes read.
        known: segments that were already read, by the path of their log file.
        without_last_index: assume that the index files of the last segment were moved away.

    Attributes:
        segments: what is left of the log.
        log_end_offset: the one that the broker sees.
        log_start_offset: the first offset that it serves.
        cache: with the epochs that recovery found, without those beyond the end.
        read: base offsets of the segments whose every batch was checked.
        lost: byte ranges that were cut or deleted.
        reasons: what happened, as text.
        is_emptied: whether the log start is beyond the end.
        first_damage: the first damage that it met; None if it met none.
        unknown: why the log end is not known; empty if it is.
    """

    def __init__(
        self,
        directory: PartitionDirectory,
        cache: LeaderEpochCache,
        *,
        recovery_point: int,
        log_start: int,
        is_clean: bool,
        config: LogConfig,
        is_deleted: bool = False,
        rule: StartRule = CURRENT_RULE,
        progress: Progress = no_progress,
        known: Mapping[str, ReadSegment] | None = None,
        without_last_index: bool = False,
    ) -> None:
        self.cache = cache
        self.segments: list[LoadingSegment] = []
        self.log_start_offset = log_start
        self.log_end_offset = log_start
        self.read: set[int] = set()
        self.lost: list[LostBytes] = []
        self.reasons: list[str] = []
        self.is_emptied = False
        self.first_damage: int | None = None
        self.unknown = ""
        self._directory = directory
        self._recovery_point = recovery_point
        self._log_start = log_start
        self._is_clean = is_clean
        self._is_deleted = is_deleted
        self._config = config
        self._rule = rule
        self._progress = progress
        self._known = known or {}
        self._without_last_index = without_last_index
        self._on_disk: LoadingSegment | None = None
        self._all_segments: list[LoadingSegment] = []

    def run(self) -> None:
        """Load the log.

        Raises:
            StartFailure: the load ends the broker.
            UnreadableFileError: a file cannot be opened or read.
        """
        self.segments = loading_segments(self._directory, self._rule.reading)
        if self.segments and self._without_last_index:
            last = self.segments[-1]
            self.segments[-1] = replace(last, files=_without_indexes(last.files))
        self._on_disk = replace(self.segments[-1]) if self.segments else None
        self._all_segments = [*self.segments]
        self._note_deleted()
        self._load_segment_files()
        if self._is_deleted:
            return
        if not self._is_clean:
            self._recover_log()
        self._find_end()
        self._check_all_indexes()
        if self.segments:
            self._resize_indexes(self.segments[-1])
        else:
            self._check_new_index(self._directory.path)
        self.cache = self.cache.truncate_from_end(self.log_end_offset)
        if self.segments:
            self.log_start_offset = max(self._log_start, self.segments[0].base_offset)
        clipped_at = self._log_start if self._rule.clips_at_checkpoint else self.log_start_offset
        self.cache = self.cache.truncate_from_start(clipped_at)
        if self._rule.keeps_producers:
            self._producers.load(
                self.segments,
                self.log_end_offset,
                self.log_start_offset,
                is_clean=self._is_clean,
                deletes_strays=self._rule.deletes_stray_snapshots,
            )

    @property
    def may_differ(self) -> bool:
        """Whether batches overlap where offsets were searched: releases may find others."""
        return any(segment.overlaps for segment in self._all_segments)

    def _note_deleted(self) -> None:
        """Note segments marked .deleted, which the start deletes, between those that stay."""
        for files in readable_segments(self._directory, live_only=False):
            if files.suffix != "deleted" or files.log_size is None:
                continue
            number = bisect(self.segments, files.base_offset, key=lambda each: each.base_offset)
            if not 0 < number < len(self.segments):
                continue
            before = self.segments[number - 1]
            if end_of(before.files, before.context) <= files.base_offset:
                self.reasons.append(
                    f"the start deletes {shown(files.path('log'))}: no other segment has "
                    f"offset {files.base_offset:,}"
                )

    def _load_segment_files(self) -> None:
        position = 0
        while position < len(self.segments):
            segment = self.segments[position]
            position += 1
            if segment.has_own_index and segment.files.time_index_size is None:
                self._check_new_index(segment.files.path("timeindex"))
            problem = self._index_problem(segment) if segment.has_own_index else ""
            if not problem:
                continue
            found = self._recovered(segment, self.segments[: position - 1])
            self._check_room(segment, found)
            if found.falls:
                unless = f" ({_INTERVAL})" if found.may_fail_otherwise else ""
                raise StartFailure(f"{_path(segment)}: offsets fall, and {problem}{unless}")
            if not self._rule.learns_all_epochs:
                found = replace(found, cache=self.cache)
            if found.overflows:
                # It is no part of the log yet, so that its file stays beside the parts.
                assert found.index is not None
                segment.index = overwritten_index(
                    segment.files, found.index, self._config.max_index_size, context=segment.context
                )
                self._split(segment, found, is_part_of_log=False)
                position = 0
                continue
            self.reasons.append(f"{problem}: segment {segment.base_offset} is read again")
            self._keep(segment, found)

    def sound_end(self) -> int:
        """One past the last batch that is sound and has only sound ones before it.

        Only segments that a start reads, and the last segment, are read for this.
        """
        if self.first_damage is not None:
            return self.first_damage
        return self._sound_prefix.next_offset

    @cached_property
    def _sound_prefix(self) -> SoundPrefix:
        """The sound prefix of the last segment."""
        last = self.segments[-1] if self.segments else None
        if last is not None and last.recovered is not None:
            found = last.recovered
            return SoundPrefix(found.next_offset, found.greatest_offset, is_whole=True)
        if last is not None and self._is_known_sound(last):
            end = self._known[last.path].next_offset
            return SoundPrefix(next_offset=end, greatest_offset=end - 1, is_whole=True)
        if self._on_disk is None:  # the log is empty at its start
            return SoundPrefix(self._log_start, self._log_start - 1, is_whole=True)
        return sound_prefix(self._on_disk, self._progress)

    @property
    def ends_torn(self) -> bool:
        """Whether something follows the sound batches of the last segment."""
        return bool(self.segments) and not self._sound_prefix.is_whole

    def hidden_records(self) -> int:
        """Client records of the last segment outside the offsets that the broker sees."""
        prefix = self._sound_prefix
        if not self.segments or (prefix.is_whole and prefix.greatest_offset < self.log_end_offset):
            return 0
        last = self.segments[-1]
        return LostBytes.of(last).records_outside(
            last.base_offset, self.log_end_offset, self._progress
        )

    def _index_problem(self, segment: LoadingSegment) -> str:
        """Why a segment is recovered even after a clean shutdown; empty if it need not be."""
        is_made_anew = segment.files.suffix == "swap"  # when the start looks for its end
        if segment.files.offset_index_size is None and not is_made_anew:
            return f"{LogPosition(shown(segment.files.path('index')))}: missing"
        if self._rule.index_check is IndexCheck.REBUILDS and (
            problem := index_contradiction(segment.files, context=segment.context)
        ):
            return problem
        is_above_base, version = check_transaction_index(
            segment.files,
            context=segment.context,
            reads_whole_version=self._rule.reads_whole_version,
        )
        name = shown(segment.files.path("txnindex"))
        if version is not None:
            raise StartFailure(f"{name}: aborted transaction of version {version}, only 0 is known")
        return "" if is_above_base else f"{name}: an entry is below the segment"

    def _recover_log(self) -> None:
        while not self._is_recovered():
            pass  # again from the recovery point on, after a split

    def _is_recovered(self) -> bool:
        first = max(
            (
                number
                for number, segment in enumerate(self.segments)
                if segment.base_offset <= self._recovery_point
            ),
            default=0,
        )
        for number, segment in enumerate(self.segments[first:], start=first):
            found = self._recovered(segment, self.segments)
            self._check_room(segment, found)
            if found.overflows:
                self._split(segment, found, is_part_of_log=True)
                return False
            if found.may_fail_otherwise:
                self._note_unknown(segment)
            if found.falls:
                found = emptied(segment, found, self._progress)
                self.reasons.append(
                    f"{_path(segment)}: offsets fall where its index needs them to rise, "
                    + (
                        "so the segment is emptied"
                        if found.stop == segment.start
                        else "and a search for its base offset ends at position "
                        f"{found.stop - segment.start}"
                        if found.stop < segment.stop
                        else "and a search for its base offset finds nothing to cut"
                    )
                )
            is_cut = found.stop < segment.stop
            self._keep(segment, found)
            if is_cut:
                self._delete(number + 1)
                break
        return True

    def _recovered(self, segment: LoadingSegment, loaded: Sequence[LoadingSegment]) -> Recovered:
        """Recover a segment.

        Args:
            segment: the segment.
            loaded: those that are part of the log already.
        """
        if self._rule.keeps_producers:
            self._producers.rebuild(loaded, segment.base_offset, self._log_start)
        self.read.add(segment.base_offset)
        found = recover(
            segment,
            self.cache,
            self._config,
            self._progress,
            known=self._known_of(segment),
        )
        is_error = found.overflows or found.falls or found.is_full
        if self._rule.keeps_producers and not is_error and found.snapshot_offset is not None:
            self._producers.take_snapshot(found.snapshot_offset)
        return found

    @cached_property
    def _producers(self) -> ProducerReplay:
        return ProducerReplay(self._directory, self._is_known_sound, self._progress)

    def _check_room(self, segment: LoadingSegment, found: Recovered) -> None:
        if found.is_full:
            raise StartFailure(
                f"{_path(segment)}: its rebuilt index needs more entries than segment.index.bytes "
                f"of {self._config.max_index_size} holds"
            )

    def _known_of(self, segment: LoadingSegment) -> ReadSegment | None:
        """The result of an earlier reading, if it covered the whole segment."""
        known = self._known.get(segment.path)
        if known is None or (segment.start, segment.stop) != (0, known.size_in_bytes):
            return None
        return known

    def _is_known_sound(self, segment: LoadingSegment) -> bool:
        known = self._known_of(segment)
        return known is not None and known.is_sound

    def _keep(self, segment: LoadingSegment, found: Recovered) -> None:
        if found.problem and self.first_damage is None:
            self.first_damage = found.next_offset
        if found.stop < segment.stop:
            self.lost.append(LostBytes.after(segment, found.stop, found.next_offset))
            self.reasons.append(found.problem or f"{_path(segment)}: cut at position {found.stop}")
        segment.stop = found.stop
        segment.recovered, segment.index = found, found.index
        self.cache = found.cache

    def _delete(self, first: int) -> None:
        removed = self.segments[first:]
        if removed:
            bases = ", ".join(str(segment.base_offset) for segment in removed)
            self.reasons.append(f"later segments are deleted: {bases}")
        self.lost += [LostBytes.of(segment) for segment in removed]
        for segment in removed:
            self._producers.forget(segment.base_offset)
        del self.segments[first:]

    def _split(self, segment: LoadingSegment, found: Recovered, *, is_part_of_log: bool) -> None:
        """Split a segment that has an offset beyond 2^31 of its base.

        The parts replace segments that begin where they do. If the segment was part of the log, it
        is removed, and with it a part that begins where it did, unless that is the lowest one.
        """
        self.cache = found.cache  # with the epochs before that offset
        parts, end, walk_end = split_segment(segment, self._config, self._progress)
        if not segment.base_offset + MAX_RELATIVE_OFFSET < end < following(end):
            raise StartFailure(
                f"{_path(segment)}: an offset is not within 2^31 of the segment's base, "
                "and the last one is, so it cannot be split"
            )
        if walk_end is not WalkEnd.END:
            raise StartFailure(f"{_path(segment)}: cannot be split, its end is damaged")
        self.reasons.append(
            f"{_path(segment)}: offset {end:,} is not within 2^31 of the segment's base: "
            f"split into {len(parts)}"
        )
        bases = {part.base_offset for part in parts}
        if len(bases) < len(parts):
            raise DirectoryFailure(
                f"{_path(segment)}: cannot be split, two parts begin at the same offset"
            )
        replaced = [each for each in self.segments if each.base_offset in bases]
        self.lost += [LostBytes.of(each) for each in replaced if each is not segment]
        self.segments = [each for each in self.segments if each not in replaced]
        if is_part_of_log:
            if segment in self.segments:
                self.segments.remove(segment)
                self._producers.forget(segment.base_offset)
            elif segment.base_offset != min(bases):
                (own,) = (each for each in parts if each.base_offset == segment.base_offset)
                self.lost.append(LostBytes.of(own))
                parts.remove(own)
        self.segments = sorted((*self.segments, *parts), key=lambda each: each.base_offset)
        self._all_segments += parts

    def _find_end(self) -> None:
        if not self.segments:
            self.reasons.append("there is no segment")
            return
        last = self.segments[-1]
        if last.recovered is not None and last.recovered.may_end_otherwise:
            self._note_unknown(last)
        end = read_next_offset(last, self._progress)
        if end >= self._log_start or not self._rule.empties_beyond_end:
            self.log_end_offset = end
            return
        self.reasons.append(
            f"the log ends at {end:,}, below its start {self._log_start:,} in the checkpoint: "
            "every segment is deleted"
        )
        self.lost += [LostBytes.of(segment) for segment in self.segments]
        for segment in self.segments:
            self._producers.forget(segment.base_offset)
        self.segments = []
        self.cache = LeaderEpochCache()
        self.is_emptied = True

    def _check_all_indexes(self) -> None:
        if self._rule.index_check is not IndexCheck.ENDS_BROKER:
            return
        for segment in self.segments:
            if segment.recovered is None and (
                problem := index_contradiction(segment.files, context=segment.context)
            ):
                raise StartFailure(problem)

    def _note_unknown(self, segment: LoadingSegment) -> None:
        if not self.unknown:
            self.unknown = f"{_path(segment)}: offsets fall, and {_INTERVAL}"
            self.reasons.append(self.unknown)

    def _check_new_index(self, path: str) -> None:
        """An index that the start creates must have room for an entry."""
        if self._config.max_index_size < max(ENTRY_SIZES.values()):
            raise StartFailure(
                f"{shown(path)}: segment.index.bytes is {self._config.max_index_size}, too few for "
                "an entry of a new index"
            )

    def _resize_indexes(self, last: LoadingSegment) -> None:
        """Resize the active segment's indexes to the configured size, without a check."""
        if not last.has_own_index:
            return  # rebuilt, with no more entries than fit
        sizes = {"index": last.files.offset_index_size, "timeindex": last.files.time_index_size}
        for kind, entry_size in ENTRY_SIZES.items():
            size = sizes[kind] or 0
            greatest = self._config.max_index_size // entry_size * entry_size
            if size // entry_size * entry_size > greatest:
                raise StartFailure(
                    f"{shown(last.files.path(kind))}: {size} bytes, and segment.index.bytes is "
                    f"{self._config.max_index_size}"
                )


def _without_indexes(files: SegmentFiles) -> SegmentFiles:
    return replace(files, offset_index_size=None, time_index_size=None, transaction_index_size=None)


def _path(segment: LoadingSegment) -> str:
    return shown(segment.path)
