"""The best copy must also reach the greatest high watermark of all copies."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.errors import MissingRecordsError
from kafkalog_reader.format.record import Record
from tests.tables.logs import offsets, rows_before_error

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.builder import Replica

ALL = "0-3/e0 4-5/e0"


def lost(root: Path, *copies: Replica, clean: bool = True, **options: Any) -> str:
    """The offsets that are missing from the best copy, and what proves it; empty if none are."""
    cluster(root, dict(enumerate(copies)), clean=range(len(copies)) if clean else ())
    _, error = rows_before_error(root, **{"replica": "best", **options})
    found = re.fullmatch(
        r"offsets? (.*) (?:is|are) missing: .*, but (.*)",
        "" if error is None else error.problem,
    )
    assert (found is None) == (error is None)
    return "" if found is None else f"{found[1]}: {found[2]}"


def test_the_row_of_a_shorter_copy_proves_what_the_best_one_lacks(tmp_path: Path) -> None:
    short, best = replica("0-3/e0", high_watermark=9), replica(ALL, high_watermark=6)
    said = lost(tmp_path / "clean", short, best)
    assert said == (
        "6 to 8: replication-offset-checkpoint of broker 0 has 9 as high watermark, and no "
        "readable copy reaches it"
    )
    killed = lost(tmp_path / "killed", short, best, clean=False)
    assert killed == (
        f"{said} (a copy of a running broker can look the same, when its checkpoint is newer)"
    )


def test_only_the_offsets_asked_for_count(tmp_path: Path) -> None:
    copies = replica("0-3/e0", high_watermark=9), replica(ALL, high_watermark=6)
    assert lost(tmp_path, *copies, to_offset=6) == ""
    assert lost(tmp_path, *copies, to_offset=7).startswith("6 to 8: ")
    assert lost(tmp_path, *copies, from_offset=5, to_offset=6) == ""


@pytest.mark.parametrize(
    ("copies", "first"),
    [
        pytest.param([("0-3/e0", 6), (ALL, 4)], None, id="up_to_the_longest_log"),
        pytest.param([("0-3/e0", 7), (ALL, 4)], "6", id="one_more"),
        pytest.param([("0-3/e0", 7), (ALL, 8)], "6 to 7", id="the_greatest_row_is_its_own"),
        pytest.param([("0-3/e0", 9), (ALL, 8)], "6 to 8", id="the_greatest_row_is_of_another"),
        pytest.param([(ALL, 6), ("0-3/e1", 4)], None, id="an_unclean_election"),
        pytest.param([(ALL, 8), ("0-3/e1", 4)], "4 to 7", id="lost_before_an_unclean_election"),
    ],
)
def test_no_row_up_to_the_greatest_log_end_proves_a_loss(
    tmp_path: Path, copies: list[tuple[str, int]], first: str | None
) -> None:
    built = [replica(log, high_watermark=mark) for log, mark in copies]
    said = lost(tmp_path, *built)
    assert said.partition(":")[0] == (first or "")


def test_a_copy_that_retention_emptied_reaches_its_log_start(tmp_path: Path) -> None:
    """Only the new empty segment is left of a log whose records were all deleted."""
    emptied = replica("", base_offset=9, high_watermark=9, log_start=9)
    assert lost(tmp_path, emptied, replica(ALL, high_watermark=6)) == ""


def test_batches_after_damage_of_another_copy_are_not_lost(tmp_path: Path) -> None:
    """Both copies are read up to offset 4; the log of broker 1 goes on behind its damage."""
    copies = {
        0: replica("0-3/e0", high_watermark=4),
        1: replica("0-3/e0 4-5/e0 6-8/e0", high_watermark=9),
    }
    log = cluster(tmp_path, copies, clean=(0, 1))[1] / "t-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    at = 12 + int.from_bytes(content[8:12], "big")
    content[at + 65] ^= 5  # offsets 4 and 5
    log.write_bytes(content)
    assert offsets(tmp_path, replica="best") == [0, 1, 2, 3]


def test_the_row_of_a_copy_that_cannot_be_read_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its log may reach the row."""
    copies = {0: replica(ALL, high_watermark=6), 1: replica(ALL, high_watermark=9)}
    refused = str(cluster(tmp_path, copies)[1] / "t-0" / f"{0:020d}.log")
    really_open = os.open

    def without_rights(path: str, *arguments: int, **options: int) -> int:
        if os.fspath(path) == refused:
            raise PermissionError(13, "Permission denied", path)
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", without_rights)
    assert offsets(tmp_path, replica="best", mode="PERMISSIVE") == [0, 1, 2, 3, 4, 5]
    assert not any("missing" in each for each in caplog.messages)


@pytest.mark.parametrize(("seconds", "is_lost"), [(2, False), (-2, True)])
def test_a_row_that_was_copied_after_its_log_while_clients_wrote_does_not_count(
    tmp_path: Path, seconds: int, *, is_lost: bool
) -> None:
    """As for KL-524, by the times of files."""
    now = time.time()
    written = [
        data_batch(offset, [Record(offset_delta=0)], base_timestamp=int(now * 1000))
        for offset in range(3)
    ]
    copies = replica(written[:2], high_watermark=9), replica(written, high_watermark=3)
    roots = cluster(tmp_path, dict(enumerate(copies)))
    times = (now + seconds, now + seconds)
    os.utime(roots[0] / "replication-offset-checkpoint", times)
    if is_lost:
        with pytest.raises(MissingRecordsError, match="offsets 3 to 8 are missing"):
            offsets(tmp_path, replica="best")
    else:
        assert offsets(tmp_path, replica="best") == [0, 1, 2]
