"""The first batch with a problem, and how many batches have it: what a finding of batches says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalog_reader.audits.integrity.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.scan.batch_run import BatchRun


@dataclass(slots=True, kw_only=True)
class FirstPlace:
    """The first of the batches with one problem.

    Attributes:
        position, size_in_bytes, offsets: of this batch.
        evidence: the values that prove the problem.
        problem: what is wrong with this batch, where the code alone does not say it.
        count: how many batches have the problem.
    """

    position: int
    size_in_bytes: int
    offsets: tuple[int, int]
    evidence: dict[str, object] = field(default_factory=dict)
    problem: str = ""
    count: int = 0

    @classmethod
    def of(
        cls, run: BatchRun, row: int, evidence: Mapping[str, object], problem: str = ""
    ) -> FirstPlace:
        """The place of one batch of a run, not counted yet."""
        return cls(
            position=int(run.position[row]),
            size_in_bytes=int(run.size_in_bytes[row]),
            offsets=(int(run.base_offset[row]), int(run.last_offset[row]) + 1),
            evidence=dict(evidence),
            problem=problem,
        )

    def finding(self, code: str, replica: Replica, file: str, message: str) -> Finding:
        """The finding about it; ``message`` is about this batch, without the number of others."""
        many = f"; {self.count:,} such batches" if self.count > 1 else ""
        return finding(
            code,
            f"{message}{many}",
            directory=replica.directory,
            file=file,
            position=self.position,
            size_in_bytes=self.size_in_bytes,
            offsets=self.offsets,
            evidence={**self.evidence, "batches": self.count},
        )
