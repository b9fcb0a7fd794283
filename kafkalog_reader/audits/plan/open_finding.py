"""A severe finding that a plan does not resolve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.file_repair import Repair


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFinding:
    """A finding of critical or high severity that no order of starts resolves.

    Attributes:
        name: topic and number of the partition, or the broker whose log directory it is.
        severity: ``C`` or ``H``.
        replica: the copy that it is about, unless the message names it.
        log_directory: its path if the finding is about a log directory, or about a copy of the
            metadata log; None for a partition.
        actions, repairs: of the finding.
        is_lost: whether it proves that committed records are gone, which no start settles.
    """

    name: str
    code: str
    severity: str
    message: str
    log_directory: str | None = None
    actions: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    is_lost: bool = False
    replica: str = ""

    @property
    def placed_message(self) -> str:
        """The message with the copy that it is about."""
        return f"{self.replica}: {self.message}" if self.replica else self.message
