"""Index entries: format reference 14.8."""

from __future__ import annotations

import numpy as np
import pytest

from kafkalog_reader.errors import (
    CorruptIndexError,
    LogPosition,
    UnsupportedFormatError,
)
from kafkalog_reader.format.index_entries import (
    OFFSET_INDEX_ENTRY,
    TIME_INDEX_ENTRY,
    TRANSACTION_INDEX_ENTRY,
    FixedEntry,
)
from kafkalog_reader.format.transaction_index import (
    AbortedTransaction,
    parse_aborted_transaction,
)
from tests.format.vectors import T

WHERE = LogPosition("file", 34)


@pytest.mark.parametrize(
    ("kind", "values", "content"),
    [
        pytest.param(OFFSET_INDEX_ENTRY, (5, 166), "00000005000000a6", id="offset_index"),
        pytest.param(TIME_INDEX_ENTRY, (T + 2, 5), "0000018bcfe5680200000005", id="time_index"),
        pytest.param(
            TRANSACTION_INDEX_ENTRY, (0, 1000, 0, 1, 2),
            "000000000000000003e8000000000000000000000000000000010000000000000002",
            id="transaction_index",
        ),
    ],
)  # fmt: skip
def test_entries_of_the_reference_are_read_and_written(
    kind: FixedEntry, values: tuple[int, ...], content: str
) -> None:
    assert kind.struct.unpack(bytes.fromhex(content)) == values
    assert kind.struct.pack(*values).hex() == content
    assert np.frombuffer(bytes.fromhex(content), kind.dtype)[0].item() == values
    assert kind.dtype.itemsize == kind.size


def test_aborted_transaction_of_the_reference_is_read() -> None:
    content = bytes.fromhex("000000000000000003e8000000000000000000000000000000010000000000000002")
    entry = AbortedTransaction(
        producer_id=1000, first_offset=0, last_offset=1, last_stable_offset=2
    )
    assert parse_aborted_transaction(content, WHERE) == entry


@pytest.mark.parametrize(
    ("content", "error"),
    [
        pytest.param(bytes(33), CorruptIndexError, id="cut_short"),
        pytest.param(b"\xff\xff" + bytes(32), CorruptIndexError, id="version_negative"),
        pytest.param(b"\0\1" + bytes(32), UnsupportedFormatError, id="version_1"),
    ],
)
def test_aborted_transaction_is_refused_with_its_place(
    content: bytes, error: type[CorruptIndexError | UnsupportedFormatError]
) -> None:
    with pytest.raises(error) as caught:
        parse_aborted_transaction(content, WHERE)
    assert caught.value.where == WHERE
