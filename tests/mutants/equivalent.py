"""Changes that make no difference a test could see, each with the reason."""

from __future__ import annotations

from typing import Final, NamedTuple


class Equivalent(NamedTuple):
    """A line of a module and what it may become."""

    path: str
    line: str
    changed: str
    reason: str


EQUIVALENT: Final[tuple[Equivalent, ...]] = ()


def is_equivalent(path: str, diff: str) -> bool:
    """Whether a diff of one file is one of the changes above."""
    lines = diff.splitlines()[2:]
    old = [line[1:].strip() for line in lines if line.startswith("-")]
    new = [line[1:].strip() for line in lines if line.startswith("+")]
    return any(
        each.path == path and old == [each.line] and new == [each.changed] for each in EQUIVALENT
    )
