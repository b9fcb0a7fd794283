"""Files that the operating system refuses: an error, or in other modes the rest of the data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import TABLES
from kafkalog_reader.scan.damage import Damage, Mode
from kafkalog_reader.tables.best_replica import best_and_lacking
from kafkalog_reader.tables.request import ReadRequest
from tests.tables.logs import batch, offsets, rows, write_segment


class Refusal:
    """Refuses to open files below one path and to list it, since permissions do not bind root."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path: Path | None = None
        self._open, self._scandir = os.open, os.scandir
        monkeypatch.setattr(os, "open", lambda path, *rest: self._open(self._checked(path), *rest))
        monkeypatch.setattr(os, "scandir", lambda path: self._scandir(self._checked(path)))

    def _checked(self, path: str) -> str:
        if self.path is not None and Path(path).is_relative_to(self.path):
            raise PermissionError(13, "Permission denied", path)
        return path


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch) -> Refusal:
    return Refusal(monkeypatch)


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """Two segments of a, one of b."""
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    write_segment(tmp_path / "a-0", [batch(0)])
    write_segment(tmp_path / "a-0", [batch(3)], base_offset=3)
    write_segment(tmp_path / "b-0", [batch(0)])
    return tmp_path


@pytest.mark.parametrize(
    ("refused", "rest"),
    [
        ("a-0/00000000000000000000.log", [3, 4, 5, 0, 1, 2]),
        ("a-0/00000000000000000003.log", [0, 1, 2, 0, 1, 2]),
        ("a-0", [0, 1, 2]),
    ],
)
def test_an_unreadable_file_or_folder_costs_its_own_records_only(
    broker: Path, refusal: Refusal, caplog: pytest.LogCaptureFixture, refused: str, rest: list[int]
) -> None:
    refusal.path = broker / refused
    with pytest.raises(UnreadableFileError, match="Permission denied"):
        offsets(broker)
    assert offsets(broker, mode="PERMISSIVE") == rest
    assert f"{refusal.path}: Permission denied" in caplog.text


# Not recoveries and elections: a broker that cannot read a folder does not start.
@pytest.mark.parametrize("table", sorted({*TABLES} - {"recoveries", "elections"}))
def test_no_table_gives_up_for_one_unreadable_partition(
    broker: Path, refusal: Refusal, table: str
) -> None:
    readable = [row for row in rows(broker, table) if row.get("topic") != "a"]
    refusal.path = broker / "a-0"
    found = [row for row in rows(broker, table, mode="PERMISSIVE") if row.get("topic") != "a"]
    assert found == readable


def test_the_best_of_copies_of_which_one_file_is_unreadable(
    tmp_path: Path, refusal: Refusal
) -> None:
    for number, batches in enumerate([[batch(0), batch(3)], [batch(0)]]):
        write_segment(tmp_path / f"b{number}" / "t-0", batches)
        meta = f"version=1\nnode.id={number}\ncluster.id=c\n"
        (tmp_path / f"b{number}" / "meta.properties").write_text(meta)
    refusal.path = tmp_path / "b0" / "t-0"
    with pytest.raises(UnreadableFileError):
        offsets(tmp_path, replica="best")
    assert offsets(tmp_path, replica="best", mode="DROPMALFORMED") == [0, 1, 2]
    ((_, replicas),) = discover([str(tmp_path)]).topic_partitions(ReadRequest())
    refusal.path = tmp_path
    assert best_and_lacking(replicas, Damage(Mode.DROPMALFORMED)) == (None, ())
    refusal.path = None
    assert offsets(tmp_path, replica="best") == [0, 1, 2, 3, 4, 5]


def test_a_copy_that_cannot_be_listed_is_not_said_to_be_empty(
    broker: Path, refusal: Refusal
) -> None:
    refusal.path = broker / "a-0"
    found = rows(broker, "partitions", columns=["topic", "verdict", "logEndOffset"])
    assert found == [
        {"topic": "a", "verdict": "undecidable", "logEndOffset": None},
        {"topic": "b", "verdict": "consistent", "logEndOffset": 3},
    ]
    codes = {row["code"] for row in rows(broker, "findings") if row["topic"] == "a"}
    assert "KL-004" in codes


def test_a_folder_that_cannot_be_listed_is_the_only_headline(
    broker: Path, refusal: Refusal
) -> None:
    (broker / "replication-offset-checkpoint").write_text("0\n1\na 0 6\n")
    refusal.path = broker / "a-0"
    found = [row for row in rows(broker, "findings") if row["topic"] == "a"]
    assert "KL-304" not in {row["code"] for row in found}  # where the log ends is unknown
    headlines = {(row["code"], row["file"]) for row in found if row["causedBy"] is None}
    assert {each for each in headlines if each[0] != "KL-011"} == {("KL-004", "a-0")}


def test_above_a_last_segment_that_this_user_may_not_read_nothing_is_lost(
    broker: Path, refusal: Refusal
) -> None:
    (broker / "replication-offset-checkpoint").write_text("0\n1\na 0 6\n")
    refusal.path = broker / "a-0" / "00000000000000000003.log"
    found = [row for row in rows(broker, "findings") if row["topic"] == "a"]
    assert {row["severity"] for row in found if row["code"] == "KL-004"} == {"H"}
    assert "KL-304" not in {row["code"] for row in found}  # where the log ends is unknown
    refusal.path = broker / "a-0" / "00000000000000000000.log"  # the end is read
    (broker / "replication-offset-checkpoint").write_text("0\n1\na 0 9\n")
    assert "KL-304" in {row["code"] for row in rows(broker, "findings") if row["topic"] == "a"}
