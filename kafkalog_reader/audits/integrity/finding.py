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
    "KL-001": Code("input-changed-during-read", "L", ("A2",), ("T01",)),
    "KL-002": Code("unsafe-path-skipped", "M", ("A1",)),
    "KL-003": Code("hostile-name", "L", ("A1",)),
    "KL-004": Code("unreadable-file", "H", ("A9",)),
    "KL-005": Code("limit-reached", "M", ("A18",)),
    "KL-006": Code("unknown-version", "M", ("A17",)),
    "KL-007": Code("duplicate-replica-directory", "H", ("A6",), ("T24",)),
    "KL-008": Code("mixed-clusters", "C", ("A17",)),
    "KL-009": Code("topic-id-mismatch", "H", ("A17",), ("T23",)),
    "KL-010": Code("not-a-replica-directory", "I", ("A1",), ("T24",)),
    "KL-011": Code("unclean-shutdown", "I", ("A1",), ("T01",)),
    "KL-012": Code("replica-not-supplied", "M", ("A17",)),
    "KL-013": Code("copies-taken-at-different-times", "I", ("A2",), ("T01", "T02")),
    "KL-101": Code("batch-crc-mismatch", "C", ("A5", "A9"), ("T01",)),
    "KL-102": Code("batch-length-impossible", "H", ("A4", "A5"), ("T01",)),
    "KL-103": Code("torn-tail", "L", ("A2", "A5"), ("T01",)),
    "KL-104": Code("zero-tail", "M", ("A1", "A5"), ("T10",)),
    "KL-105": Code("unreadable-region", "H", ("A5", "A7", "A9")),
    "KL-106": Code("magic-impossible", "H", ("A5",)),
    "KL-107": Code("header-contradiction", "H", ("A15",), ("T08",)),
    "KL-108": Code("record-undecodable", "H", ("A7", "A15")),
    "KL-109": Code("record-count-mismatch", "H", ("A15",), ("T05",)),
    "KL-110": Code("offset-regression", "C", ("A4", "A7", "A15"), ("T04",)),
    "KL-111": Code("offset-gap", "M", ("A5",), ("T05", "T33", "T34")),
    "KL-112": Code("leader-epoch-regression", "H", ("A5", "A8"), ("T25",)),
    "KL-113": Code("timestamp-implausible", "L", ("A19",), ("T06", "T30")),
    "KL-114": Code("segment-offset-overflow", "M", ("A1",)),
    "KL-115": Code("inner-magic-mismatch", "M", ("A15",)),
    "KL-116": Code("oversized-batch", "I", ("A1",)),
    "KL-117": Code("mixed-message-formats", "M", ("A1",), ("T32",)),
    "KL-118": Code("repeated-physical-batch", "H", ("A7", "A15")),
    "KL-201": Code("index-missing", "L", ("A3",)),
    "KL-202": Code("index-size-odd", "M", ("A3",), ("T01",)),
    "KL-203": Code("index-not-rising", "M", ("A3",), ("T10",)),
    "KL-204": Code("index-points-past-log", "H", ("A3",), ("T01",)),
    "KL-205": Code("index-not-on-a-batch", "H", ("A3",)),
    "KL-206": Code("index-skips-records", "H", ("A3",)),
    "KL-207": Code("index-zero-tail", "I", ("A1",), ("T10",)),
    "KL-208": Code("index-sparse", "I", ("A1",), ("T11",)),
    "KL-209": Code("orphan-index", "L", ("A1",)),
    "KL-210": Code("time-index-not-rising", "M", ("A3",), ("T10",)),
    "KL-211": Code("time-index-skips-records", "M", ("A3",), ("T12",)),
    "KL-212": Code("time-index-offset-unknown", "L", ("A3",), ("T05", "T12")),
    "KL-213": Code("transaction-index-malformed", "H", ("A3",), ("T01",)),
    "KL-214": Code("time-index-last-entry-low", "L", ("A3",)),
    "KL-215": Code("time-index-last-entry-high", "M", ("A3",), ("T10",)),
    "KL-301": Code("checkpoint-malformed", "H", ("A8", "A9"), ("T01",)),
    "KL-302": Code("checkpoint-missing", "L", ("A8",), ("T18", "T32")),
    "KL-303": Code("checkpoint-temporary-left", "I", ("A1",)),
    "KL-304": Code("high-watermark-beyond-end", "C", ("A4", "A5", "A16"), ("T01",)),
    "KL-305": Code("recovery-point-beyond-end", "C", ("A5", "A9"), ("T01",)),
    "KL-306": Code("log-start-beyond-end", "C", ("A4", "A7"), ("T01",)),
    "KL-307": Code("log-start-beyond-high-watermark", "L", ("A1",), ("T16",)),
    "KL-308": Code("cleaner-offset-beyond-end", "M", ("A5",), ("T01",)),
    "KL-309": Code("checkpoint-row-without-directory", "I", ("A1",), ("T24",)),
    "KL-310": Code("replica-directory-missing", "H", ("A4", "A5", "A16"), ("T24",)),
    "KL-311": Code("epoch-checkpoint-not-rising", "H", ("A8",)),
    "KL-312": Code("meta-properties-problem", "H", ("A17",)),
    "KL-313": Code("partition-metadata-malformed", "M", ("A17",)),
    "KL-314": Code("producer-snapshot-damaged", "L", ("A3",)),
    "KL-315": Code("stray-producer-snapshot", "I", ("A1",)),
    "KL-316": Code("clean-marker-contradicted", "H", ("A4", "A5")),
    "KL-401": Code("segment-name-above-content", "H", ("A5",), ("T04",)),
    "KL-402": Code("segment-overlap", "C", ("A4", "A7")),
    "KL-403": Code("segment-gap", "M", ("A5",), ("T05", "T33", "T34")),
    "KL-404": Code("segment-missing", "H", ("A5", "A7"), ("T03",)),
    "KL-405": Code("interrupted-swap", "M", ("A4",)),
    "KL-406": Code("epoch-entry-missing", "H", ("A8",), ("T15", "T32")),
    "KL-407": Code("epoch-entry-contradicted", "H", ("A8",), ("T04", "T15")),
    "KL-408": Code("epoch-entry-without-records", "I", ("A1",), ("T13",)),
    "KL-409": Code("epoch-entries-beyond-end", "I", ("A1", "A8"), ("T14",)),
    "KL-410": Code("snapshot-disagrees-with-log", "M", ("A3",), ("T21", "T22")),
    "KL-412": Code("start-will-cut", "C", ("A4", "A5", "A7"), ("T01",)),
    "KL-413": Code("start-will-serve-damage", "H", ("A5", "A6")),
    "KL-414": Code("damage-below-recovery-point", "H", ("A5", "A6")),
    "KL-415": Code("end-will-be-misread", "C", ("A3", "A4"), ("T01",)),
    "KL-416": Code("compaction-left-two-values", "L", ("A1",), ("T05", "T08")),
    "KL-417": Code("start-will-set-aside", "C", ("A4", "A7")),
    "KL-418": Code("start-will-expire", "C", ("A3", "A4"), ("T10",)),
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
    "KL-511": Code("latest-value-mismatch", "C", ("A5", "A15"), ("T07",)),
    "KL-512": Code("no-common-range", "M", ("A5",), ("T03", "T33")),
    "KL-513": Code("committed-conflict", "C", ("A16", "A20")),
    "KL-514": Code("unclean-election-evidence", "C", ("A7", "A16"), ("T13", "T14")),
    "KL-515": Code("epoch-number-collision", "C", ("A8", "A15"), ("T15", "T25")),
    "KL-516": Code("legacy-divergence", "C", ("A20",), ("T25",)),
    "KL-517": Code("truncation-leaves-divergence", "C", ("A8", "A6")),
    "KL-518": Code("needless-truncation", "I", ("A1",)),
    "KL-519": Code("empty-replica", "H", ("A5", "A16"), ("T33",)),
    "KL-520": Code("single-copy-range", "H", ("A5", "A7"), ("T02",)),
    "KL-521": Code("follower-may-loop", "M", ("A8",), ("T31",)),
    "KL-522": Code("metadata-epoch-ahead", "I", ("A1",), ("T13",)),
    "KL-523": Code("truncation-trace", "I", ("A1",), ("T22",)),
    "KL-601": Code("retry-duplicates", "M", ("A10",), ("T30",)),
    "KL-602": Code("retry-duplicates-across-leaders", "M", ("A10",)),
    "KL-713": Code("truncation-cuts-transaction", "H", ("A16",)),
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
