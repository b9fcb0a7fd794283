"""An action: something that findings advise, in one wording for all commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_DECLARED: Final[dict[str, Action]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do. Codes and names are stable: a code is never reused.

    Attributes:
        code: ``A5``.
        name: ``start-best-first``.
        short: the imperative, a line or two; names its subject as ``{where}`` (with ``{are}`` and
            ``{their}``), the second time as ``{they}``, and the replica that should lead as
            ``{best}``.
        explanation: why, and how, in full.
        warnings: what goes wrong when it is done otherwise.
        command: a template, lines after ``#`` are comments; what must be filled in is in capitals.
            Empty without one.
        condition: begins the imperative where no broker is named: what must be known first.
    """

    code: str
    name: str
    short: str
    explanation: str
    warnings: tuple[str, ...]
    command: str
    condition: str = ""

    def text(
        self,
        where: str = "",
        best: str = "the replica that replica-diff ranks first",
        *,
        are_several: bool = False,
        until: str = "`replica-diff` says what to do first",
    ) -> str:
        """The imperative, about brokers or replicas by name, and what ends it."""
        return ("" if where else self.condition) + self.short.format(
            where=where or "this broker",
            best=best,
            are="are" if are_several else "is",
            their="their" if are_several else "its",
            they="they" if are_several else "it",
            until=until,
        )


def action(
    code: str,
    name: str,
    *,
    short: str,
    explanation: str,
    warnings: tuple[str, ...] = (),
    command: str = "",
    condition: str = "",
) -> str:
    """Declare an action and return its code, which is how the rest of the program names it."""
    assert code not in _DECLARED, code
    _DECLARED[code] = Action(
        code=code,
        name=name,
        short=short,
        explanation=explanation,
        warnings=warnings,
        command=command,
        condition=condition,
    )
    return code


def declared() -> dict[str, Action]:
    """The actions declared so far, by code, in the order of their declaration."""
    return _DECLARED
