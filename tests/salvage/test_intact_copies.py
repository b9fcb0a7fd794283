"""Which copy of a partition is intact where another one is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from kafkalog_reader.errors import LocatedError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage import intact_copies
from kafkalog_reader.salvage.intact_copies import other_copies
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.salvage.intact_copies import OtherCopies

LONG = "0-4/e0 5-9/e0 10-14/e0"
FIRST = f"{0:020}.log"


def flipped(root: Path, broker: int, name: str = FIRST) -> None:
    """Flip a bit in the first batch of the copy of a broker."""
    log = root / f"broker-{broker}" / "t-0" / name
    content = bytearray(log.read_bytes())
    content[65] ^= 5
    log.write_bytes(content)


def judged(root: Path, broker: int) -> OtherCopies | None:
    """What is known where reading the copy of this broker stops."""
    with pytest.raises(LocatedError) as caught:
        kafkalog_reader.open(str(root)).table("records", replica=f"broker:{broker}").to_arrow()
    return other_copies(caught.value, discover([str(root)]), ReadRequest())


@pytest.mark.parametrize(
    ("others", "intact", "is_shorter"),
    [
        pytest.param({2: LONG, 3: "0-4/e0 5-9/e0"}, "broker 2", False, id="the_longest"),
        pytest.param({2: "0-4/e0 5-9/e0"}, "broker 2", True, id="a_shorter_one"),
        pytest.param({2: "5-9/e0 10-14/e0"}, None, True, id="none_that_begins_after_the_damage"),
        pytest.param({2: "0-1/e0 2-14/e1"}, None, True, id="none_with_other_records"),
    ],
)
def test_the_longest_copy_that_has_what_is_damaged_is_intact(
    others: dict[int, str], intact: str | None, is_shorter: bool, tmp_path: Path
) -> None:
    logs = {1: LONG, **others}
    cluster(tmp_path, {n: replica(log, high_watermark=5) for n, log in logs.items()})
    flipped(tmp_path, 1)
    found = judged(tmp_path, 1)
    assert found is not None
    assert (found.intact and found.intact.replica_name) == intact
    assert found.is_shorter == is_shorter


def test_a_damaged_copy_is_passed_over(tmp_path: Path) -> None:
    cluster(tmp_path, dict.fromkeys((1, 2, 3), replica(LONG, high_watermark=15)))
    flipped(tmp_path, 1)
    flipped(tmp_path, 2)
    found = judged(tmp_path, 1)
    assert found is not None
    assert found.intact is not None
    assert found.broker_of(found.intact) == 3


def test_a_broker_that_has_two_copies_selects_none_of_them(tmp_path: Path) -> None:
    cluster(tmp_path, {1: replica(LONG, high_watermark=15)})
    cluster(tmp_path / "backup", {2: replica(LONG, high_watermark=15)})
    cluster(tmp_path / "older", {2: replica(LONG, high_watermark=15)})
    flipped(tmp_path, 1)
    found = judged(tmp_path, 1)
    assert found is not None
    assert found.intact is not None
    assert found.broker_of(found.intact) is None


def test_without_another_copy_or_with_large_ones_nothing_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster(tmp_path / "one", {1: replica(LONG, high_watermark=15)})
    cluster(tmp_path / "two", dict.fromkeys((1, 2), replica(LONG, high_watermark=15)))
    for each in ("one", "two"):
        flipped(tmp_path / each, 1)
    assert judged(tmp_path / "one", 1) is None
    assert judged(tmp_path / "two", 1) is not None
    monkeypatch.setattr(intact_copies, "MAX_BYTES", 100)
    assert judged(tmp_path / "two", 1) is None
