"""Says why copies of one batch differ: damage, a header field outside the CRC, or content."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.difference import DifferenceKind
from kafkalog_reader.errors import CorruptLogError, LimitReachedError, UnsupportedFormatError
from kafkalog_reader.format.batch_fields import CRC_COVERS_FROM

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_reader.audits.log.batch_stream import BatchStream
    from kafkalog_reader.format.record_batch import RecordBatch


def differing_kind(
    streams: Sequence[BatchStream], *, is_reframed: bool, may_be_cleaned: bool
) -> DifferenceKind:
    """Classify the current batches of replicas that share base offset and leader epoch.

    Args:
        streams: replicas whose current batches start at the same offset and are not all equal, or
            overlap with a batch of another replica.
        is_reframed: whether intact ones overlap so.
        may_be_cleaned: whether compaction may have run on one of them.
    """
    intact = [stream for stream in streams if stream.is_intact]
    if is_reframed or len({stream.last_offset for stream in intact}) > 1:
        return DifferenceKind.CONFLICT
    if len({bytes(stream.batch[CRC_COVERS_FROM:]) for stream in intact}) <= 1:
        all_intact = len(intact) == len(streams)
        return DifferenceKind.UNCOVERED if all_intact else DifferenceKind.DAMAGED
    if not may_be_cleaned and not any(_shows_cleaning(stream) for stream in intact):
        return DifferenceKind.CONFLICT
    from kafkalog_reader.audits.comparison.same_records import records_agree  # slow to import

    agree = records_agree(intact)
    if agree is not None:
        return DifferenceKind.CLEANED if agree else DifferenceKind.CONFLICT
    from kafkalog_reader.format.record_batch import parse_record_batch  # slow to import

    batches = []
    try:
        for stream in intact:
            with suppress(CorruptLogError):  # the cleaner writes only batches that can be decoded
                batches.append(parse_record_batch(bytes(stream.batch), stream.place().where))
    except (LimitReachedError, UnsupportedFormatError):
        return DifferenceKind.NOT_COMPARED
    if len(batches) < len(intact):
        return DifferenceKind.CONFLICT if batches else DifferenceKind.NOT_COMPARED
    return DifferenceKind.CLEANED if _records_agree(batches) else DifferenceKind.CONFLICT


def overlap(streams: Sequence[BatchStream]) -> bool:
    """Whether the current batches overlap without having the same bounds.

    Not where the end of one is unknown because of damage, or where another leader epoch begins
    inside one: that is a fork.
    """
    first, *others = sorted(streams, key=lambda stream: (stream.base_offset, stream.last_offset))
    end = known_end(first)
    if end is None:
        return False
    reached = [each for each in others if each.base_offset < end]
    bounds = {(each.base_offset, known_end(each)) for each in (first, *reached)}
    ends = [each for _, each in bounds if each is not None]
    if len(bounds) == 1 or len(ends) < len(bounds):
        return False
    last = max(ends) - 1
    return not any(_begins_an_epoch(each, first.leader_epoch, last) for each in streams)


def known_end(stream: BatchStream) -> int | None:
    """One past the last offset of the current batch; None if it is unknown.

    A damaged batch, whose header may be wrong, ends where the next one begins, or before.
    """
    end = stream.last_offset + 1
    if stream.is_intact:
        return end
    following = stream.run.base_offset[stream.index + 1 : stream.index + 2]
    if not len(following):
        return None
    return max(stream.base_offset + 1, min(end, int(following[0])))


def _begins_an_epoch(stream: BatchStream, leader_epoch: int, end: int) -> bool:
    """Whether one of the next batches in the window, up to an offset, is of another epoch."""
    run, part = stream.run, slice(stream.index, None)
    is_other = run.leader_epoch[part] != leader_epoch
    return bool((is_other & (run.base_offset[part] <= end)).any())


def _shows_cleaning(stream: BatchStream) -> bool:
    run, index = stream.run, stream.index
    return int(run.records_count[index]) < int(run.last_offset_delta[index]) + 1


def _records_agree(batches: Iterable[RecordBatch]) -> bool:
    """Whether records at the same offset are equal; a cleaned batch only has fewer records.

    A delete horizon changes the base timestamp and the deltas, so absolute values are compared.
    """
    known: dict[int, object] = {}
    for batch in batches:
        base_offset, base_timestamp = batch.header.base_offset, batch.header.base_timestamp
        for record in batch.records:
            content = (
                base_timestamp + record.timestamp_delta,
                record.key,
                record.value,
                record.headers,
            )
            if known.setdefault(base_offset + record.offset_delta, content) != content:
                return False
    return True
