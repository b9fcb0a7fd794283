"""Bytes of a segment, offered before their headers are scanned into columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class UnscannedBatches:
    """A chain of batches in a window. A caller that decodes its start calls ``Scan.pass_over``.

    Attributes:
        buffer: the window; valid until the next is requested.
        start: where in ``buffer`` the chain begins.
    """

    buffer: memoryview
    start: int
