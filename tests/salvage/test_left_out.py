"""What a salvage left out: every place counts, and a batch reported twice counts once."""

from __future__ import annotations

import logging

import pytest

from kafkalog_reader.errors import CorruptRecordError, LocatedError, LogPosition
from kafkalog_reader.salvage import left_out
from kafkalog_reader.salvage.left_out import NotedDamage, Places, UnreadCopies, Warnings


def at(position: int | None, file: str = "t-0/0.log", offset: int | None = None) -> LocatedError:
    return CorruptRecordError("wrong CRC", LogPosition(file, position, offset))


def test_a_batch_reported_twice_counts_once_and_another_file_again() -> None:
    places = Places()
    damage = NotedDamage(places)
    for error in (at(100), at(100), at(200), at(100, "t-0/9.log")):
        damage.left_out(error)
    assert (places.count, places.batches) == (3, 3)
    assert damage.positions == {"t-0/0.log": {100, 200}, "t-0/9.log": {100}}


def test_adjacent_batches_count_each_but_are_one_place() -> None:
    places = Places()
    NotedDamage(places).left_out(at(100, offset=7), batches=4)
    assert (places.count, places.batches) == (4, 4)
    (place,) = places.first
    assert (place.file, place.position, place.offset) == ("t-0/0.log", 100, 7)
    assert place.problem == "wrong CRC"


def test_stretches_and_files_are_no_batches() -> None:
    places = Places()
    damage = NotedDamage(places)
    damage.left_out(at(None))  # a file
    damage.stretch_left_out(at(100))
    damage.left_out(at(100))  # now a batch
    assert (places.count, places.batches) == (3, 1)
    assert damage.positions == {"t-0/0.log": {100}}


def test_after_an_error_inside_the_damage_is_of_batches_again() -> None:
    places = Places()
    damage = NotedDamage(places)
    with pytest.raises(OSError, match="gone"), damage.of_stretches():
        raise OSError("gone")
    damage.left_out(at(0))  # position 0 is one, too
    assert places.batches == 1
    assert damage.positions == {"t-0/0.log": {0}}


def test_only_the_first_places_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_out, "MAX_PLACES", 2)
    places = Places()
    for position in range(3):
        places.add(at(position))
    assert (places.count, places.batches) == (3, 0)
    assert [place.position for place in places.first] == [0, 1]


def test_a_second_reading_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    NotedDamage.silent().left_out(at(5))
    assert caplog.records == []
    NotedDamage(Places()).left_out(at(5))
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_errors_of_copies_are_taken_once() -> None:
    unread = UnreadCopies()
    first, second = at(1), at(2)
    unread.left_out(first)
    unread.left_out(second)
    assert unread.taken() == [first, second]
    assert unread.taken() == []


def test_other_warnings_are_collected_once_while_it_lasts() -> None:
    torn = logging.getLogger("kafkalog_reader.scan.batch_scan")
    of_damage = logging.getLogger("kafkalog_reader.scan.damage")
    with Warnings() as warnings:
        for text in ("torn end", "torn end", "link"):
            torn.warning("%s", text)
        torn.info("not one")
        of_damage.warning("in the list of places already")
    torn.warning("later")
    assert warnings.messages == ["torn end", "link"]
