"""A finding: one thing that the files prove or suggest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import SEVERITIES

if TYPE_CHECKING:
    from kafkalog_reader.audits.integrity.file_repair import Repair
    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.directories import PartitionDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that the files prove or suggest.

    Attributes:
        severity: C (critical), H (high), M (medium), L (low) or I (information).
        confidence: ``proven``, ``likely`` or ``possible``.
        directory: the replica; None for the whole partition.
        about: topic and partition of a finding without ``directory``, once it is reported.
        file: relative to the log directory.
        position, size_in_bytes: of the place in the file.
        first_offset, next_offset: half-open.
        evidence: ordered names and raw values.
        lookalikes: innocent states that are not ruled out.
        committed: whether the records at risk were committed: ``known``, ``possible``, ``none``;
            None if not applicable.
        caused_by: code and place of the finding that causes this one.
        repairs: how to carry out the first of its actions.
        partitions: those of which it says that no copy was supplied; empty for any other.
    """

    code: str
    severity: str
    message: str
    confidence: str = "proven"
    directory: PartitionDirectory | None = None
    file: str | None = None
    position: int | None = None
    size_in_bytes: int | None = None
    first_offset: int | None = None
    next_offset: int | None = None
    evidence: tuple[tuple[str, str], ...] = ()
    lookalikes: tuple[str, ...] = ()
    records_at_risk: int | None = None
    bytes_at_risk: int | None = None
    committed: str | None = None
    actions: tuple[str, ...] = ()
    caused_by: str | None = None
    repairs: tuple[Repair, ...] = ()
    about: tuple[str | None, int | None] = (None, None)
    partitions: tuple[TopicPartition, ...] = ()

    @property
    def topic(self) -> str | None:
        """The topic; None for a finding about a log directory or a folder of another name."""
        return self.about[0] if self.directory is None else self.directory.topic

    @property
    def partition(self) -> int | None:
        """The number of the partition, as ``topic``."""
        return self.about[1] if self.directory is None else self.directory.partition

    @property
    def name(self) -> str:
        return CATALOGUE[self.code].name

    @property
    def unnamed_replica(self) -> str:
        """The copy that it is about; empty if the message names it."""
        name = "" if self.directory is None else self.directory.replica_name
        return "" if name in self.message else name

    @property
    def placed_message(self) -> str:
        """The message with the copy that it is about."""
        name = self.unnamed_replica
        return f"{name}: {self.message}" if name else self.message

    @property
    def order(self) -> tuple[int, int, str, int, str, int]:
        """A sort key, worst first; the same input gives the same order."""
        broker_id, path = None, ""
        if self.directory is not None:
            broker_id, path = self.directory.log_directory.broker_id, self.directory.path
        return (
            SEVERITIES.index(self.severity),
            -1 if broker_id is None else broker_id,
            f"{path}/{self.file or ''}",
            -1 if self.position is None else self.position,
            self.code,
            -1 if self.first_offset is None else self.first_offset,
        )


def finding(
    code: str,
    message: str,
    *,
    severity: str | None = None,
    confidence: str = "proven",
    directory: PartitionDirectory | None = None,
    file: str | None = None,
    position: int | None = None,
    size_in_bytes: int | None = None,
    offsets: tuple[int, int] | None = None,
    evidence: dict[str, object] | None = None,
    lookalikes: tuple[str, ...] | None = None,
    records_at_risk: int | None = None,
    bytes_at_risk: int | None = None,
    committed: str | None = None,
    actions: tuple[str, ...] | None = None,
    caused_by: str | None = None,
    repairs: tuple[Repair, ...] = (),
) -> Finding:
    """Create a finding; severity, actions and traps are those of its rule unless given."""
    known = CATALOGUE[code]
    return Finding(
        code=code,
        severity=known.severity if severity is None else severity,
        message=message,
        confidence=confidence,
        directory=directory,
        file=file,
        position=position,
        size_in_bytes=size_in_bytes,
        first_offset=None if offsets is None else offsets[0],
        next_offset=None if offsets is None else offsets[1],
        evidence=tuple((name, str(value)) for name, value in (evidence or {}).items()),
        lookalikes=known.lookalikes if lookalikes is None else lookalikes,
        records_at_risk=records_at_risk,
        bytes_at_risk=bytes_at_risk,
        committed=committed,
        actions=known.actions if actions is None else actions,
        caused_by=caused_by,
        repairs=repairs,
    )
