"""Whether the next start can go wrong, as ``verify`` asks it of what it has audited."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from kafkalog_reader.audits.plan.decisions import Decisions
from kafkalog_reader.audits.plan.idle import is_idle
from kafkalog_reader.cli.options import words_of
from kafkalog_reader.cli.quorums import quorums_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_reader.audits.plan.plan import Plan
    from kafkalog_reader.audits.tables.verification import Verification
    from kafkalog_reader.io.evidence import Evidence


class NextStart:
    """Collects audits, and makes the plan of them.

    Attributes:
        is_whole: whether everything was added; without that there is no plan.
    """

    def __init__(
        self, evidence: Evidence, paths: Sequence[str], options: Mapping[str, Any]
    ) -> None:
        self.is_whole = False
        self._evidence = evidence
        self._paths = paths
        self._options = words_of("rule", "started_at", **options)
        self._decisions = Decisions(no_plan=evidence.why_incomplete)
        self._is_partial = len({root.cluster_id for root in evidence.log_directories}) > 1

    def add(self, verification: Verification) -> None:
        """Add one unit."""
        if verification.unit is None:
            self._decisions.add_directory(each for each, _ in verification.findings)
        for audit, found in verification.audits:
            self._is_partial |= audit.compared_from is not None
            unit = verification.unit
            if unit is not None and is_idle(audit, found, unit):
                self._decisions.add_idle(audit)
            else:
                self._decisions.add(audit, found, unit)

    @cached_property
    def plan(self) -> Plan | None:
        """None if not every partition was read whole, or there is none."""
        if self._is_partial or not self.is_whole or not len(self._decisions):
            return None
        return self._decisions.plan(
            paths=self._paths,
            options=self._options,
            follow_links=self._evidence.follow_links,
            quorums=quorums_of(self._evidence),
        )
