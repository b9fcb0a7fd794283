"""KL-119: one bit of a base offset is flipped, and the batches around it prove it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked, objects
from tests.tables.test_offset_order import move

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0 e@4/e0 f@5/e0 g@6/e0 h@7/e0"
BATCH = 69
FLIPPED = "KL-119"
PLACES = pytest.mark.parametrize(
    ("segment", "batch", "due"), [(0, 0, 0), (0, 2, 2), (0, 3, 3), (1, 0, 4), (1, 2, 6)]
)


def build(root: Path, log: str = LOG, *, copies: int = 1, is_clean: bool = True) -> Path:
    copy = replica(log, segment_bytes=4 * BATCH, recovery_point=8, high_watermark=8)
    cluster(root, dict.fromkeys(range(copies), copy), clean=range(copies if is_clean else 0))
    return root


def logs(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.glob("broker-*/*/*.log")}


def found_in(root: Path) -> list[dict[str, Any]]:
    rows = objects(asked(verify_command, str(root), "--format", "json")[1])
    return [row for row in rows if row["severity"] in ("C", "H")]


def codes(root: Path) -> list[str]:
    return [row["code"] for row in found_in(root)]


@PLACES
@pytest.mark.parametrize("bit", [0, 3, 31, 59])
@pytest.mark.parametrize("is_clean", [True, False])
def test_it_is_the_only_finding(
    segment: int, batch: int, due: int, bit: int, is_clean: bool, tmp_path: Path
) -> None:
    root = build(tmp_path / "in", is_clean=is_clean)
    move(root, batch, due ^ 1 << bit, segment)
    (found,) = found_in(root)
    assert (found["code"], found["position"]) == (FLIPPED, batch * BATCH)
    assert (found["firstOffset"], found["nextOffset"]) == (due, due + 1)


def test_the_sign_is_a_bit_like_others(tmp_path: Path) -> None:
    root = build(tmp_path / "in")
    move(root, 2, 2 - 2**63)
    assert codes(root) == [FLIPPED]


@pytest.mark.parametrize("command", [verify_command, replica_diff, plan_command])
@pytest.mark.parametrize("copies", [1, 3])
def test_every_command_prints_what_settles_it(command: Any, copies: int, tmp_path: Path) -> None:
    root = build(tmp_path / "in", copies=copies)
    sound = logs(root)
    for number in range(copies):
        move(root / f"broker-{number}", 2, 2 ^ 1 << 40)
    assert logs(root) != sound
    status, text = asked(command, str(root))
    assert status == 1
    joined = text.replace(" \\\n", " ")
    for line in map(str.strip, joined.splitlines()):
        if line.startswith(("mkdir ", "cp ", "printf ")):
            subprocess.run(["bash", "-c", " ".join(line.split())], check=True, capture_output=True)
    assert logs(root) == sound
    assert codes(root) == []
    assert asked(plan_command, str(root))[0] == 0


def test_two_batches_of_one_copy_are_put_right_together(tmp_path: Path) -> None:
    root = build(tmp_path / "in")
    move(root, 1, 1 ^ 1 << 20)
    move(root, 2, 6 ^ 1 << 33, segment=1)
    (plan,) = objects(asked(plan_command, str(root), "--format", "json")[1])
    (step,) = plan["steps"]
    assert (step["kind"], step["brokers"]) == ("putFilesRight", [0])
    assert [each for each in step["commands"] if each.startswith("printf")] == [
        rf"printf '\000' | dd of={log} bs=1 seek={position} conv=notrunc"
        for log, position in zip(sorted(logs(root)), (BATCH + 5, 2 * BATCH + 3), strict=True)
    ]


@pytest.mark.parametrize("stored", [2 ^ 5, 2 ^ (1 << 40 | 1)])
def test_two_bits_of_one_offset_are_not_proven(stored: int, tmp_path: Path) -> None:
    root = build(tmp_path / "in")
    move(root, 2, stored)
    assert FLIPPED not in codes(root)
    assert "KL-110" in codes(root)
    assert asked(plan_command, str(root))[1].startswith("NO PLAN t-0: ")


def test_beside_a_fall_that_nothing_proves_there_is_no_such_finding(tmp_path: Path) -> None:
    root = build(tmp_path / "in")
    move(root, 1, 1 ^ 1 << 20)
    move(root, 2, 6 ^ 3 << 33, segment=1)
    assert FLIPPED not in codes(root)


def test_sound_copies_are_compared_with_a_flipped_one(tmp_path: Path) -> None:
    """They prove more: nothing has to be settled before the plan."""
    root = build(tmp_path / "in", copies=3)
    move(root / "broker-2", 2, 2 ^ 1 << 40)
    assert FLIPPED not in codes(root)
    assert "KL-507" in codes(root)
