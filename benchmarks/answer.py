"""The result of a pass over a segment: only readers with equal results are compared."""

from __future__ import annotations

from dataclasses import dataclass

WRAP = 1 << 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Counts and sums over all records; sums wrap at 64 bits, as Java's do."""

    records: int
    offsets: int
    timestamps: int
    key_bytes: int
    value_bytes: int
    first_bytes: int


class DifferentAnswerError(Exception):
    """Two readers of one file disagree."""


def require_same(file: object, ours: Answer | int, peers: Answer | int) -> None:
    """Stop the benchmark unless both readers found the same.

    Raises:
        DifferentAnswerError: they did not find the same.
    """
    if ours != peers:
        raise DifferentAnswerError(f"{file}: we read {ours}, the peer {peers}")
