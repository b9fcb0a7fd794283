"""KL-707 and KL-708: compares transaction indexes with the abort markers of the log.

A read-committed consumer learns from the transaction index alone which records were aborted. Only
logs are compared that no cleaner has touched (T05); first offsets may differ (T27). Source: Kafka
4.0, ProducerAppendInfo#appendEndTxnMarker, TransactionIndex.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kafkalog_reader.audits.catalogue.actions import REBUILT_AT_START
from kafkalog_reader.audits.catalogue.index_rules import INDEX_MISSING
from kafkalog_reader.audits.catalogue.transaction_rules import (
    ABORTED_ENTRY_EXTRA,
    ABORTED_ENTRY_MISSING,
)
from kafkalog_reader.audits.integrity.file_repair import index_moves
from kafkalog_reader.audits.integrity.finding import Finding, finding
from kafkalog_reader.audits.integrity.transaction_spans import ENDED, NONE, TransactionSpans
from kafkalog_reader.decode.control_type import ABORT
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT, TRANSACTIONAL_BIT
from kafkalog_reader.format.index_entries import TRANSACTION_INDEX_ENTRY
from kafkalog_reader.io.names import segment_file_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kafkalog_reader.audits.integrity.file_repair import Move
    from kafkalog_reader.audits.log.replica import Replica
    from kafkalog_reader.io.segment_files import SegmentFiles
    from kafkalog_reader.scan.batch_run import BatchRun

_SHOWN: Final = ("producer_id", "offset", "first_offset")


class AbortedTransactionCheck:
    """Follows the transactions of one replica from segment to segment.

    A window with batches that are damaged or missing is not compared, and transactions that were
    open before it are forgotten: what was there may have held a marker.
    """

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self._spans = TransactionSpans()
        self._reached = NONE
        self._markers: list[NDArray[Any]] = []
        self._is_whole = True
        self._has_lost_track = False
        topic = replica.directory.topic or ""
        self._may_be_cleaned = replica.cleaner_offset is not None or topic.startswith("__")

    def begin_segment(self, base_offset: int) -> None:
        """Begin a segment; what was between it and the one before is unknown."""
        self._markers = []
        self._is_whole = True
        if base_offset != self._reached:
            self._has_lost_track |= self._reached != NONE
            self._spans.open.clear()
        self._reached = base_offset

    def lose_track(self) -> None:
        """Handle bytes that are not a batch: they may have held a marker."""
        self._spans.open.clear()
        self._is_whole = False
        self._has_lost_track = True

    def end_in_damage(self) -> None:
        """Handle bytes after the last batch of a segment: a marker may have been among them."""
        self._is_whole = False

    @property
    def may_be_open(self) -> bool:
        """Whether a transaction is open after the batches so far, or may be."""
        return bool(self._spans.open) or self._has_lost_track

    def look(self, run: BatchRun) -> None:
        """Follow the batches of one window, while it is valid."""
        found = run.summary
        if not found.is_full or found.attributes & DELETE_HORIZON_BIT:
            self._may_be_cleaned = True
        leads_on = found.leads_on and int(run.base_offset[0]) <= self._reached
        if self._may_be_cleaned or not leads_on or found.valid < run.count:
            self.lose_track()
        elif found.attributes & TRANSACTIONAL_BIT:
            ended = self._spans.follow(run)
            self._markers.append(ended[ended["type"] == ABORT])
        self._reached = int(run.last_offset[-1]) + 1

    def findings(
        self, segment: SegmentFiles, entries: NDArray[Any], *, is_hot: bool
    ) -> Iterator[Finding]:
        """Yield what differs in one segment, after its batches.

        Args:
            segment: the segment.
            entries: of its transaction index; empty if it has none.
            is_hot: whether it is the active segment of a broker that was not shut down cleanly:
                files were copied one after another, or the next start rebuilds the index.
        """
        if is_hot or self._may_be_cleaned:
            return
        markers = np.concatenate(self._markers) if self._markers else np.empty(0, ENDED)
        markers = markers[np.argsort(markers["offset"], kind="stable")]
        is_extra = np.ones(len(entries), np.bool_)
        if len(markers):
            places = np.searchsorted(markers["offset"], entries["last_offset"])
            nearest = markers[np.minimum(places, len(markers) - 1)]
            is_extra = (nearest["offset"] != entries["last_offset"]) | (
                nearest["producer_id"] != entries["producer_id"]
            )
        has_data = markers["first_offset"] != NONE
        listed = np.isin(markers["offset"], entries["last_offset"][~is_extra])
        yield from self._missing(segment, markers[has_data & ~listed])
        if self._is_whole and is_extra.any():
            yield self._extra(segment, entries, np.flatnonzero(is_extra))

    def _missing(self, segment: SegmentFiles, markers: NDArray[Any]) -> Iterator[Finding]:
        if not len(markers):
            return
        producer_id, offset, first = (int(markers[0][name]) for name in _SHOWN)
        file = self._file(segment)
        lacks = "has no entry" if segment.transaction_index_size is not None else "is missing"
        many = f"; {len(markers):,} such transactions" if len(markers) > 1 else ""
        found = finding(
            ABORTED_ENTRY_MISSING,
            f"{file} {lacks}, but the log has the aborted transaction of producer {producer_id} "
            f"from offset {first:,} to its marker at {offset:,}{many}",
            directory=self._replica.directory,
            file=file,
            offsets=(first, offset + 1),
            evidence={
                "producerId": producer_id,
                "firstOffset": first,
                "lastOffset": offset,
                "transactions": len(markers),
            },
            repairs=self._moves(segment),
        )
        yield self._unless_rebuilt(found, segment)

    def _extra(
        self, segment: SegmentFiles, entries: NDArray[Any], extra: NDArray[np.intp]
    ) -> Finding:
        number = int(extra[0])
        entry = {name: int(entries[number][name]) for name in entries.dtype.names or ()}
        file = self._file(segment)
        many = f"; {len(extra):,} such entries" if len(extra) > 1 else ""
        found = finding(
            ABORTED_ENTRY_EXTRA,
            f"{file}: entry {number:,} lists a transaction of producer {entry['producer_id']} with "
            f"an abort marker at offset {entry['last_offset']:,}, but the log has no such marker"
            f"{many}",
            directory=self._replica.directory,
            file=file,
            position=number * TRANSACTION_INDEX_ENTRY.size,
            size_in_bytes=TRANSACTION_INDEX_ENTRY.size,
            evidence={"entry": number, **entry, "entries": len(extra)},
            repairs=self._moves(segment),
        )
        return self._unless_rebuilt(found, segment)

    def _unless_rebuilt(self, found: Finding, segment: SegmentFiles) -> Finding:
        """The finding; low where the next start writes the transaction index again by itself.

        A start that finds no offset index recovers the segment. Source: Kafka 3.9,
        LogLoader#loadSegmentFiles, LogSegment#recover; seen on 3.9.1.
        """
        if segment.offset_index_size is not None:
            return found
        return replace(
            found,
            severity="L",
            message=f"{found.message}; the start rebuilds it, because the .index is missing",
            actions=(REBUILT_AT_START,),
            caused_by=f"{INDEX_MISSING} {self._replica.file(_name(segment, 'index'))} None",
            repairs=(),
        )

    def _file(self, segment: SegmentFiles) -> str:
        return self._replica.file(_name(segment, "txnindex"))

    def _moves(self, segment: SegmentFiles) -> tuple[Move, ...]:
        sizes = {
            "index": segment.offset_index_size,
            "timeindex": segment.time_index_size,
            "txnindex": segment.transaction_index_size,
        }
        names = [_name(segment, kind) for kind, size in sizes.items() if size is not None]
        return index_moves(self._replica.directory, names)


def _name(segment: SegmentFiles, kind: str) -> str:
    return segment_file_name(segment.base_offset, kind, segment.suffix)
