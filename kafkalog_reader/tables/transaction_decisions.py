"""How its coordinator decided a transaction, by the records that the coordinator's log still has.

Before it asks for markers, a coordinator writes ``PrepareCommit`` or ``PrepareAbort`` with all
partitions of the transaction; once all have their marker, ``CompleteCommit`` or ``CompleteAbort``
without partitions. Source: Kafka 4.4, TransactionMetadata.prepareComplete, KIP-98, KIP-890.
"""

from __future__ import annotations

import struct
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafkalog_reader.io.progress import no_progress
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.rows import microseconds_of
from kafkalog_reader.tables.transactions import TransactionsTable, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_reader.io.directories import Identity
    from kafkalog_reader.io.evidence import Evidence

_DECIDED: Final = {"PrepareCommit": True, "PrepareAbort": False}
_CLOCKS_US: Final = microseconds_of(5 * 60 * 1000)
"""How far the clocks of a client and its coordinator may differ."""
_REQUEST: Final = ReadRequest(mode=Mode.DROPMALFORMED)
"""Damage has findings of its own."""
_ID_TYPE: Final = 0
_STATUS_AT: Final = 16
"""In the value, in both versions: after version, producer id, producer epoch and timeout."""
_DECIDING: Final = (b"\2", b"\3")
_EPOCH_A_TRANSACTION: Final = 2
_MOST_PAIRS: Final = 200_000


class Decision(NamedTuple):
    """How a transaction ends in all its partitions.

    Attributes:
        is_commit: whether it was committed.
        time: of the decision by the coordinator's clock, in milliseconds.
        offset: of its record in ``__transaction_state``.
    """

    is_commit: bool
    time: int
    offset: int


class Decided(NamedTuple):
    """A decision about one partition.

    Attributes:
        producer_epoch: of the markers.
        has_own_epoch: whether no other transaction has this producer epoch (version 2, KIP-890).
        time: see ``Decision``.
    """

    producer_id: int
    producer_epoch: int
    is_commit: bool
    has_own_epoch: bool
    time: int


def decisions_by_partition(evidence: Evidence) -> dict[Identity, list[Decided]]:
    """The newest decisions about each partition, in the order of the coordinator's log.

    No more than 200,000 pairs of decision and partition are kept for one coordinator.
    """
    found: dict[Identity, list[Decided]] = defaultdict(list)
    table = TransactionsTable()
    for unit in table.units(evidence, _REQUEST):
        newest: deque[tuple[Identity, Decided]] = deque(maxlen=_MOST_PAIRS)
        for record in table.records(unit, _REQUEST, no_progress):
            if (record["value"] or b"")[_STATUS_AT : _STATUS_AT + 1] not in _DECIDING:
                continue
            state = row_of(record)
            if state.get("state") not in _DECIDED or state["producerId"] is None:
                continue
            decided = Decided(
                state["producerId"], state["producerEpoch"], _DECIDED[state["state"]],
                (state["clientTransactionVersion"] or 0) >= _EPOCH_A_TRANSACTION,
                (state["lastUpdateTime"] or 0) // 1000,
            )  # fmt: skip
            for topic, partition in state["topicPartitions"]:
                newest.append(((state["clusterId"], topic, partition), decided))
        for identity, decided in newest:
            found[identity].append(decided)
    return found


def newest_decision(evidence: Evidence, row: Mapping[str, Any]) -> Decision | None:
    """The last decision about an open transaction; None if the coordinator's log has none.

    The log of the coordinator is read once more: for the rare transaction that hangs.

    Args:
        evidence: where the logs are.
        row: of the table ``open_transactions``, with ``transactionalId`` and ``firstTimestamp``.
    """
    found = None
    for state in _states(evidence, row):
        if state["state"] in _DECIDED and _is_of(state, row):
            time = state["lastUpdateTime"] or 0
            found = Decision(_DECIDED[state["state"]], time // 1000, state["recordOffset"])
    return found


def _is_of(state: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether a state is of this transaction: transactions version 2 raise the epoch when it ends.

    It began before the data, and ended after it, as far as clocks agree.
    """
    begin, end, first = state["startTime"], state["lastUpdateTime"], row["firstTimestamp"]
    return (
        f"{row['topic']}-{row['partition']}" in state["partitions"]
        and state["producerId"] == row["producerId"]
        and state["producerEpoch"] - row["producerEpoch"] in (0, 1)
        and (begin is None or begin <= first + _CLOCKS_US)
        and (end is None or end >= first - _CLOCKS_US)
    )


def _states(evidence: Evidence, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All readable states of the transactional id of a row, in their order."""
    name = row["transactionalId"].encode()
    key = struct.pack(">hh", _ID_TYPE, len(name)) + name
    table = TransactionsTable()
    for unit in table.units(evidence, _REQUEST):
        place = [(each.directory.log_directory.cluster_id, each.directory.partition)
                 for each in unit.slices[:1]]  # fmt: skip
        if place != [(row["clusterId"], row["statePartition"])]:
            continue
        for record in table.records(unit, _REQUEST, no_progress):
            if record["key"] == key and record["value"] is not None:
                state = row_of(record)
                if "problem" not in state:
                    yield state
