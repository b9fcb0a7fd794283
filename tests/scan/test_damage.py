"""What each mode does with damage and with missing records."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import CorruptLogError, LogPosition
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.scan.damage import Damage, Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

ERROR = CorruptLogError("the checksum is wrong", LogPosition("t-0/0.log", 69, 1))


@pytest.fixture(autouse=True)
def _warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG):
        yield


def test_failfast_raises_the_error_itself() -> None:
    metrics = ReadMetrics()
    with pytest.raises(CorruptLogError) as caught:
        Damage(Mode.FAILFAST, metrics=metrics).left_out(ERROR)
    assert caught.value is ERROR
    assert (metrics.damaged_regions, metrics.missing_ranges) == (1, 0)


@pytest.mark.parametrize(
    ("mode", "said"),
    [(Mode.PERMISSIVE, [f"{ERROR}; left out"]), (Mode.DROPMALFORMED, [])],
)
def test_the_other_modes_leave_it_out(
    mode: Mode, said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    metrics = ReadMetrics()
    Damage(mode, metrics=metrics).left_out(ERROR)
    assert caplog.messages == said
    assert (metrics.damaged_regions, metrics.missing_ranges) == (1, 0)


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("mode", Mode)
def test_missing_records_fail_unless_they_may_be_missing(
    mode: Mode, fails: bool, caplog: pytest.LogCaptureFixture
) -> None:
    metrics = ReadMetrics()
    damage = Damage(mode, fail_on_data_loss=fails, metrics=metrics)
    if mode is Mode.FAILFAST and fails:
        with pytest.raises(CorruptLogError, match=r"wrong\. Mode PERMISSIVE reads the rest") as got:
            damage.missing(ERROR)
        assert got.value.where == ERROR.where
        assert caplog.messages == []
    else:
        damage.missing(ERROR)
        assert caplog.messages == ([] if mode is Mode.DROPMALFORMED else [str(ERROR)])
    assert (metrics.damaged_regions, metrics.missing_ranges) == (0, 1)


def test_missing_records_are_an_error_by_default() -> None:
    with pytest.raises(CorruptLogError):
        Damage(Mode.FAILFAST).missing(ERROR)
