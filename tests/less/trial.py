"""Takes parts away from a copy of evidence, and compares what is said with what was said before."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from tests.less.law import broken
from tests.less.parts import parts_of
from tests.less.said import said_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from random import Random

    from tests.less.inputs import Input
    from tests.less.parts import Kind, Part


def contradicted(
    evidence: Input, folder: Path, throw: Random, *, singles: int | None = None, pairs: int = 0
) -> Iterator[tuple[str, list[str]]]:
    """Yield what was taken away, and the contradictions then.

    Args:
        evidence: what is written to a folder and read.
        folder: an empty one.
        throw: chooses the parts.
        singles: how many parts are taken away alone; None: each.
        pairs: how many pairs are.
    """
    root, aside = folder / "evidence", folder / "aside"
    evidence.write(root)
    aside.mkdir()
    full = said_of(str(root))
    parts = parts_of(root)
    both = [*combinations(parts, 2)]
    alone = [(each,) for each in _some(parts, throw)]
    if singles is not None:
        alone = throw.sample(alone, min(singles, len(alone)))
    for taken in (*alone, *throw.sample(both, min(pairs, len(both)))):
        first, *other = taken
        with first.taken_away(aside):
            if other:
                with other[0].taken_away(aside):
                    less = said_of(str(root))
            else:
                less = said_of(str(root))
        yield " and ".join(each.named(root) for each in taken), [*broken(full, less, taken)]


def _some(parts: Sequence[Part], throw: Random) -> Iterator[Part]:
    """Not each of the files of many partitions."""
    by_kind: dict[Kind, list[Part]] = {}
    for each in parts:
        by_kind.setdefault(each.kind, []).append(each)
    for of_kind in by_kind.values():
        yield from throw.sample(of_kind, min(_OF_A_KIND, len(of_kind)))


_OF_A_KIND: Final = 6
