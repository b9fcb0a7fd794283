"""``kafkalog verify`` on captures of real brokers, sound and with one bit flipped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafkalog_reader.cli.verify import verify_command

CAPTURES = Path(__file__).parent.parent.parent / "fixtures" / "captures"
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
