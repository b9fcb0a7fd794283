"""The ``transactions`` table: each transactional id, as its coordinator would load it.

The newest record of an id holds. Source: Kafka 4.4, TransactionLog, TransactionState,
TransactionStateManager.loadTransactionMetadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from kafkalog_reader.format.messages.decoder import MessageError
from kafkalog_reader.format.messages.records import decode_key, decode_value
from kafkalog_reader.format.messages.schema import Family
from kafkalog_reader.io.names import TRANSACTION_STATE_TOPIC
from kafkalog_reader.io.progress import Progress, no_progress
from kafkalog_reader.tables.internal_record import place_of, unreadable, value_version
from kafkalog_reader.tables.internal_topic import selects_all
from kafkalog_reader.tables.internal_topic_table import InternalTopicTable
from kafkalog_reader.tables.rows import build_from_dicts
from kafkalog_reader.tables.schemas.transactions import TRANSACTIONS
from kafkalog_reader.tables.unset_fields import number_or_none, time_or_none

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from kafkalog_reader.tables.internal_topic_table import InternalTopicUnit
    from kafkalog_reader.tables.request import ReadRequest
    from kafkalog_reader.tables.table import Column

_TRANSACTIONAL_ID_TYPE: Final = 0
_STATES: Final = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
    "Dead", "PrepareEpochFence",
)  # fmt: skip


class TransactionsTable(InternalTopicTable):
    """One row for each transactional id, and one for each record that cannot be read."""

    name: ClassVar[str] = "transactions"
    doc: ClassVar[str] = "one row per transactional id: producer, state, partitions, since when"
    columns: ClassVar[tuple[Column, ...]] = TRANSACTIONS
    log_topic: ClassVar[str] = TRANSACTION_STATE_TOPIC

    def read(
        self, unit: InternalTopicUnit, request: ReadRequest, progress: Progress = no_progress
    ) -> Iterator[pa.RecordBatch]:
        """Yield one record batch with the transactional ids of a partition.

        Topics and partitions select the transactions that contain one of them.

        Raises:
            LocatedError: damage, in mode ``FAILFAST``.
            UnreadableFileError: a file cannot be opened or read.
        """
        current: dict[str, dict[str, Any]] = {}
        wrong = []
        for record in self.records(unit, request, progress):
            row = row_of(record)
            transactional_id = row["transactionalId"]
            current.pop(transactional_id, None)
            if "problem" in row:
                wrong.append(row)
            elif record["value"] is not None:
                current[transactional_id] = row
        found = [row for row in current.values() if _is_selected(row, request)] + wrong
        yield build_from_dicts(self.projected(request), found)


def row_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a record, with ``problem`` if its key or value cannot be read."""
    row = place_of(record, "statePartition")
    row["transactionalId"] = None
    try:
        row["transactionalId"] = _transactional_id(record["key"] or b"")
        if record["value"] is not None:
            row |= _state(record["value"])
    except MessageError as error:
        row |= unreadable(record, str(error))
        if row["transactionalId"] is not None:
            row |= value_version(record)
    return row


def _transactional_id(content: bytes) -> str:
    key = decode_key(Family.TRANSACTION, content)
    if key.type != _TRANSACTIONAL_ID_TYPE:
        raise MessageError(f"record type {key.type}, expected {_TRANSACTIONAL_ID_TYPE}", 0)
    transactional_id: str = key.fields["transactionalId"]
    return transactional_id


def _state(content: bytes) -> dict[str, Any]:
    decoded = decode_value(Family.TRANSACTION, _TRANSACTIONAL_ID_TYPE, content)
    fields = decoded.fields
    status = fields["transactionStatus"]
    return {
        "producerId": fields["producerId"],
        "producerEpoch": fields["producerEpoch"],
        "state": _STATES[status] if 0 <= status < len(_STATES) else str(status),
        "topicPartitions": _topic_partitions(fields),
        "partitions": [f"{topic}-{number}" for topic, number in _topic_partitions(fields)],
        "startTime": time_or_none(fields["transactionStartTimestampMs"]),
        "lastUpdateTime": time_or_none(fields["transactionLastUpdateTimestampMs"]),
        "timeoutMs": fields["transactionTimeoutMs"],
        "previousProducerId": number_or_none(fields.get("previousProducerId")),
        "nextProducerId": number_or_none(fields.get("nextProducerId")),
        "nextProducerEpoch": number_or_none(fields.get("nextProducerEpoch")),
        "clientTransactionVersion": fields.get("clientTransactionVersion"),
        "valueVersion": decoded.version,
        "unknownTags": decoded.unknown_tags,
    }


def _topic_partitions(fields: Mapping[str, Any]) -> list[tuple[str, int]]:
    return sorted(
        (each["topic"], number)
        for each in fields["transactionPartitions"] or ()
        for number in each["partitionIds"]
    )


def _is_selected(row: Mapping[str, Any], request: ReadRequest) -> bool:
    """Whether the transaction has a selected partition; True if the request selects none."""
    return selects_all(request) or any(request.selects(*each) for each in row["topicPartitions"])
