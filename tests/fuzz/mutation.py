"""Mutations without coverage: the engine of ``make test``, and wherever atheris is missing."""

from __future__ import annotations

import random
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tests.fuzz.corpus import seeds
from tests.fuzz.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterator

HANG_SECONDS: Final = 20
_INTERESTING: Final = [
    value.to_bytes(width, "big", signed=value < 0)
    for width in (1, 2, 4, 8)
    for value in (0, 1, -1, -2, 2 ** (8 * width - 1) - 1, -(2 ** (8 * width - 1)))
] + [b"\xff" * 9 + b"\x01", b"\x80" * 10, b"\xfe\xff\xff\xff\x0f", b"\n", b" ", b"\x00" * 16]


class FoundCrashError(Exception):
    """A target failed; ``content`` reproduces the failure."""

    def __init__(self, target: str, content: bytes, cause: BaseException) -> None:
        super().__init__(target, content, cause)
        self.target, self.content = target, content


def mutated(content: bytes, chance: random.Random) -> bytes:
    """One to six changes: bits, bytes, special numbers, cuts, repetitions."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        at = chance.randrange(len(changed) + 1)
        # Headers and lengths are at the beginning; the middle of a value is irrelevant.
        at = min(at, chance.choice((len(changed), 80, 120)))
        kind = chance.randrange(6)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            piece = chance.choice(_INTERESTING)
            changed[at : at + len(piece)] = piece
        elif kind == 2:
            changed[at:at] = chance.choice(_INTERESTING)
        elif kind == 3:
            del changed[at : at + chance.choice((1, 4, 16, 200))]
        elif kind == 4:
            piece = changed[at : at + chance.choice((1, 8, 61, 500))]
            changed[at:at] = piece
        elif at < len(changed):
            changed[at] = chance.randrange(256)
    return bytes(changed)


def fuzz(target: str, *, seed: int, rounds: int | None, seconds: float) -> int:
    """Run one target on mutations of its seeds; return their number.

    Args:
        target: a name of ``TARGETS``.
        seed: the same seed makes the same inputs.
        rounds: number of inputs; None for as many as possible.
        seconds: stop then in any case.

    Raises:
        FoundCrashError: it raised another error than ``KafkaLogError``, or did not end.
    """
    chance = random.Random(f"{target} {seed}")
    corpus = seeds(target)
    stop = time.monotonic() + seconds
    done = 0
    while (rounds is None or done < rounds) and time.monotonic() < stop:
        as_it_is = done < len(corpus)
        content = corpus[done] if as_it_is else mutated(chance.choice(corpus), chance)
        try:
            with _deadline():
                TARGETS[target](content)
        except Exception as error:
            raise FoundCrashError(target, content, error) from error
        done += 1
    return done


@contextmanager
def _deadline() -> Iterator[None]:
    def ring(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"no answer after {HANG_SECONDS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANG_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
