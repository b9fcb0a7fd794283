"""Shows which records only some replicas have, and whether they were committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.difference import NotCompared
from kafkalog_reader.audits.log.record_count import records_text
from kafkalog_reader.audits.partition.partition_audit import joined_names
from kafkalog_reader.audits.partition.replica_findings import side_of
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
    for side in sides_of(audit):
        records, end, count = side_of(audit, side)
        epochs = sorted(
            {interval.leader_epoch for part in side.walk() for interval in part.intervals}
        )
        cells = (
            f"only on {joined_names(side.replicas)}",
            offsets_text(side.first_offset, end),
            records_text(records),
            f"epoch {', '.join(map(str, epochs))}",
        )
        rows.append((cells, _committed_words(count)))
    if not rows:
        return
    widths = [max(len(cells[column]) for cells, _ in rows) for column in range(4)]
    yield ()
    for cells, words in rows:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        yield from wrapped("   ".join(padded), columns, indent=2)
        yield from wrapped(words, columns, indent=6)


def _committed_words(count: CommitCount) -> str:
    if not count.total:
        return "transaction markers, no client records"
    if count.known == count.total:
        return "committed: consumers may have read them"
    parts = []
    if count.known:
        parts.append(f"{count.known:,} committed")
    if count.possible:
        parts.append(f"{count.possible:,} possibly committed")
    if not parts:
        return (
            "none known committed "
            "(a producer with acks=1 may still have received an acknowledgement)"
        )
    if count.only_if_unclean:
        parts.append(f"{count.only_if_unclean:,} not")
    return ", ".join(parts)
