"""Traps in one replica (replica-divergence.md, section 2), in innocent and broken form.

The innocent form has no finding above low (except KL-117 if formats are mixed). The broken form,
which only looks like it, has its own code.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fixtures.builder import (
    EPOCH_MILLIS,
    Batch,
    Replica,
    cluster,
    data_batch,
    empty_batch,
    marker_batch,
    parse_log,
    replica,
)
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.format.batch_fields import DELETE_HORIZON_BIT, LOG_APPEND_TIME_BIT
from kafkalog_reader.format.control_record import ControlType
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

Change = Callable[[Path], None]
TEN = "0-9/e0 10-19/e0 20-29/e0"


def nothing(_: Path) -> None:
    """Change nothing."""


class Trap(NamedTuple):
    """A replica, a change of its directory, and whether its broker was shut down cleanly."""

    id: str
    replica: Replica
    code: str | None = None
    """The code of the broken form; None for the innocent form."""
    change: Change = nothing
    clean: bool = True
    deep: bool = False


def edit(name: str, change: Callable[[bytes], bytes]) -> Change:
    def apply(directory: Path) -> None:
        path = directory / name
        path.write_bytes(change(path.read_bytes()))

    return apply


def write(name: str, content: bytes) -> Change:
    return lambda directory: (directory / name).write_bytes(content) and None


def whole(log: str | list[Batch] = TEN, **given: Any) -> Replica:
    return replica(log, **{"high_watermark": None, **given})


def stopped(log: str | list[Batch] = TEN, **given: Any) -> Replica:
    """The directory of a broker that flushed everything, as a clean shutdown does."""
    batches = parse_log(log) if isinstance(log, str) else log
    return whole(list(batches), recovery_point=batches[-1].next_offset, **given)


def idempotent(offset: int, sequence: int, **given: Any) -> Batch:
    producer = {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}
    return data_batch(offset, [Record(offset_delta=0, value=b"v")], **{**producer, **given})


def marker(offset: int) -> Batch:
    return marker_batch(
        offset, control_type=ControlType.COMMIT, coordinator_epoch=0, leader_epoch=0,
        timestamp=EPOCH_MILLIS, producer_id=9, producer_epoch=0,
    )  # fmt: skip


LOG = f"{0:020}.log"
INDEX = f"{0:020}.index"
TIMES = f"{0:020}.timeindex"
EPOCHS = "leader-epoch-checkpoint"
CLEANED = "0-9/e0[0,4,9] 10-19/e0[15] 30-39/e0"

TRAPS = (
    Trap("T01_a_hot_copy_ends_inside_a_batch", whole(), change=edit(LOG, lambda c: c[:-7]),
         clean=False),
    Trap("T01_not_after_a_clean_stop", stopped(), "KL-316", edit(LOG, lambda c: c[:-7])),
    Trap("T04_the_log_start_lies_inside_a_batch", stopped(log_start=5, high_watermark=30)),
    Trap("T04_not_below_a_later_segment", stopped(segment_bytes=150), "KL-401",
         lambda d: [p.rename(d / p.name.replace("20.", "21.", 1)) for p in d.glob(f"{20:020}.*")]
         and None),
    Trap("T05_cleaned_batches_and_gaps", stopped(CLEANED, cleaner_offset=30, high_watermark=40)),
    Trap("T05_a_gap_that_nothing_cleaned", stopped("0-9/e0 30-39/e0"), "KL-111"),
    Trap("T06_a_delete_horizon", stopped([
        data_batch(0, [Record(offset_delta=0, key=b"k", value=None, timestamp_delta=-5)],
                   base_timestamp=EPOCH_MILLIS + 5, flags=DELETE_HORIZON_BIT)],
        cleaner_offset=1, high_watermark=1), deep=True),
    Trap("T08_an_empty_batch_is_kept", stopped([
        *parse_log("0-9/e0"), empty_batch(parse_log("10-19/e0")[0]), *parse_log("20-29/e0")]),
        deep=True),
    Trap("T10_zeros_after_the_active_log", whole(),
         change=edit(LOG, lambda c: c + bytes((1 << 20) - len(c))), clean=False),
    Trap("T10_not_after_a_clean_stop", stopped(), "KL-104",
         edit(LOG, lambda c: c + bytes((1 << 20) - len(c)))),
    Trap("T10_preallocated_indexes", whole(preallocated=4096), clean=False),
    Trap("T11_an_entry_of_a_bulk_append", stopped(),
         change=write(INDEX, struct.pack(">ii", 29, 0))),
    Trap("T11_not_one_that_skips", stopped(), "KL-206",
         lambda d: write(INDEX, struct.pack(">ii", 5, second_position(d)))(d)),
    Trap("T12_the_offset_of_the_record_in_the_time_index", stopped(),
         change=edit(TIMES, lambda c: c[:-4] + struct.pack(">i", 25))),
    Trap("T12_not_an_offset_of_no_batch", stopped(), "KL-212",
         edit(TIMES, lambda c: c[:-4] + struct.pack(">i", 99))),
    Trap("T13_elected_and_nothing_written", stopped(epochs="0:0 1:30")),
    Trap("T13_not_after_the_end", stopped(epochs="0:0 1:31"), "KL-409"),
    Trap("T14_removed_later_after_an_unclean_stop", whole(epochs="0:0 1:31"), clean=False),
    Trap("T15_the_first_entry_is_clipped", stopped(epochs="0:7", log_start=7, high_watermark=30)),
    Trap("T15_not_above_the_log_start", stopped(epochs="0:7"), "KL-407"),
    Trap("T15_records_deleted_within_the_last_minute", whole(epochs="0:7"), clean=False),
    Trap("T15_an_epoch_deleted_within_the_last_minute",
         whole("0-9/e0 10-29/e3", epochs="3:17"), clean=False),
    Trap("T15_not_an_epoch_that_is_missing_further_up",
         whole("0-9/e0 10-19/e3 20-29/e4", epochs="0:7 4:20"), "KL-406", clean=False),
    Trap("T16_the_high_watermark_is_late", whole(high_watermark=3), clean=False),
    Trap("T16_not_above_the_end", stopped(high_watermark=31), "KL-304"),
    Trap("T17_the_recovery_point_is_far_below", whole(recovery_point=0), clean=False),
    Trap("T17_not_above_the_end", whole(recovery_point=31), "KL-305", clean=False),
    Trap("T18_no_row_says_nothing_special", whole(recovery_point=None), clean=False),
    Trap("T20_a_marker_without_data", stopped([*parse_log("0-9/e0"), marker(10)])),
    Trap("T21_a_producer_without_sequences", stopped([
        idempotent(0, -1), idempotent(1, -1)]), deep=True),
    Trap("T22_the_first_batch_has_any_sequence", stopped([idempotent(0, 500)])),
    Trap("T25_messages_have_no_leader_epoch", stopped("a@0/m1 b@1/m1")),
    Trap("T25_not_a_batch_whose_epoch_falls", stopped("a@0/e3 b@1/e2", epochs="3:0"), "KL-112"),
    Trap("T26_a_replica_that_starts_late", stopped("1000-1009/e4 1010-1019/e4")),
    Trap("T30_log_append_time", stopped([
        data_batch(0, [Record(offset_delta=d, timestamp_delta=-d) for d in range(3)],
                   base_timestamp=EPOCH_MILLIS, max_timestamp=EPOCH_MILLIS + 900,
                   flags=LOG_APPEND_TIME_BIT)]),
         change=write(TIMES, struct.pack(">qi", EPOCH_MILLIS + 900, 2)), deep=True),
    Trap("T30_not_create_time", stopped([
        data_batch(0, [Record(offset_delta=d) for d in range(3)], base_timestamp=EPOCH_MILLIS,
                   max_timestamp=EPOCH_MILLIS + 900)]), "KL-113", deep=True),
    Trap("T32_messages_erase_the_epochs", stopped("0-9/e0 a@10/m1", epochs=[])),
    Trap("T34_offsets_jump_by_more_than_an_index_holds", stopped([
        *parse_log("0-9/e0[3]"), *parse_log(f"{2**31 + 5}-{2**31 + 9}/e0[{2**31 + 7}]")],
        segment_bytes=10, cleaner_offset=2**31 + 10, high_watermark=2**31 + 10)),
)  # fmt: skip


def second_position(directory: Path) -> int:
    content = (directory / LOG).read_bytes()
    return 12 + int.from_bytes(content[8:12], "big")


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.id)
def test_trap(trap: Trap, tmp_path: Path) -> None:
    roots = cluster(tmp_path, {0: trap.replica}, clean=[0] if trap.clean else [])
    trap.change(roots[0] / "t-0")
    findings = table("findings")
    asked = request(findings, deep=trap.deep)
    units = findings.units(discover([str(tmp_path)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    worse = {each.code for each in found if each.severity in "CHM"} - {"KL-117"}
    if trap.code is None:
        assert worse == set(), [each.message for each in found if each.severity in "CHM"]
    else:
        assert trap.code in {each.code for each in found}
