"""The exit status of an audit: the same rule for ``verify``, ``replica-diff`` and ``plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.catalogue import codes_with
from kafkalog_reader.audits.catalogue.role import Role
from kafkalog_reader.cli.fail_on import reached
from kafkalog_reader.cli.run import CLEAN, FOUND, TROUBLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkalog_reader.audits.integrity.finding import Finding

NOT_READ = codes_with(Role.NOT_READ)


class ExitStatus:
    """Collects what decides the exit status.

    Attributes:
        is_unanswered: whether something was not read.
        is_undecided: whether copies could not be compared.
    """

    def __init__(self) -> None:
        self._severities: set[str] = set()
        self.is_unanswered = False
        self.is_undecided = False

    def add(self, found: Iterable[Finding], reason: str = "") -> None:
        """Add a partition or a log directory.

        Args:
            found: its findings.
            reason: why its copies could not be compared; empty if they were.
        """
        for each in found:
            self._severities.add(each.severity)
            self.is_unanswered |= each.code in NOT_READ
        self.is_undecided |= bool(reason)

    def status(self, fail_on: str = "high", *, is_start_safe: bool = True) -> int:
        """2 if input was not read; else 1 by ``fail_on``; else 2 if copies were not compared.

        Args:
            fail_on: the lowest severity for which it is 1.
            is_start_safe: ``is_safe_in_any_order`` of the plan; a start that is not is as bad as a
                high finding.
        """
        if self.is_unanswered:
            return TROUBLE
        if reached(self._severities | ({"H"} if not is_start_safe else set()), fail_on):
            return FOUND
        return TROUBLE if self.is_undecided else CLEAN
