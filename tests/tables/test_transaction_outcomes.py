"""The next marker of a producer decides: Kafka 4.0, ProducerStateManager."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from kafkalog_reader.decode.control_type import ABORT, COMMIT
from kafkalog_reader.tables.transaction_outcomes import NO_TRANSACTION, UNDECIDED, Markers

TRANSACTIONAL, CONTROL = 0x10, 0x20


@dataclass(frozen=True)
class Batches:
    """One batch a row: producer, last offset, attributes, magic."""

    rows: tuple[tuple[int, int, int, int], ...]

    def _column(self, number: int, kind: type) -> np.ndarray:
        return np.array([row[number] for row in self.rows], kind)

    @property
    def producer_id(self) -> np.ndarray:
        return self._column(0, np.int64)

    @property
    def last_offset(self) -> np.ndarray:
        return self._column(1, np.int64)

    @property
    def attributes(self) -> np.ndarray:
        return self._column(2, np.int16)

    @property
    def magic(self) -> np.ndarray:
        return self._column(3, np.int8)


def markers(*rows: tuple[int, int, int]) -> Markers:
    """Markers of producer, offset and type, in any order."""
    producer_id, offset, kind = (list(column) for column in zip(*rows, strict=True))
    return Markers.in_order(
        np.array(producer_id, np.int64), np.array(offset, np.int64), np.array(kind, np.int16)
    )


FOUND = markers((2, 30, COMMIT), (1, 20, ABORT), (1, 10, COMMIT), (2, 15, ABORT))


def outcome(
    producer_id: int, last_offset: int, attributes: int = TRANSACTIONAL, magic: int = 2
) -> int:
    batches = Batches(((producer_id, last_offset, attributes, magic),))
    return int(FOUND.outcomes(batches)[0])


def test_markers_are_sorted_by_producer_then_offset() -> None:
    assert FOUND.producer_id.tolist() == [1, 1, 2, 2]
    assert FOUND.offset.tolist() == [10, 20, 15, 30]
    assert FOUND.type.tolist() == [COMMIT, ABORT, ABORT, COMMIT]


@pytest.mark.parametrize(
    ("producer_id", "last_offset", "expected"),
    [
        (1, 0, COMMIT), (1, 9, COMMIT), (1, 11, ABORT), (1, 19, ABORT), (1, 21, UNDECIDED),
        (2, 0, ABORT), (2, 14, ABORT), (2, 16, COMMIT), (2, 31, UNDECIDED),
        (0, 5, UNDECIDED), (3, 5, UNDECIDED),
    ],
)  # fmt: skip
def test_next_marker_of_the_producer_decides(
    producer_id: int, last_offset: int, expected: int
) -> None:
    assert outcome(producer_id, last_offset) == expected


@pytest.mark.parametrize(
    ("attributes", "magic"),
    [
        pytest.param(0, 2, id="no_transaction"),
        pytest.param(CONTROL, 2, id="control_batch"),
        pytest.param(TRANSACTIONAL | CONTROL, 2, id="marker"),
        pytest.param(TRANSACTIONAL, 1, id="message"),
        pytest.param(8, 2, id="log_append_time"),
    ],
)
def test_only_data_of_transactions_is_decided(attributes: int, magic: int) -> None:
    assert outcome(1, 5, attributes, magic) == NO_TRANSACTION


def test_other_attributes_do_not_matter() -> None:
    assert outcome(1, 5, TRANSACTIONAL | 8 | 4) == COMMIT


def test_every_batch_of_several_producers_is_decided_by_its_own_marker() -> None:
    batches = Batches((
        (2, 1, TRANSACTIONAL, 2), (1, 2, TRANSACTIONAL, 2), (1, 3, 0, 2), (2, 16, TRANSACTIONAL, 2),
        (1, 12, TRANSACTIONAL, 2), (1, 40, TRANSACTIONAL, 2),
    ))  # fmt: skip
    numbers = FOUND.deciding(batches)
    assert numbers.tolist() == [2, 0, NO_TRANSACTION, 3, 1, UNDECIDED]
    assert FOUND.outcomes_by(numbers).tolist() == [
        ABORT, COMMIT, NO_TRANSACTION, COMMIT, ABORT, UNDECIDED,
    ]  # fmt: skip


def test_without_markers_nothing_is_decided() -> None:
    none = Markers.in_order(np.array([], np.int64), np.array([], np.int64), np.array([], np.int16))
    assert none.outcomes(Batches(((1, 5, TRANSACTIONAL, 2), (1, 6, 0, 2)))).tolist() == [
        UNDECIDED, NO_TRANSACTION,
    ]  # fmt: skip
