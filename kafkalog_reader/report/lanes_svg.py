"""The lanes as SVG: one bar per replica, for pages, documents and notebooks.

The picture follows the light or dark scheme of whoever looks at it, and is readable without colour.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.colours import DARK, LIGHT, TINTS, declarations
from kafkalog_reader.report.lanes import Lane, LaneInterval, Lanes, Scale, lanes_of, scale_of
from kafkalog_reader.report.spans import offsets_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit

WIDTH: Final = 720
_MARGIN: Final = 12
_COLUMN: Final = 7.6
"""Pixels of one column of the scale: the width of a digit, roughly."""
_ROOM: Final = 90
_HEAD: Final = 58
_LANE: Final = 58
_BAR: Final = 20
_HATCH: Final = 7
_NAME_LENGTH: Final = 48
_MAX_INTERVALS: Final = 200
"""Drawn per replica; a log with more leader epochs has them narrower than a pixel."""

STYLE: Final = (
    ".kl-lanes{" + declarations(LIGHT) + "max-width:100%;height:auto;"
    "font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    "@media (prefers-color-scheme:dark){.kl-lanes{" + declarations(DARK) + "}}"
    "@media print{.kl-lanes{" + declarations(LIGHT) + "}}"
    ".kl-lanes text{fill:var(--kl-ink)}"
    ".kl-lanes .kl-quiet{fill:var(--kl-quiet);font-size:11.5px}"
    ".kl-lanes .kl-ground{fill:var(--kl-ground)}"
    ".kl-lanes .kl-tick{stroke:var(--kl-line)}"
    ".kl-lanes .kl-name{font-weight:700}"
    ".kl-lanes .kl-bar{stroke:var(--kl-ink);stroke-width:1}"
    ".kl-lanes .kl-apart{stroke:var(--kl-lost);stroke-width:2;stroke-dasharray:5 3}"
    ".kl-lanes .kl-hatch{stroke:var(--kl-lost);stroke-width:1.2;fill:none;opacity:.75}"
    ".kl-lanes .kl-label{fill:var(--kl-ink);stroke:var(--kl-ground);stroke-width:3px;"
    "paint-order:stroke;stroke-opacity:.85}"
    ".kl-lanes .kl-unknown{fill:none;stroke:var(--kl-quiet);stroke-dasharray:2 3}"
    ".kl-lanes .kl-hw{stroke:var(--kl-ink);stroke-width:2.4;fill:none}"
    ".kl-lanes .kl-hw-point{fill:var(--kl-ink)}"
    ".kl-lanes .kl-mark{stroke:var(--kl-lost);stroke-width:1.6;stroke-dasharray:6 4}"
    ".kl-lanes .kl-mark-name{fill:var(--kl-lost);font-weight:700}"
    + "".join(
        f".kl-lanes .kl-e{number}{{fill:var(--kl-epoch{number})}}" for number in range(len(TINTS))
    )
)
"""What the classes of a drawing look like; a page with several has it once."""


def lanes_svg(audit: PartitionAudit) -> str:
    """The copies of one partition as a picture that needs nothing else."""
    return drawing(lanes_of(audit), style=STYLE)


def drawing(lanes: Lanes, *, style: str = "") -> str:
    """The ``svg`` element; without ``style``, the page around it must have ``STYLE``."""
    scale = scale_of(lanes, _ROOM)
    height = _HEAD + _LANE * len(lanes.lanes) + 24
    inside = "".join(
        (
            f"<title>{_text(f'{lanes.title}: its copies by offset')}</title>",
            f"<desc>{_text(described(lanes))}</desc>",
            f"<style>{style}</style>" if style else "",
            f'<rect class="kl-ground" width="{WIDTH}" height="{height}"/>',
            *_ruler(scale, height - 24),
            *_mark(lanes, scale, height - 24),
            *(
                part
                for row, lane in enumerate(lanes.lanes)
                for part in _lane(lane, lanes, scale, _HEAD + row * _LANE)
            ),
            _label(_MARGIN, height - 8, _legend(lanes), "kl-quiet"),
        )
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="kl-lanes" role="img" '
        f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">{inside}</svg>'
    )


def described(lanes: Lanes) -> str:
    """The picture in words."""
    sentences = [_mark_text(lanes)] if lanes.mark is not None else []
    for lane in lanes.lanes:
        parts = [
            f"leader epoch {each.leader_epoch} at "
            f"{offsets_text(each.first_offset, each.next_offset)}"
            f"{', not in the log of the leader that loses least' if each.is_apart else ''}"
            for each in lane.intervals[:_MAX_INTERVALS]
        ]
        if not lane.intervals and lane.first_offset < lane.next_offset:
            parts = [lane.no_epoch_text]
        ends = f"{lane.end_text}, high watermark {lane.high_watermark_text}"
        sentences.append(f"{lane.name}: {'; '.join([*parts, ends])}")
    return ". ".join(sentences) + "."


def _mark_text(lanes: Lanes) -> str:
    assert lanes.mark is not None
    offset, name = lanes.mark
    return f"{name} at {offset:,}" if lanes.fork is not None else f"{name} from {offset:,} on"


def _legend(lanes: Lanes) -> str:
    below = "offset, uneven scale; mark or line below a bar: high watermark"
    hatched = any(interval.is_apart for lane in lanes.lanes for interval in lane.intervals)
    return f"{below}; hatched: not in the best leader's log" if hatched else below


def _x(scale: Scale, offset: int) -> float:
    return _MARGIN + scale.column(offset) * _COLUMN


def _ruler(scale: Scale, bottom: int) -> Iterator[str]:
    for offset in scale.offsets:
        x = _x(scale, offset)
        yield f'<path class="kl-tick" d="M{x:.1f} 40V{bottom}"/>'
        is_last = offset == scale.offsets[-1] and x > WIDTH - 8 * len(f"{offset:,}")
        yield _label(x, 34, f"{offset:,}", "kl-quiet", end=is_last)


def _mark(lanes: Lanes, scale: Scale, bottom: int) -> Iterator[str]:
    if lanes.mark is None:
        return
    x = _x(scale, lanes.mark[0])
    yield f'<path class="kl-mark" d="M{x:.1f} 6V{bottom}"/>'
    is_right = x > WIDTH * 0.7
    yield _label(x - 6 if is_right else x + 6, 16, _mark_text(lanes), "kl-mark-name", end=is_right)


def _lane(lane: Lane, lanes: Lanes, scale: Scale, top: int) -> Iterator[str]:
    name = lane.name if len(lane.name) <= _NAME_LENGTH else f"...{lane.name[3 - _NAME_LENGTH :]}"
    tail = f"{lane.end_text} · HW {lane.high_watermark_text}"
    yield _label(_MARGIN, top, name, "kl-name kl-label")
    yield _label(WIDTH - _MARGIN, top, tail, "kl-label", end=True)
    y = top + 7
    if lane.first_offset >= lane.next_offset:
        yield _label(_x(scale, lane.first_offset), y + 15, "(empty)", "kl-label")
        return
    epochs = sorted({each.leader_epoch for one in lanes.lanes for each in one.intervals})
    drawn = lane.intervals[-_MAX_INTERVALS:]
    known = (drawn[0].first_offset, drawn[-1].next_offset) if drawn else (lane.next_offset,) * 2
    for first, following in ((lane.first_offset, known[0]), (known[1], lane.next_offset)):
        left, right = _x(scale, first), _x(scale, following)
        if right > left:  # offsets whose leader epoch is unknown
            yield _rect(left, right, y, "kl-unknown")
            text = lane.no_epoch_text
            if (len(text) + 1) * 8 <= right - left:
                yield _label((left + right) / 2, y + 15, text, "kl-label", middle=True)
    for interval in drawn:
        number = epochs.index(interval.leader_epoch) % len(TINTS)
        yield from _bar(interval, _x(scale, interval.first_offset),
                        _x(scale, interval.next_offset), y, number)  # fmt: skip
    yield from _high_watermark(lane, scale, y + _BAR + 6)


def _bar(interval: LaneInterval, left: float, right: float, y: int, number: int) -> Iterator[str]:
    apart = interval.is_apart
    yield _rect(left, right, y, f"kl-bar kl-e{number}{' kl-apart' if apart else ''}")
    if apart:
        yield f'<path class="kl-hatch" d="{_hatching(left, right, y)}"/>'
    for label in (f"epoch {interval.leader_epoch}", f"e{interval.leader_epoch}"):
        if (len(label) + 1) * 8 <= right - left:
            yield _label((left + right) / 2, y + 15, label, "kl-label", middle=True)
            return


def _hatching(left: float, right: float, y: int) -> str:
    """Diagonals from bottom left to top right, cut at the edges; a pattern would need an id."""
    lines = []
    start = left - _BAR + _HATCH
    while start < right:
        x1, x2 = max(start, left), min(start + _BAR, right)
        lines.append(
            f"M{x1:.1f} {y + _BAR - (x1 - start):.1f}L{x2:.1f} {y + _BAR - (x2 - start):.1f}"
        )
        start += _HATCH
    return "".join(lines)


def _high_watermark(lane: Lane, scale: Scale, y: int) -> Iterator[str]:
    low, high = (_x(scale, offset) for offset in lane.high_watermark)
    if low == high:
        yield f'<path class="kl-hw-point" d="M{low:.1f} {y - 4}l5 9h-10z"/>'
    else:
        yield (
            f'<path class="kl-hw" d="M{low:.1f} {y - 4}v8M{low:.1f} {y}H{high:.1f}'
            f'M{high:.1f} {y - 4}v8"/>'
        )


def _rect(left: float, right: float, y: int, classes: str) -> str:
    width = max(right - left, 1)
    return f'<rect class="{classes}" x="{left:.1f}" y="{y}" width="{width:.1f}" height="{_BAR}"/>'


def _label(
    x: float, y: float, text: str, classes: str, *, end: bool = False, middle: bool = False
) -> str:
    anchor = ' text-anchor="end"' if end else ' text-anchor="middle"' if middle else ""
    return f'<text class="{classes}" x="{x:.1f}" y="{y}"{anchor}>{_text(text)}</text>'


def _text(text: str) -> str:
    """What a name may hold, such as ``<`` or a control character, is only shown."""
    return escape(shown(text))
