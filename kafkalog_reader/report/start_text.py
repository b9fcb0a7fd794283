"""Shows what the next start of a broker does to its copy, if it is not just served."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.partition.harmless_starts import why_harmless
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.spans import Line, Span, Style, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit

_WORDS: Final = {
    StartOutcome.EMPTIED: "its next start deletes every segment",
    StartOutcome.STRAY: "its next start sets the directory aside",
    StartOutcome.DIRECTORY_OFFLINE: "its log directory does not come up",
    StartOutcome.BROKER_ABORTS: "it does not come up",
    StartOutcome.EXPIRED: "retention deletes what is here right after its next start",
}


_DOWN: Final = frozenset({StartOutcome.DIRECTORY_OFFLINE, StartOutcome.BROKER_ABORTS})


def start_trouble(audit: PartitionAudit) -> tuple[tuple[str, str], ...]:
    """For each replica that loses something or is not served: what happens, and why."""
    troubles = (_trouble(each) for each in audit.replicas if not why_harmless(audit, each))
    return tuple(each for each in troubles if each is not None)


def start_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """Replicas that are not served, and left-over ones; what other starts remove are findings."""
    troubles = [
        trouble
        for replica in audit.replicas
        if (trouble := _trouble(replica)) is not None
        and not (isinstance(replica.start, Recovery) and replica.start.outcome not in _DOWN)
    ]
    if troubles:
        yield ()
    for what, why in troubles:
        beginning = (Span("START:", Style.LOST),)
        yield from wrapped(shown(f" {what} ({why})"), columns, indent=2, beginning=beginning)
    for replica in audit.replicas:
        start, why = replica.start, why_harmless(audit, replica)
        if why and isinstance(start, Recovery) and start.outcome is StartOutcome.STRAY:
            yield ()
            text = f"{replica.name}: {_words(start)} ({start.reason}); {why}"
            yield from wrapped(shown(text), columns, indent=2)


def _trouble(replica: ReplicaAudit) -> tuple[str, str] | None:
    if replica.start is None:
        return None
    if isinstance(replica.start, LocatedError):
        return f"{replica.name}: its next start cannot be predicted", str(replica.start)
    words = _words(replica.start)
    return (f"{replica.name}: {words}", replica.start.reason) if words else None


def _words(recovery: Recovery) -> str:
    takes_some = recovery.records_cut or recovery.max_cut_in_damaged_batches
    if recovery.outcome is StartOutcome.CUT and takes_some:
        return f"its next start cuts {recovery.cut_text}"
    if recovery.outcome is StartOutcome.HIDDEN:
        records = records_text(recovery.records_cut)
        return f"its next start hides {records} after the log end, and new ones take their offsets"
    return _WORDS.get(recovery.outcome, "")
