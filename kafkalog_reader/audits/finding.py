"""A finding, and the catalogue of codes: name, severity and what to do, as data.

Codes and names are stable: a code is never reused. The catalogue holds the codes that audits here
produce; the reference lists all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import PartitionDirectory

SEVERITIES: Final = "CHMLI"
"""Critical, high, medium, low, information: worst first."""


class Code(NamedTuple):
    """What every finding of one code has in common."""

    name: str
    severity: str
    actions: tuple[str, ...]
    innocent: tuple[str, ...] = ()
    """Traps that look the same and that the evidence of the code alone does not rule out."""


CATALOGUE: Final[dict[str, Code]] = {
    "KL-004": Code("unreadable-file", "H", ("A9",)),
    "KL-006": Code("unknown-version", "M", ("A17",)),
    "KL-009": Code("topic-id-mismatch", "H", ("A17",), ("T23",)),
    "KL-101": Code("batch-crc-mismatch", "C", ("A5", "A9"), ("T01",)),
    "KL-102": Code("batch-length-impossible", "H", ("A4", "A5"), ("T01",)),
    "KL-103": Code("torn-tail", "L", ("A2", "A5"), ("T01",)),
    "KL-104": Code("zero-tail", "M", ("A1", "A5"), ("T10",)),
    "KL-106": Code("magic-impossible", "H", ("A5",)),
    "KL-110": Code("offset-regression", "C", ("A4", "A7", "A15"), ("T04",)),
    "KL-408": Code("epoch-entry-without-records", "I", ("A1",), ("T13",)),
    "KL-501": Code("replicas-agree", "I", ("A1",)),
    "KL-502": Code("lagging-replica", "I", ("A1",), ("T02",)),
    "KL-503": Code("forked", "H", ("A16",)),
    "KL-504": Code("superseded-tail", "M", ("A16",), ("T13",)),
    "KL-505": Code("same-epoch-conflict", "C", ("A7", "A15", "A20"), ("T05", "T06", "T30")),
    "KL-506": Code("damaged-copy", "H", ("A5", "A6")),
    "KL-507": Code("uncovered-field-mismatch", "H", ("A5", "A9")),
    "KL-508": Code("records-missing-on-replica", "H", ("A5", "A6"), ("T03", "T05", "T07")),
    "KL-509": Code("compaction-skew", "I", ("A1",), ("T05", "T06", "T07")),
    "KL-510": Code("retention-skew", "I", ("A1",), ("T03", "T04", "T09")),
    "KL-512": Code("no-common-range", "M", ("A5",), ("T03", "T33")),
    "KL-513": Code("committed-conflict", "C", ("A16", "A20")),
    "KL-514": Code("unclean-election-evidence", "C", ("A7", "A16"), ("T13", "T14")),
    "KL-520": Code("single-copy-range", "H", ("A5", "A7"), ("T02",)),
    "KL-901": Code("least-loss-leader", "I", ("A5",)),
    "KL-902": Code("clean-leader-available", "I", ("A5",)),
    "KL-903": Code("every-leader-loses-committed", "C", ("A7", "A16", "A20")),
    "KL-904": Code("damage-recoverable-from-peer", "I", ("A5",)),
    "KL-905": Code("damage-unrecoverable", "C", ("A7",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the files prove, or leave open.

    Attributes:
        confidence: ``proven``, ``likely`` or ``possible``.
        directory: the replica it is about; None for the partition as a whole.
        file: below the log directory.
        position, size_in_bytes: in the file.
        first_offset, next_offset: half-open.
        evidence: ordered names and raw values.
        innocent: traps not ruled out.
        committed: of the records at risk: ``known``, ``possible``, ``none``; None: not applicable.
        caused_by: code and place of the finding behind this one.
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
    innocent: tuple[str, ...] = ()
    records_at_risk: int | None = None
    bytes_at_risk: int | None = None
    committed: str | None = None
    actions: tuple[str, ...] = ()
    caused_by: str | None = None

    @property
    def name(self) -> str:
        return CATALOGUE[self.code].name

    @property
    def order(self) -> tuple[int, int, str, int, str, int]:
        """Worst first; the same input gives the same order."""
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
    innocent: tuple[str, ...] | None = None,
    records_at_risk: int | None = None,
    bytes_at_risk: int | None = None,
    committed: str | None = None,
    actions: tuple[str, ...] | None = None,
    caused_by: str | None = None,
) -> Finding:
    """Make a finding of a code; severity, actions and traps are the catalogue's unless given."""
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
        innocent=known.innocent if innocent is None else innocent,
        records_at_risk=records_at_risk,
        bytes_at_risk=bytes_at_risk,
        committed=committed,
        actions=known.actions if actions is None else actions,
        caused_by=caused_by,
    )
