"""KL-419: two log files of a copy have each other's names. The states are built."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.audits.integrity.finding import finding
from kafkalog_reader.audits.partition.misnamed_logs import MisnamedLogs
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.salvage import salvage_command
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

LOG = "a@0/e0 b@1/e0 c@2/e0 d@3/e0 e@4/e0 f@5/e0"
BATCH = 69
EXCHANGED = "KL-419"
FIRST, SECOND = f"{0:020d}.log", f"{2:020d}.log"


@pytest.fixture(params=[1, 2, 3])
def wrong(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, int]:
    """Three copies, and how many of them have the wrong names."""
    copy = replica(LOG, segment_bytes=2 * BATCH, recovery_point=6, high_watermark=6)
    cluster(tmp_path / "in", dict.fromkeys(range(3), copy), clean=range(3))
    for number in range(request.param):
        exchange(tmp_path / "in", number)
    return tmp_path / "in", request.param


def exchange(root: Path, number: int) -> None:
    folder = root / f"broker-{number}" / "t-0"
    (folder / FIRST).rename(folder / "waiting")
    (folder / SECOND).rename(folder / FIRST)
    (folder / "waiting").rename(folder / SECOND)


def found_in(root: Path) -> list[dict[str, Any]]:
    rows = objects(asked(verify_command, str(root), "--format", "json")[1])
    return [row for row in rows if row["severity"] in ("C", "H")]


def test_the_files_are_the_only_finding(wrong: tuple[Path, int]) -> None:
    root, copies = wrong
    found = found_in(root)
    assert [(row["code"], row["brokerId"]) for row in found] == [
        (EXCHANGED, number) for number in range(copies)
    ]
    assert f"{FIRST} and {SECOND} have each other's names" in found[0]["message"]


@pytest.mark.parametrize("command", [verify_command, replica_diff, plan_command])
def test_every_command_prints_the_renames_which_settle_it(
    wrong: tuple[Path, int], command: Any
) -> None:
    two, copies = wrong
    status, text = asked(command, str(two))
    assert status == 1
    joined = text.replace(" \\\n", " ")
    moves = [line.split() for line in joined.splitlines() if line.strip().startswith("mv ")]
    assert len(moves) == 3 * copies
    for move in moves:
        subprocess.run(shlex.split(" ".join(move)), check=True)
    assert found_in(two) == []
    assert asked(plan_command, str(two))[0] == 0


def test_the_renames_are_the_only_steps(wrong: tuple[Path, int]) -> None:
    root, copies = wrong
    status, text = asked(plan_command, str(root))
    assert status == 1
    assert " ".join(text.split()).startswith(
        f"First give log files the names of their segments ({EXCHANGED}) and make this plan again. "
        "Before that, start no broker."
    )
    assert "index" not in text  # moved aside, they would be of no use
    plan = objects(asked(plan_command, str(root), "--format", "json")[1])[0]
    assert (plan["unanswered"], plan["findings"]) == ([], [])
    assert [(step["kind"], step["brokers"], len(step["commands"])) for step in plan["steps"]] == [
        ("putFilesRight", [number], 3) for number in range(copies)
    ]
    script = asked(plan_command, str(root), "--format", "script")[1]
    assert script.count("go_on 'Is that done?'") == copies
    assert script.count(f"     mv {root}") == 3 * copies


@pytest.mark.parametrize("options", [(), ("--as-segments",), ("--as-segments", "--merge")])
def test_salvage_keeps_every_record(
    wrong: tuple[Path, int], tmp_path: Path, options: tuple[str, ...]
) -> None:
    status, text = asked(
        salvage_command, str(wrong[0]), *options, "--output", str(tmp_path / "out")
    )
    assert status == 0
    assert text.startswith("t-0: 6 records, offsets 0 to 5\n")
    assert "lost" not in text
    assert "doubtful" not in text


def test_what_does_not_depend_on_the_names_stays() -> None:
    root = LogDirectory(path="/disk", broker_id=1)
    here, other = (
        PartitionDirectory(path=f"/disk/{name}", log_directory=root, topic="t", partition=0)
        for name in ("t-0", "other/t-0")
    )
    logs = MisnamedLogs(directory=here, exchanged={0: 2, 2: 0})
    assert not logs.explains(finding("KL-101", "a checksum", directory=here))
    assert not logs.explains(finding("KL-402", "an overlap", directory=other))
    assert logs.explains(finding("KL-402", "an overlap", directory=here))
    assert logs.explains(finding("KL-205", "an index", directory=here))
    assert logs.explains(finding("KL-503", "a fork"))


def test_of_many_files_the_first_are_named() -> None:
    folder = PartitionDirectory(
        path="/disk/t-0", log_directory=LogDirectory(path="/disk"), topic="t", partition=0
    )
    held = {0: 10, 10: 20, 20: 30, 30: 0}
    text = MisnamedLogs(directory=folder, exchanged=held).text
    assert text.startswith("4 log files have each other's names: ")
    assert f"{20:020d}.log holds the segment that begins at 30, and so on for 1 more" in text
