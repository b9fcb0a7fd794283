"""The conservation check of a salvage, and how many records batches of every format hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder.stored_messages import build_message, build_wrapper
from kafkalog_reader.errors import SalvageCountError
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message_set import LegacyRecord
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.salvage.counts import (
    Counts,
    Reason,
    Tally,
    first_offsets,
    record_counts,
    records_below,
)
from kafkalog_reader.salvage.readable_batches import ReadableRun
from kafkalog_reader.scan.scan import CHAIN, Scan
from tests.tables.logs import T, batch, slice_of, write_segment

if TYPE_CHECKING:
    from pathlib import Path


def counts() -> Counts:
    """Of ten batches with 30 records: 5 and 14 are kept, the others have a reason."""
    made = Counts()
    made.found.add(6, 20)
    made.found.add(4, 10)
    made.kept.add(5, 14)
    made.doubtful.add(1, 4)
    made.left_out[Reason.DAMAGED].add(2, 5)
    made.left_out[Reason.MARKER].add(1, 1)
    made.left_out[Reason.OUTSIDE_RANGE].add(1, 6)
    return made


def test_what_was_found_is_what_was_kept_and_left_out() -> None:
    made = counts()
    assert made.found == Tally(10, 30)
    made.check("t-0")


@pytest.mark.parametrize("part", ["found", "kept", "doubtful"])
@pytest.mark.parametrize(
    ("batches", "records", "unit"), [(1, 0, "batches"), (0, 1, "records"), (-1, 0, "batches")]
)
def test_one_more_or_less_anywhere_is_an_error(
    part: str, batches: int, records: int, unit: str
) -> None:
    made = counts()
    getattr(made, part).add(batches, records)
    with pytest.raises(SalvageCountError, match=rf"^t-0: reading found \d+ {unit}, but \d+ were"):
        made.check("t-0")


def test_a_batch_that_was_left_out_twice_is_an_error() -> None:
    made = counts()
    made.left_out[Reason.OTHER_COPY].add(1, 3)
    with pytest.raises(SalvageCountError, match="reading found 10 batches, but 11 were kept"):
        made.check("t-0")


def test_the_manifest_names_every_reason() -> None:
    found = counts().as_json()
    assert found["found"] == {"batches": 10, "records": 30}
    assert found["kept"] == {"batches": 5, "records": 14}
    assert found["doubtfulOffsets"] == {"batches": 1, "records": 4}
    assert found["leftOut"] == {
        "damaged": {"batches": 2, "records": 5},
        "outsideRange": {"batches": 1, "records": 6},
        "takenFromAnotherCopy": {"batches": 0, "records": 0},
        "transactionMarker": {"batches": 1, "records": 1},
        "abortedTransaction": {"batches": 0, "records": 0},
        "undecidedTransaction": {"batches": 0, "records": 0},
    }


def message(offset: int, magic: int) -> bytes:
    return build_message(b"k", b"v", offset=offset, magic=magic, timestamp=T if magic else None)


def wrapper(magic: int, *offsets: int) -> bytes:
    records = [
        LegacyRecord(offset=each, timestamp=T if magic else -1, key=None, value=b"v")
        for each in offsets
    ]
    return build_wrapper(records, codec=Codec.GZIP, magic=magic, timestamp=T if magic else None)


def readable(folder: Path, *batches: bytes) -> ReadableRun:
    path = write_segment(folder / "t-0", [*batches])
    (run,) = Scan(str(path), CHAIN, context=ReadContext()).runs()
    return ReadableRun(segment_slice=slice_of(path), run=run)


@pytest.mark.parametrize(
    ("batches", "records", "firsts"),
    [
        pytest.param([batch(0, 3), batch(5, 2)], [3, 2], [0, 5], id="magic_2"),
        pytest.param([message(0, 0), message(4, 1)], [1, 1], [0, 4], id="messages"),
        pytest.param(
            [wrapper(0, 3, 4, 5), wrapper(1, 6, 8)], [3, 2], [3, 6], id="compressed_messages"
        ),
        pytest.param(
            [message(2, 1), wrapper(1, 6, 8), batch(9, 4)], [1, 2, 4], [2, 6, 9], id="all_formats"
        ),
    ],
)
def test_every_format_has_as_many_records_as_were_written(
    tmp_path: Path, batches: list[bytes], records: list[int], firsts: list[int]
) -> None:
    found = readable(tmp_path, *batches)
    assert record_counts(found).tolist() == records
    assert first_offsets(found).tolist() == firsts


@pytest.mark.parametrize(
    ("offset", "below"), [(0, 0), (1, 1), (3, 3), (4, 3), (5, 3), (6, 4), (7, 5), (100, 5)]
)
def test_records_below_an_offset_are_counted_one_by_one(
    tmp_path: Path, offset: int, below: int
) -> None:
    """Offsets 0 to 2, and 5 and 6."""
    found = readable(tmp_path, batch(0, 3), batch(5, 2))
    assert records_below(found.run, offset, found.segment_slice) == below


def test_an_empty_run_has_no_records(tmp_path: Path) -> None:
    found = readable(tmp_path, batch(0, 3))
    nothing = replace(found, run=found.run.taken(slice(0, 0)))
    assert record_counts(nothing).tolist() == first_offsets(nothing).tolist() == []
    assert records_below(nothing.run, 10, nothing.segment_slice) == 0
