"""What makes a copy damaged, or not sound: the one rule of all commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.audits.integrity.refused_file import NOT_DAMAGED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.integrity.finding import Finding

_SEVERE: Final = "CH"
_DAMAGE: Final = (
    codes_with(Role.DAMAGE)
    | codes_with(Role.GAP)
    | codes_with(Role.SUMS_UP_DAMAGE)
    | codes_with(Role.NAMES_DAMAGE)
)


def is_severe(found: Finding) -> bool:
    """Whether what the finding is about is not sound: critical or high."""
    return found.severity in _SEVERE


def is_damage(found: Finding) -> bool:
    """Whether a log is damaged: its bytes are wrong, or records inside it are missing.

    A file that could not be read for a reason that says nothing about damage is not damaged; nor is
    a log whose end is gone, or one beside files that are wrong: they are not sound.
    """
    return is_severe(found) and found.code in _DAMAGE and found.actions not in NOT_DAMAGED


def are_damaged(found: Iterable[Finding]) -> bool:
    """Whether one of the findings shows that a log is damaged."""
    return any(map(is_damage, found))
