"""A trap: an innocent situation that looks like a fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_DECLARED: Final[dict[str, Trap]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """One innocent situation. Codes and names are stable: a code is never reused.

    Attributes:
        code: ``T15``.
        name: ``first-epoch-clipped``.
        situation: what happened.
        looks: what it is easily taken for.
        how_to_tell: how it differs from the fault.
    """

    code: str
    name: str
    situation: str
    looks: str
    how_to_tell: str


def trap(code: str, name: str, *, situation: str, looks: str, how_to_tell: str) -> str:
    """Declare a trap and return its code, which is how the rest of the program names it."""
    assert code not in _DECLARED, code
    _DECLARED[code] = Trap(
        code=code, name=name, situation=situation, looks=looks, how_to_tell=how_to_tell
    )
    return code


def declared() -> dict[str, Trap]:
    """The traps declared so far, by code."""
    return _DECLARED
