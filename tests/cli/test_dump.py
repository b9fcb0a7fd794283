"""The expected text is the output of Kafka 4.3.1's DumpLogSegments for the same files."""

from __future__ import annotations

import contextlib
import os
import pty
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import data_batch, replica, small_batches
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record, RecordHeader

if TYPE_CHECKING:
    from fixtures.builder import Batch
    from tests.cli.conftest import Run, Start

KAFKA = Path(__file__).with_name("small_partition.dump.txt")
LOG = "00000000000000000000.log"


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """The complete small partition of kafka-on-disk-format.md, section 14.8."""
    return write(tmp_path / "t-0", small_batches(), segment_bytes=600, index_interval=100)


def write(directory: Path, batches: list[Batch], **options: int) -> Path:
    directory.mkdir()
    for name, content in replica(batches, **options).build(is_clean=True).items():
        (directory / name).write_bytes(content)
    return directory


def test_every_line_of_a_partition_is_kafkas(
    partition: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(partition)
    files = [line.removeprefix("Dumping ") for line in KAFKA.read_text().splitlines()
             if line.startswith("Dumping ")]  # fmt: skip
    answer = run("dump", "--print-data-log", *files)
    assert answer.out == KAFKA.read_text()
    assert answer.status == 0
    gaps = f"Non-consecutive offsets in {partition}/00000000000000000013.log"
    assert answer.err == f"{gaps}\n  -1 is followed by 13\n"


def test_plain_dump_has_the_batches_only(partition: Path, run: Run) -> None:
    expected = [line for line in KAFKA.read_text().splitlines() if line.startswith("baseOffset: ")]
    lines = run("dump", partition / LOG, partition / "00000000000000000013.log").out.splitlines()
    assert [line for line in lines if line.startswith("baseOffset: ")] == expected
    assert not any(line.startswith("|") for line in lines)


@pytest.mark.parametrize("codec", list(Codec))
def test_records_of_every_codec_and_shape_are_shown(codec: Codec, tmp_path: Path, run: Run) -> None:
    records = [
        Record(offset_delta=0, key=None, value=b""),
        Record(offset_delta=3, timestamp_delta=-5, key=b"", value=None),
        Record(
            offset_delta=4, key=b"\x1b[2J", value="é\n".encode() + b"\xff",
            headers=(RecordHeader(key="a", value=b"1"), RecordHeader(key="a", value=None)),
        ),
    ]  # fmt: skip
    batch = data_batch(
        7, records, codec=codec, base_timestamp=5, producer_id=1, producer_epoch=2,
        base_sequence=2**31 - 1,
    )  # fmt: skip
    directory = write(tmp_path / "t-0", [batch])
    answer = run("dump", "--print-data-log", directory / "00000000000000000007.log")
    # the sequence after 2147483647 is 0: DefaultRecordBatch.incrementSequence
    assert answer.out.split("\n")[3:] == [
        "| offset: 7 CreateTime: 5 keySize: -1 valueSize: 0 sequence: 2147483647 headerKeys: []"
        " payload: ",
        "| offset: 10 CreateTime: 0 keySize: 0 valueSize: -1 sequence: 2 headerKeys: [] key: ",
        "| offset: 11 CreateTime: 5 keySize: 4 valueSize: 4 sequence: 3 headerKeys: [a,a]"
        " key: \x1b[2J payload: é",
        "\ufffd",
        "",
    ]
    assert f"compresscodec: {codec.text} " in answer.out
    assert "  7 is followed by 10\n" in answer.err


def test_on_a_terminal_a_record_cannot_act(tmp_path: Path, start_process: Start) -> None:
    batch = data_batch(0, [Record(offset_delta=0, key=b"\x1b[2J", value=b"a\nb")])
    log = write(tmp_path / "t-0", [batch]) / LOG
    controller, terminal = pty.openpty()
    process = start_process("dump", "--print-data-log", log, stdout=terminal)
    os.close(terminal)
    printed = b""
    with contextlib.suppress(OSError):  # Linux: the other end is closed
        while part := os.read(controller, 65536):
            printed += part
    os.close(controller)
    assert process.wait(60) == 0
    assert b" key: \\x1b[2J payload: a\\nb\r\n" in printed


@pytest.mark.parametrize(
    ("timestamp", "attributes"), [(2**63 - 1, 0), (-(2**63), 0), (-1, 0), (2**62, 8)]
)
def test_timestamps_beyond_microseconds_are_shown_as_stored(
    timestamp: int, attributes: int, tmp_path: Path, run: Run
) -> None:
    batch = data_batch(0, [Record(offset_delta=0)], base_timestamp=timestamp, flags=attributes)
    out = run("dump", "--deep-iteration", write(tmp_path / "t-0", [batch]) / LOG).out
    assert out.splitlines()[3].startswith(
        f"| offset: 0 {'LogAppendTime' if attributes else 'CreateTime'}: {timestamp} keySize: -1 "
    )


def test_torn_batch_is_counted_as_kafka_counts_it(partition: Path, run: Run) -> None:
    log = partition / LOG
    log.write_bytes(log.read_bytes()[:-5])
    answer = run("dump", log)
    assert answer.status == 0
    assert answer.out.splitlines()[-1] == f"Found 73 invalid bytes at the end of {LOG}"


def test_wrong_crc_is_shown_and_ends_nothing(partition: Path, run: Run) -> None:
    log = partition / LOG
    content = bytearray(log.read_bytes())
    content[160] ^= 1
    log.write_bytes(content)
    answer = run("dump", "--deep-iteration", log)
    valid = [line.rsplit(" ", 1)[1] for line in answer.out.splitlines() if "isvalid" in line]
    assert valid == ["true", "false", "true", "true", "true", "true", "true"]
    assert answer.status == 0


@pytest.mark.parametrize(
    ("position", "byte", "problem"),
    [
        (83 + 16, 3, "at position 83 (offset 2): unknown magic 3"),
        (83 + 8, 0x80, "at position 83 (offset 2): batch length -"),
        (83 + 22, 7, "at position 83 (offset 2): unknown codec 7"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(
    position: int, byte: int, problem: str, partition: Path, run: Run
) -> None:
    log = partition / LOG
    content = bytearray(log.read_bytes())
    content[position] = byte
    log.write_bytes(content)
    answer = run("dump", log)
    assert answer.status == 2
    assert answer.err.startswith(f"error: {log} {problem}")
    assert answer.err.count("\n") == 1
    assert len(answer.out.splitlines()) == 3  # the output before the damage is complete


def test_unknown_file_is_ignored_as_kafka_does(tmp_path: Path, run: Run) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    answer = run("dump", tmp_path / "notes.txt")
    assert answer.out == f"Dumping {tmp_path}/notes.txt\n"
    assert answer.err == f"Ignoring unknown file {tmp_path}/notes.txt\n"
    assert answer.status == 2  # Kafka's tool returns 0, which a script could take for success


def test_a_path_that_leads_nowhere_is_not_ignored(tmp_path: Path, run: Run) -> None:
    answer = run("dump", tmp_path / "gone")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == f"error: {tmp_path}/gone: no such file or directory\n"


def test_preallocated_index_ends_at_its_zeros(partition: Path, run: Run) -> None:
    index = partition / "00000000000000000000.index"
    index.write_bytes(index.read_bytes() + bytes(80))
    assert run("dump", index).out.splitlines()[1:] == [
        "offset: 5 position: 166", "offset: 9 position: 332", "offset: 12 position: 498",
    ]  # fmt: skip


def test_empty_index_is_said_to_be_empty(tmp_path: Path, run: Run) -> None:
    index = tmp_path / "00000000000000000000.index"
    index.touch()
    assert run("dump", index).out == f"Dumping {index}\n{index} is empty.\n"


@pytest.mark.parametrize("name", ["orders.log", "x.checkpoint", "-1.index"])
def test_a_name_without_an_offset_is_refused(name: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / name).touch()
    answer = run("dump", tmp_path / name)
    assert answer.status == 2
    assert answer.err.startswith(f"error: {tmp_path}/{name}: ")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("00000000000000000012-0000000003.checkpoint", "Snapshot end offset: 12, epoch: 3"),
        ("bootstrap.checkpoint", "KRaft bootstrap snapshot"),
    ],
)
def test_snapshots_of_the_metadata_log_are_batches_too(
    name: str, line: str, partition: Path, run: Run
) -> None:
    snapshot = partition / name
    snapshot.write_bytes((partition / LOG).read_bytes())
    lines = run("dump", snapshot).out.splitlines()
    assert lines[1] == line
    assert len(lines) == 9
