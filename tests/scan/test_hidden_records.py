"""The ranges of offsets that an answer lacks."""

from __future__ import annotations

from kafkalog_reader.errors import CorruptRecordError, LogPosition, MissingRecordsError
from kafkalog_reader.scan import hidden_records
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.scan.hidden_records import HiddenRange, HiddenRecords

LOG = "b1/orders-3/00000000000000000000.log"


def damage_at(offset: int | None, position: int | None = 7, file: str = LOG) -> CorruptRecordError:
    return CorruptRecordError("bad", LogPosition(file, position, offset))


def spans(hidden: HiddenRecords) -> list[tuple[int | None, int | None]]:
    return [(each.first_offset, each.next_offset) for each in hidden.ranges()]


def test_without_damage_it_is_false() -> None:
    hidden = HiddenRecords()
    assert not hidden
    assert hidden.ranges() == []


def test_a_range_that_is_met_again_counts_once() -> None:
    hidden = HiddenRecords()
    for _ in range(2):  # two tables read the same log
        hidden.add(damage_at(5), 9)
    assert hidden
    assert spans(hidden) == [(5, 9)]


def test_of_ranges_that_begin_at_one_offset_the_longest_is_told() -> None:
    hidden = HiddenRecords()
    hidden.add(damage_at(5, position=70))  # a torn batch: where it ends is unknown
    hidden.add(MissingRecordsError("gone", LogPosition(LOG, offset=5)), 9, is_missing=True)
    hidden.add(damage_at(2, position=30), 3)
    assert spans(hidden) == [(2, 3), (5, 9)]


def test_a_checkpoint_holds_no_records() -> None:
    hidden = HiddenRecords()
    hidden.add(damage_at(None, None, "b1/log-start-offset-checkpoint"))
    assert not hidden


def test_what_is_beyond_the_cap_is_counted() -> None:
    hidden = HiddenRecords()
    for offset in range(hidden_records.MAX_RANGES + 3):
        hidden.add(damage_at(offset, offset), offset + 1)
    assert (len(hidden.ranges()), hidden.left_out) == (hidden_records.MAX_RANGES, 3)


def test_the_partition_is_that_of_the_folder() -> None:
    def place(file: str) -> tuple[str, int] | None:
        return HiddenRange(
            file=file, position=None, first_offset=0, next_offset=None
        ).topic_partition

    assert place(LOG) == ("orders", 3)
    assert place("broker-0/orders-3") == ("orders", 3)  # the folder of a log without segments
    assert place("00000000000000000000.log") is None


def test_a_range_says_why_there_is_no_record() -> None:
    hidden = HiddenRecords()
    hidden.add_not_in_sync("broker-0/orders-3", (1, 2))
    hidden.add_absent("orders-4")
    hidden.add(damage_at(5))
    found = {each.file: (each.is_missing, each.is_absent, each.in_sync) for each in hidden.ranges()}
    assert found == {
        "broker-0/orders-3": (False, False, (1, 2)),
        "orders-4": (False, True, ()),
        LOG: (False, False, ()),
    }


def test_damage_notes_what_it_passes_over() -> None:
    hidden, other = HiddenRecords(), HiddenRecords()
    damage = Damage(Mode.DROPMALFORMED, hidden=hidden)
    damage.left_out(damage_at(5), next_offset=9)
    damage.missing(MissingRecordsError("gone", LogPosition(LOG, offset=12)), 15)
    assert [each.is_missing for each in hidden.ranges()] == [False, True]
    other.update(hidden)
    assert spans(other) == [(5, 9), (12, 15)]
