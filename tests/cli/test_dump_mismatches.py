"""The expected lines are the output of Kafka 4.3.1's DumpLogSegments for the same files."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

EVERYTHING = captures.path("everything")
CODEC_NONE = "codec-none-0"
ONE = "one-record-batches-0"
SEGMENT = f"{0:020d}"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(EVERYTHING / "stopped" / "broker-0" / ONE, tmp_path / ONE)
    shutil.copytree(EVERYTHING / "stopped" / "broker-0" / CODEC_NONE, tmp_path / CODEC_NONE)
    return tmp_path


def flip(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_the_preallocated_index_of_a_killed_broker_is_a_mismatch_to_kafka(run: Run) -> None:
    index = EVERYTHING / "killed" / "broker-0" / "partitioned-0" / f"{SEGMENT}.index"
    assert run("dump", index).err.splitlines() == [
        f"Mismatches in :{index}",
        "  Index offset: 0, log offset: 3",
    ]


def test_sound_indexes_have_no_mismatches(copied: Path, run: Run) -> None:
    for name in (ONE, CODEC_NONE):
        for index in sorted((copied / name).glob("*index")):
            assert run("dump", index).err == "", index


@pytest.mark.parametrize("first", [0, 1])
def test_an_entry_with_another_offset_is_reported_with_the_batch_it_points_at(
    first: int, copied: Path, run: Run
) -> None:
    index = copied / CODEC_NONE / f"{SEGMENT}.index"
    entries = run("dump", index).out.splitlines()[1:]
    if len(entries) <= first:
        pytest.fail(f"the capture has {len(entries)} entries")
    offset = int(entries[first].split()[1])
    flip(index, first * 8 + 3)
    assert run("dump", index).err.splitlines() == [
        f"Mismatches in :{index}",
        f"  Index offset: {offset ^ 1}, log offset: {offset}",
    ]


def test_a_wrong_timestamp_and_an_offset_inside_a_batch_are_distinguished(
    copied: Path, run: Run
) -> None:
    index = copied / CODEC_NONE / f"{SEGMENT}.timeindex"
    _, timestamp, _, offset = run("dump", index).out.splitlines()[1].split()
    flip(index, 7)
    answer = run("dump", index).err.splitlines()
    assert answer[:2] == [
        f"Found timestamp mismatch in :{index}",
        f"  Index timestamp: {int(timestamp) ^ 1}, log timestamp: {timestamp}",
    ]
    flip(index, 7)
    flip(index, 11)
    if int(offset) % 2 == 0:
        pytest.fail(f"offset {offset}: the flipped one would lie after its batch")
    assert run("dump", index).err.splitlines() == [
        f"The following indexed offsets are not found in :{index}",
        f"Indexed offset: {int(offset) ^ 1}, found log offset: {offset}",
    ]
