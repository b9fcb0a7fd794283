"""Links, special files and names with terminal escapes (6.6, Y01–Y06)."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.run import status
from kafkalog_reader.errors import (
    KafkaLogError,
    LogPosition,
    MissingRecordsError,
    UnreadableFileError,
)
from kafkalog_reader.format.producer_snapshot import build_producer_snapshot
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.io.window import Windows
from tests.tables.logs import batch, offsets

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hostile.conftest import Inputs


def test_y01_a_link_out_of_the_directory_is_not_followed(
    inputs: Inputs, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(batch(0))
    inputs.log.write_bytes(batch(0))
    (inputs.partition / "00000000000000000003.log").symlink_to(secret)
    (inputs.root / "b1" / "outside-0").symlink_to(tmp_path)
    assert offsets(inputs.sealed()) == [0, 1, 2]
    assert "symbolic link, not followed" in caplog.text


def test_y01_a_cycle_of_links_ends(inputs: Inputs) -> None:
    inputs.log.write_bytes(batch(0))
    (inputs.partition / "again").symlink_to(inputs.root)
    (inputs.root / "b1" / "again-0").symlink_to(inputs.root / "b1")
    path = inputs.sealed()
    assert offsets(path) == [0, 1, 2]
    log = kafkalog_reader.open(path, follow_links=True)
    assert set(log.table("records", ["offset"]).to_arrow()["offset"].to_pylist()) == {0, 1, 2}


def test_y01_a_link_swapped_in_after_the_listing_is_refused(inputs: Inputs, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(batch(0))
    inputs.log.write_bytes(batch(0))
    log = kafkalog_reader.open(str(inputs.root / "b1"))
    inputs.log.unlink()
    inputs.log.symlink_to(secret)
    inputs.sealed()
    with pytest.raises(UnreadableFileError, match="symbolic link, not followed"):
        Windows(str(inputs.log), context=ReadContext())
    assert log.table("records").to_arrow().num_rows == 0


def test_y02_what_is_not_a_file_does_not_hang(
    inputs: Inputs, caplog: pytest.LogCaptureFixture
) -> None:
    os.mkfifo(inputs.log)
    (inputs.partition / "00000000000000000003.log").write_bytes(batch(3))
    with socket.socket(socket.AF_UNIX) as served:
        here = os.open(inputs.partition, os.O_RDONLY)
        served.bind(f"/proc/self/fd/{here}/00000000000000000009.log")
        os.close(here)
        assert offsets(inputs.sealed()) == [3, 4, 5]
    assert caplog.text.count("not a regular file, skipped") == 2


NAMES = [
    b"a\nb-0", b"\x1b[31mred-0", b"\xe2\x80\xaegnp-0", b"\xff\xfe-0", b"-0", b"a-b--1",
    b"a-99999999999", b"x" * 255, b"..-0", b"a-0\r", b"$(touch x)-0", b"%s%n-0",
]  # fmt: skip


@pytest.mark.parametrize("command", ["ls", "table replicas", "table findings"])
def test_y03_hostile_names_are_shown_as_one_line_of_escaped_text(
    inputs: Inputs, command: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    inputs.log.write_bytes(batch(0))
    top = os.fsencode(inputs.root / "b1")
    for name in NAMES:
        os.mkdir(os.path.join(top, name))  # noqa: PTH102, PTH118  names that are no text
    code = status(kafkalog, [*command.split(), inputs.sealed()])
    out, err = capfdbinary.readouterr()
    assert code in (0, 1)
    for line in (out + err).decode("utf-8").splitlines():
        assert line.isprintable()


def test_y03_an_error_never_carries_a_hostile_name_to_the_terminal() -> None:
    error = UnreadableFileError("gone", LogPosition("/mnt/\x1b[2J\u202eevil\udcff\n", 7))
    assert str(error) == "/mnt/\\x1b[2J\\u202eevil\\xff\\n at position 7: gone"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_y04_a_spreadsheet_takes_no_key_for_a_formula(
    inputs: Inputs, start: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    from fixtures.builder.stored_batches import build_record_batch
    from kafkalog_reader.format.record import Record

    record = Record(offset_delta=0, key=f"{start}cmd|' /C calc'!A0".encode(), value=b"v")
    inputs.log.write_bytes(build_record_batch([record], base_timestamp=0))
    arguments = ["records", inputs.sealed(), "--columns", "key", "--format", "csv"]
    assert status(kafkalog, ["table", *arguments, "--render", "utf8"]) == 0
    cell = capfdbinary.readouterr().out.decode().splitlines()[1]
    assert cell.lstrip('"')[0] not in "=+-@\t\r"


def test_y05_two_thousand_empty_segments_take_seconds(inputs: Inputs) -> None:
    for number in range(2000):
        (inputs.partition / f"{number:020}.log").touch()
    path = inputs.sealed()
    for table in ("records", "batches", "segments", "replicas", "findings"):
        kafkalog_reader.open(path).table(table, mode="DROPMALFORMED").to_arrow()
    with pytest.raises(MissingRecordsError, match="offset 0 is missing"):
        kafkalog_reader.open(path).table("records").to_arrow()


def test_y06_a_sparse_terabyte_of_zeros_takes_no_time(inputs: Inputs) -> None:
    with inputs.log.open("wb") as file:
        file.write(batch(0))
        file.truncate(1 << 40)
    path = inputs.sealed()
    assert offsets(path, mode="PERMISSIVE") == [0, 1, 2]
    assert kafkalog_reader.open(path).table("batches", mode="PERMISSIVE").to_arrow().num_rows == 1


@pytest.mark.parametrize("size", [0, 1])
def test_files_of_no_byte_or_one_are_a_finding_or_a_clear_error(inputs: Inputs, size: int) -> None:
    content = b"\x01" * size
    names = [
        "00000000000000000000.log", "00000000000000000000.index", "00000000000000000000.timeindex",
        "00000000000000000000.txnindex", "00000000000000000000.snapshot", "leader-epoch-checkpoint",
        "partition.metadata",
    ]  # fmt: skip
    for name in names:
        (inputs.partition / name).write_bytes(content)
    for name in ("meta.properties", "replication-offset-checkpoint", ".kafka_cleanshutdown"):
        (inputs.root / "b1" / name).write_bytes(content)
    path = inputs.sealed()
    from kafkalog_reader.registry import TABLES

    for table in TABLES:
        with contextlib.suppress(KafkaLogError):
            kafkalog_reader.open(path).table(table).to_arrow()


def test_a_partition_whose_segments_are_gone_is_shown_by_every_table(inputs: Inputs) -> None:
    """A copy without ``*.log``, which many ignore lists exclude: it has only the indexes."""
    for name in ("00000000000000046710.index", "00000000000000046710.timeindex"):
        (inputs.partition / name).write_bytes(bytes(12))
    snapshot = build_producer_snapshot([])
    (inputs.partition / "00000000000000046710.snapshot").write_bytes(snapshot)
    (inputs.root / "b1" / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    log = kafkalog_reader.open(inputs.sealed())
    from kafkalog_reader.registry import TABLES

    rows = {table: log.table(table, mode="PERMISSIVE").to_arrow().num_rows for table in TABLES}
    assert rows["records"] == rows["batches"] == 0
    assert rows["replicas"] == rows["partitions"] == 1
