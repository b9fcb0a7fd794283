"""One lane per replica over the offsets: leader epochs, log end, high watermark, and the fork.

This module draws it as text for a terminal; ``figures.lanes`` draws the same for a notebook.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkalog_reader.audits.comparison.compared_replicas import Comparison
from kafkalog_reader.audits.comparison.verdict import Verdict
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.report.spans import Line, Span, Style

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

_GAP: Final = 2
_MIN_COLUMNS: Final = 4
_MIN_BESIDE: Final = 24
_NAME_WIDTH: Final = 24


class LaneInterval(NamedTuple):
    """Offsets [first, next) of one leader epoch; ``is_apart``: not in the best leader's log."""

    leader_epoch: int
    first_offset: int
    next_offset: int
    is_apart: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One replica; its high watermark is an interval.

    Attributes:
        checkpoint_above: the checkpointed high watermark if the log ends below it.
        next_offset: the log end: one past its last batch, also after damage.
        end_after_start: the log end that its broker sees after its next start; None if it has none.
    """

    name: str
    first_offset: int
    next_offset: int
    high_watermark: tuple[int, int]
    intervals: tuple[LaneInterval, ...]
    end_after_start: int | None = None
    checkpoint_above: int | None = None

    @property
    def end_text(self) -> str:
        """``end 4``; where its start changes that, ``end 4, 2 once started``."""
        if self.end_after_start in (None, self.next_offset):
            return f"end {self.next_offset:,}"
        return f"end {self.next_offset:,}, {self.end_after_start:,} once started"

    @property
    def no_epoch_text(self) -> str:
        """What to write where no leader epoch is known: there was none before Kafka 0.11."""
        return "leader epoch unknown" if self.intervals else "no leader epochs"

    @property
    def high_watermark_text(self) -> str:
        """``2–5``: somewhere from 2 to 5; ``9!``: the checkpoint says 9, the log ends below it."""
        if self.checkpoint_above is not None:
            return f"{self.checkpoint_above:,}!"
        low, high = self.high_watermark
        return f"{low:,}" if low == high else f"{low:,}–{high:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """The lanes of one partition, and where histories diverge.

    Attributes:
        fork: the lowest offset at which two replicas differ.
        is_fork: whether both have records there; otherwise one lacks them.
        cut: without a fork, the offset where the newest leader's history ends and a longer log will
            be cut.
    """

    title: str
    lanes: tuple[Lane, ...]
    fork: int | None
    cut: int | None = None
    is_fork: bool = True

    @property
    def mark(self) -> tuple[int, str] | None:
        """The offset to mark, and its name."""
        if self.fork is not None:
            return self.fork, "fork" if self.is_fork else "differs"
        return None if self.cut is None else (self.cut, "will be cut")


def lanes_of(audit: PartitionAudit) -> Lanes:
    """Collect what the picture shows."""
    best = audit.elections[0].candidate if audit.elections else None
    is_pending = audit.verdict is Verdict.PENDING_TRUNCATION
    cuts = [each.bounds.superseded for each in audit.replicas if each.bounds.superseded is not None]
    lanes = []
    for replica in audit.replicas:
        fork = replica.bounds.superseded if is_pending else None
        is_other = best is not None and best is not replica.candidate
        if best is not None and is_other and isinstance(audit.comparison, Comparison):
            apart = audit.comparison.content_fork(replica.files, best.replica)
            fork = apart if fork is None else fork
        intervals = (
            LaneInterval(epoch, first, following, fork is not None and first >= fork)
            for epoch, first, following in _cut(replica.history.lineage.intervals, fork)
        )
        lanes.append(
            Lane(
                name=replica.name,
                first_offset=replica.log_start,
                next_offset=replica.log_end,
                high_watermark=(replica.bounds.known, replica.bounds.possible),
                intervals=tuple(intervals),
                end_after_start=(
                    replica.start.log_end_offset_after_start
                    if isinstance(replica.start, Recovery)
                    else None
                ),
                checkpoint_above=replica.high_watermark_above_end,
            )
        )
    title = f"{audit.topic}-{audit.partition}"
    return Lanes(
        title=title,
        lanes=tuple(lanes),
        fork=audit.fork_offset,
        is_fork=isinstance(audit.comparison, Comparison) and audit.comparison.has_two_contents,
        cut=min(cuts) if is_pending else None,
    )


def _cut(
    intervals: Iterable[tuple[int, int, int]], fork: int | None
) -> Iterator[tuple[int, int, int]]:
    """The intervals, with one that contains the fork split in two."""
    for epoch, first, following in intervals:
        if fork is not None and first < fork < following:
            yield epoch, first, fork
            yield epoch, fork, following
        else:
            yield epoch, first, following


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps offsets to columns, unevenly, so that a short fork after millions is visible."""

    offsets: tuple[int, ...]
    columns: tuple[int, ...]

    def column(self, offset: int) -> int:
        for index, start in enumerate(self.offsets[:-1]):
            end = self.offsets[index + 1]
            if start <= offset <= end:
                share = (offset - start) / (end - start)
                return self.columns[index] + round(
                    share * (self.columns[index + 1] - self.columns[index])
                )
        return self.columns[-1]


def lane_lines(lanes: Lanes, *, columns: int = 80, ascii_only: bool = False) -> Iterator[Line]:
    """The picture as lines of at most ``columns`` columns, if names are short enough."""
    names = [_shortened(lane.name) for lane in lanes.lanes]
    tails = [f"{lane.end_text}  HW {lane.high_watermark_text}" for lane in lanes.lanes]
    if ascii_only:
        tails = [tail.replace("–", "-") for tail in tails]
    name_width = max(map(len, names))
    room = columns - 2 * _GAP - name_width
    beside = room - _GAP - max(map(len, tails))
    tails_below = beside < _MIN_BESIDE  # offsets with many digits: the ends get lines of their own
    scale = scale_of(lanes, (room if tails_below else beside) - 1)
    indent = " " * (_GAP + name_width + _GAP)
    yield (Span(indent + _ruler(scale)),)
    for lane, name, tail in zip(lanes.lanes, names, tails, strict=True):
        bar = _bar(lane, scale, ascii_only=ascii_only, mark=lanes.mark)
        padding = " " * (scale.columns[-1] + 1 - sum(len(span.text) for span in bar) + _GAP)
        beginning = Span(" " * _GAP + name.ljust(name_width + _GAP))
        yield (beginning, *bar) if tails_below else (beginning, *bar, Span(padding + tail))
        if tails_below:
            yield (Span(indent + tail),)
    if lanes.mark is not None:
        offset, name = lanes.mark
        arrow = "^" if ascii_only else "▲"
        yield (Span(f"{indent}{' ' * scale.column(offset)}{arrow} {name}", Style.LOST),)


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else f"...{name[3 - _NAME_WIDTH :]}"


def scale_of(lanes: Lanes, room: int) -> Scale:
    """A scale of ``room`` columns with every border that fits."""
    marked = [] if lanes.mark is None else [lanes.mark[0]]
    important = {offset for lane in lanes.lanes for offset in (lane.first_offset, lane.next_offset)}
    important.update(marked)
    steps = {interval.first_offset for lane in lanes.lanes for interval in lane.intervals}
    offsets = sorted(important | steps)
    if len(offsets) * 2 * _MIN_COLUMNS > room:
        offsets = sorted(important)
    if len(offsets) * _MIN_COLUMNS > room:  # very many replicas: ends and fork only
        offsets = sorted({offsets[0], offsets[-1], *marked})
    if len(offsets) == 1:
        offsets.append(offsets[0] + 1)
    weights = [math.log2(end - start + 1) for start, end in pairwise(offsets)]
    least = [max(_MIN_COLUMNS, len(f"{offset:,}") + 2) for offset in offsets[:-1]]
    spare = max(0, room - sum(least) - len(f"{offsets[-1]:,}"))
    columns = [0]
    for weight, minimum in zip(weights, least, strict=True):
        columns.append(columns[-1] + minimum + int(spare * weight / sum(weights)))
    return Scale(tuple(offsets), tuple(columns))


def _ruler(scale: Scale) -> str:
    text = ""
    for offset, column in zip(scale.offsets, scale.columns, strict=True):
        text = text.ljust(column) + f"{offset:,}"
    return text


def _bar(lane: Lane, scale: Scale, *, ascii_only: bool, mark: tuple[int, str] | None) -> list[Span]:
    if lane.first_offset >= lane.next_offset:
        return [Span(" " * scale.column(lane.first_offset) + "(empty)", Style.ATTENTION)]
    plain, apart, start, end, step, cross = "-=||++" if ascii_only else "─═├┤┼╪"
    marked = None if mark is None else mark[0]
    spans = [Span(" " * scale.column(lane.first_offset) + start)]
    at = scale.column(lane.first_offset) + 1
    for number, interval in enumerate(lane.intervals):
        stop = scale.column(interval.next_offset)
        if stop <= at:
            continue
        is_last = interval.next_offset >= lane.next_offset
        line = _labelled(interval, stop - at, apart if interval.is_apart else plain)
        style = Style.LOST if interval.is_apart else (Style.EPOCH, Style.OTHER_EPOCH)[number % 2]
        border = end if is_last else cross if interval.next_offset == marked else step
        spans += [Span(line, style), Span(border)]
        at = stop + 1
    if at <= scale.column(lane.next_offset):  # offsets whose leader epoch is unknown
        room = scale.column(lane.next_offset) - at
        label = lane.no_epoch_text
        spans.append(Span(f"{label if len(label) + 2 <= room else '':^{room}}{end}"))
    return spans


def _labelled(interval: LaneInterval, columns: int, line: str) -> str:
    for label in (f" epoch {interval.leader_epoch} ", f" e{interval.leader_epoch} ", ""):
        if len(label) + 2 <= columns or not label:
            left = (columns - len(label)) // 2 if label else 0
            return (line * left + label).ljust(columns, line)
    return ""
