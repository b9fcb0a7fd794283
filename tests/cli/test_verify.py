"""``kafkalog verify`` on captures of real brokers, sound and with one bit flipped."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures import CAPTURES
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.io.read_rate import limit_rate
from kafkalog_reader.tables import sound_pieces

if TYPE_CHECKING:
    from pathlib import Path

SEGMENT = "codec-none-0/00000000000000000024.log"


@pytest.fixture
def flipped(tmp_path: Path) -> Path:
    root = tmp_path / "broker-0"
    shutil.copytree(CAPTURES / "everything" / "stopped" / "broker-0", root)
    segment = root / SEGMENT
    content = bytearray(segment.read_bytes())
    content[2000] ^= 4
    segment.write_bytes(content)
    return root


@pytest.mark.parametrize("state", ["running", "stopped", "killed"])
def test_what_a_sound_broker_left_is_sound(state: str) -> None:
    path = str(CAPTURES / "everything" / state)
    result = CliRunner().invoke(
        verify_command, [path, "--fail-on", "medium"], standalone_mode=False
    )
    assert result.output.startswith("sound: "), result.output
    assert result.return_value == 0


def test_a_flipped_bit_is_the_first_and_only_headline(flipped: Path) -> None:
    result = CliRunner().invoke(
        verify_command, [str(flipped), "--topic", "codec-none"], standalone_mode=False
    )
    assert result.output.startswith("damaged: 1 critical in 1 partition"), result.output
    assert "KL-101  CRITICAL  codec-none-0 on broker 0" in result.output
    assert result.return_value == 1


def test_json_has_one_finding_a_line_with_its_cause(flipped: Path) -> None:
    result = CliRunner().invoke(verify_command, [str(flipped), "--format", "json"])
    rows = [json.loads(line) for line in result.output.splitlines()]
    (cause,) = (row for row in rows if row["code"] == "KL-101")
    (effect,) = (row for row in rows if row["code"] == "KL-413")
    assert (cause["file"], cause["position"]) == (SEGMENT, 1351)
    assert effect["causedBy"] == f"KL-101 {SEGMENT} 1351"


def test_two_threads_find_the_same(flipped: Path) -> None:
    one = CliRunner().invoke(verify_command, [str(flipped), "--format", "json"])
    two = CliRunner().invoke(verify_command, [str(flipped), "--format", "json", "--threads", "2"])
    assert one.output == two.output


@pytest.mark.parametrize("capture", sorted(path.name for path in CAPTURES.iterdir()))
def test_threads_that_share_segments_find_the_same(
    capture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [str(CAPTURES / capture), "--format", "json"]
    one = CliRunner().invoke(verify_command, arguments)
    monkeypatch.setattr(sound_pieces, "_SMALLEST_WINDOW", 2000)
    monkeypatch.setattr(sound_pieces, "_LARGEST_WINDOW", 2000)
    monkeypatch.setattr(sound_pieces, "_ALONE", 5000)
    three = CliRunner().invoke(verify_command, [*arguments, "--threads", "3"])
    assert (three.exit_code, three.output) == (one.exit_code, one.output)


def test_the_flipped_bit_is_named(flipped: Path) -> None:
    result = CliRunner().invoke(verify_command, [str(flipped), "--format", "json"])
    rows = [json.loads(line) for line in result.output.splitlines()]
    (found,) = (row for row in rows if row["code"] == "KL-101")
    evidence = {each["name"]: each["value"] for each in found["evidence"]}
    assert (evidence["flippedByte"], evidence["flippedBit"]) == ("2000", "2")
    assert "one flipped bit of the batch explains it: byte 2,000 bit 2" in found["message"]


def test_a_bit_of_the_checksum_itself_is_told_apart(flipped: Path) -> None:
    segment = flipped / SEGMENT
    content = bytearray(segment.read_bytes())
    content[2000] ^= 4  # as it was
    content[1351 + 17] ^= 0x80
    segment.write_bytes(content)
    result = CliRunner().invoke(verify_command, [str(flipped), "--topic", "codec-none"])
    assert "of the CRC field itself" in " ".join(result.output.split())
    assert "byte 1,368 bit 7" in " ".join(result.output.split())


def test_two_flipped_bits_name_none(flipped: Path) -> None:
    segment = flipped / SEGMENT
    content = bytearray(segment.read_bytes())
    content[2001] ^= 16
    segment.write_bytes(content)
    result = CliRunner().invoke(verify_command, [str(flipped), "--topic", "codec-none"])
    assert "KL-101" in result.output
    assert "explains it" not in result.output


def test_a_range_of_time_leaves_out_what_lies_before_it(flipped: Path) -> None:
    def status(*options: str) -> int:
        result = CliRunner().invoke(
            verify_command, [str(flipped), "--topic", "codec-none", *options], standalone_mode=False
        )
        assert isinstance(result.return_value, int), result.output
        return result.return_value

    assert status("--from-time", "2020-01-01") == 1
    assert status("--from-time", "2100-01-01") == 0  # the damaged segment ends before
    assert status("--to-time", "2020-01-01") == 0  # and begins behind


def test_deep_and_a_rate_are_taken(flipped: Path) -> None:
    result = CliRunner().invoke(
        verify_command,
        [str(flipped), "--topic", "timestamps", "--deep", "--max-rate", "1g", "--verbose"],
        standalone_mode=False,
    )
    limit_rate(None)  # it holds for the whole process
    assert result.return_value == 0, result.output
    assert "KL-113" in result.output


def test_many_findings_are_counted_by_code(tmp_path: Path) -> None:
    root = tmp_path / "broker-0"
    shutil.copytree(CAPTURES / "everything" / "stopped" / "broker-0", root)
    for index in root.glob("*/*.timeindex"):
        index.unlink()
    result = CliRunner().invoke(verify_command, [str(root)])
    lines = result.output.splitlines()
    count = len(list(root.glob("[!_]*/*.log"))) + len(list(root.glob("__[!c]*/*.log")))
    count += len(list(root.glob("__consumer*/*.log")))
    assert lines[-1].split()[:3] == ["KL-201", "LOW", str(count)]
    assert lines[-1].endswith("index-missing")
    assert max(map(len, lines)) <= 80


def test_the_first_line_says_what_was_looked_at(flipped: Path) -> None:
    def first(*options: str) -> str:
        result = CliRunner().invoke(
            verify_command, [str(flipped), "--topic", "codec-lz4", *options]
        )
        return " ".join(result.output.split())

    assert "every CRC checked)" in first()
    assert "every CRC checked, every record decoded)" in first("--deep")
    assert "every CRC checked in that range of time)" in first("--to-time", "2020-01-01")


def test_a_time_that_is_none_is_refused_by_name(flipped: Path) -> None:
    result = CliRunner().invoke(
        verify_command, [str(flipped), "--from-time", "yesterday"], standalone_mode=False
    )
    assert "yesterday" in str(result.exception)
