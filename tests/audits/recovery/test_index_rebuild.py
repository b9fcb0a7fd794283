"""Index files without which a start keeps more: LogLoader#loadSegmentFiles rebuilds them.

The last segment of the reference's small partition (14.8) has 440 bytes and offsets 13 to 22: the
last batch begins at byte 353 and has offsets 21 and 22.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.audits.recovery.index_rebuild import IndexRebuild
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.rule import LogConfig, StartRule
from tests.audits.recovery.logs import LAST, start, write_small

if TYPE_CHECKING:
    from pathlib import Path

INDEXES = (f"{LAST}.index", f"{LAST}.timeindex")


def cut_last_batch(directory: Path, *, keeps_its_entry: bool) -> None:
    """Tear the last batch; its entry in the offset index hides what is before it."""
    log, index = directory / f"{LAST}.log", directory / f"{LAST}.index"
    log.write_bytes(log.read_bytes()[:430])
    if not keeps_its_entry:
        index.write_bytes(index.read_bytes()[:-8])


@pytest.mark.parametrize("is_clean", [False, True])
def test_a_sound_log_needs_no_new_index(tmp_path: Path, is_clean: bool) -> None:
    write_small(tmp_path, is_clean=is_clean, recovery_point=23)
    assert start(tmp_path).rebuild is None


def test_records_that_an_index_hides_are_served_without_it(tmp_path: Path) -> None:
    """With it, the broker sees the end at 13; it then rebuilds what is sound: 13 to 20."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    cut_last_batch(directory, keeps_its_entry=True)
    recovery = start(tmp_path)
    assert recovery.rebuild == IndexRebuild(files=INDEXES, records_kept=8)
    for name in INDEXES:
        (directory / name).unlink()
    after = start(tmp_path)
    assert (after.outcome, after.log_end_offset_after_start) == (StartOutcome.CUT, 21)
    assert after.rebuild is None


def test_only_files_that_are_there_are_named(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    cut_last_batch(directory, keeps_its_entry=True)
    (directory / f"{LAST}.timeindex").unlink()
    (directory / f"{LAST}.txnindex").write_bytes(b"")
    rebuild = start(tmp_path).rebuild
    assert rebuild is not None
    assert rebuild.files == (f"{LAST}.index", f"{LAST}.txnindex")


def test_a_torn_end_that_would_stay_goes_without_the_index(tmp_path: Path) -> None:
    """The broker would append after 77 bytes of a batch; no record is lost with them."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    cut_last_batch(directory, keeps_its_entry=False)
    recovery = start(tmp_path)
    assert (recovery.outcome, recovery.log_end_offset_after_start) == (StartOutcome.LOADS, 21)
    assert recovery.rebuild == IndexRebuild(files=INDEXES, records_kept=0)


def test_a_torn_end_is_cut_after_a_crash_anyway(tmp_path: Path) -> None:
    directory = write_small(tmp_path, is_clean=False, recovery_point=13)
    cut_last_batch(directory, keeps_its_entry=False)
    recovery = start(tmp_path)
    assert (recovery.outcome, recovery.rebuild) == (StartOutcome.CUT, None)


@pytest.mark.parametrize("position", [61 + 3, 353 + 61 + 3], ids=["first", "last"])
def test_a_whole_batch_that_is_damaged_is_not_given_up(tmp_path: Path, position: int) -> None:
    """Its records may still be read; a rebuilt index would cut it and what follows."""
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log = directory / f"{LAST}.log"
    content = bytearray(log.read_bytes())
    content[position] ^= 1
    log.write_bytes(content)
    recovery = start(tmp_path)
    assert (recovery.outcome, recovery.rebuild) == (StartOutcome.LOADS, None)


@pytest.mark.parametrize(
    ("keeps_its_entry", "end", "rebuild"),
    [
        pytest.param(True, 13, IndexRebuild(files=INDEXES, records_kept=6), id="fewer_are_hidden"),
        pytest.param(False, 17, None, id="as_many_are_hidden"),
    ],
)
def test_records_that_a_new_index_would_hide_too_are_not_kept(
    keeps_its_entry: bool, end: int, rebuild: IndexRebuild | None, tmp_path: Path
) -> None:
    """No checksum covers base offsets: the last batch, 21 and 22, claims to be 15 and 16.

    The end of the last batch is the end of the log, 17, so that the four records from 17 to 20 are
    not served, and the other six are. A search for the index entry of 22 finds nothing: then the
    log ends at 13, and none of the ten is served.
    """
    directory = write_small(tmp_path, is_clean=True, recovery_point=23)
    log, index = directory / f"{LAST}.log", directory / f"{LAST}.index"
    content = bytearray(log.read_bytes())
    content[353:361] = struct.pack(">q", 15)
    log.write_bytes(content)
    if not keeps_its_entry:
        index.write_bytes(index.read_bytes()[:-8])
    known = StartRule(default_config=LogConfig(is_interval_known=True))
    recovery = start(tmp_path, rule=known)
    assert (recovery.outcome, recovery.log_end_offset_after_start) == (StartOutcome.HIDDEN, end)
    assert recovery.rebuild == rebuild
    assert start(tmp_path).rebuild is None
    for name in INDEXES:
        (directory / name).unlink()
    assert start(tmp_path).log_end_offset_after_start is None
    assert "depends on index.interval.bytes" in start(tmp_path).reason
    after = start(tmp_path, rule=known)
    assert (after.log_end_offset_after_start, after.records_cut) == (17, 4)
