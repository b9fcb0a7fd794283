"""A rule: what all findings of one code have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kafkalog_reader.audits.catalogue.role import Role

SEVERITIES: Final = "CHMLI"
"""Critical, high, medium, low, information: worst first."""
SEVERITY_WORDS: Final = {
    "C": "CRITICAL", "H": "HIGH", "M": "MEDIUM", "L": "LOW", "I": "INFORMATION",
}  # fmt: skip

NO_EFFECT: Final = "No effect."
"""Of a finding on a start, an election or a reader."""
RETIRED: Final = frozenset({"KL-411", "KL-701", "KL-704", "KL-807", "KL-809"})
"""Codes of rules that no longer exist: reports that people kept may name them."""
_DECLARED: Final[dict[str, Rule]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One code of the catalogue. Codes and names are stable: a code is never reused.

    Attributes:
        code: ``KL-101``.
        name: ``batch-crc-mismatch``.
        severity: one of ``SEVERITIES``; a finding may have another one.
        title: what it is, in a line, for a reader who knows Kafka.
        explanation: what fires it, and what it means.
        start: what the next start of the broker makes of it.
        election: what it means for who should lead.
        reader: what consumers and other readers get.
        actions: codes of the actions that the finding advises, first one first.
        lookalikes: codes of the traps that look the same and that the evidence of the finding alone
            does not rule out.
        roles: what the program makes of it; a set of codes is a role's.
    """

    code: str
    name: str
    severity: str
    title: str
    explanation: str
    start: str
    election: str
    reader: str
    actions: tuple[str, ...]
    lookalikes: tuple[str, ...] = ()
    roles: frozenset[Role] = frozenset()


def rule(
    code: str,
    name: str,
    *,
    severity: str,
    title: str,
    explanation: str,
    start: str,
    election: str,
    reader: str,
    actions: tuple[str, ...],
    lookalikes: tuple[str, ...] = (),
    roles: tuple[Role, ...] = (),
) -> str:
    """Declare a rule and return its code, which is how the rest of the program names it."""
    assert code not in _DECLARED, code
    assert code not in RETIRED, code
    _DECLARED[code] = Rule(
        code=code,
        name=name,
        severity=severity,
        title=title,
        explanation=explanation,
        start=start,
        election=election,
        reader=reader,
        actions=actions,
        lookalikes=lookalikes,
        roles=frozenset(roles),
    )
    return code


def declared() -> dict[str, Rule]:
    """The rules declared so far, by code."""
    return _DECLARED
