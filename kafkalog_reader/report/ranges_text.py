"""Shows which records only some replicas have, and whether they were committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.compared_replicas import NotCompared
from kafkalog_reader.audits.election.election_loss import committed_records
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.format.broker_words import joined_names
from kafkalog_reader.report.spans import Line, offsets_text, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.comparison.branch import Branch
    from kafkalog_reader.audits.comparison.committed import CommitCount
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit


def sides_of(audit: PartitionAudit) -> tuple[Branch, ...]:
    """The sides of every fork, or what only longer logs have; empty without elections."""
    if isinstance(audit.comparison, NotCompared) or not audit.elections:
        return ()
    sides = [child for fork in audit.comparison.forks for child in fork.children]
    if not sides:
        everyone = audit.comparison.replicas
        sides = [b for b in audit.comparison.branches() if b.replicas != everyone and b.batches]
    return tuple(sides)


def range_lines(audit: PartitionAudit, columns: int) -> Iterator[Line]:
    """Which replicas alone hold which range, and whether consumers may have read it."""
    rows = []
    for part in _parts(audit):
        epochs = sorted({interval.leader_epoch for interval in part.intervals})
        count = committed_records(part, audit.candidates, audit.comparison)
        cells = (
            f"only on {joined_names(part.replicas)}",
            offsets_text(part.first_offset, part.next_offset),
            _records_words(count, part.records),
            f"epoch {', '.join(map(str, epochs))}" if epochs else "",
        )
        rows.append((cells, _committed_words(count)))
    if not rows:
        return
    widths = [max(len(cells[column]) for cells, _ in rows) for column in range(4)]
    yield ()
    for cells, words in rows:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        yield from wrapped("   ".join(padded).rstrip(), columns, indent=2)
        yield from wrapped(words, columns, indent=6)


def _parts(audit: PartitionAudit) -> Iterator[Branch]:
    """The sides, each divided where one of its replicas ends."""
    seen: list[Branch] = []
    for side in sides_of(audit):
        for part in side.walk():
            if part.batches and all(part is not each for each in seen):
                seen.append(part)
                yield part


def _records_words(count: CommitCount, records: int) -> str:
    """How many records a part holds, those in damaged batches apart."""
    if not count.damaged:
        return records_text(records)
    if not count.total:
        return f"up to {records_text(count.damaged)}, damaged"
    return f"{records_text(count.total)}, up to {count.damaged:,} damaged"


def _committed_words(count: CommitCount) -> str:
    held, known = count.total + count.damaged, count.known + count.damaged_known
    if not held:
        return "transaction markers, no client records"
    if known == held:
        return f"committed: consumers may have read {'it' if held == 1 else 'them'}"
    parts = []
    if known:
        parts.append(f"{known:,} committed")
    if possible := count.possible + count.damaged_possible:
        parts.append(f"{possible:,} possibly committed")
    if not parts:
        return (
            "none known committed "
            "(a producer with acks=1 may still have received an acknowledgement)"
        )
    if count.only_if_unclean:
        parts.append(f"{count.only_if_unclean:,} only if an election was unclean")
    return ", ".join(parts)
