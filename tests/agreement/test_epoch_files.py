"""All commands name the same broker's leader-epoch-checkpoint, and write the same rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from fixtures.synthetic import SCENARIOS
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked, objects

if TYPE_CHECKING:
    from pathlib import Path

NAMED = re.compile(r"while (broker \d) is stopped, write leader-epoch-checkpoint")
PLANNED = re.compile(r"On (broker \d), while it is stopped, write leader-epoch-checkpoint")
WRITTEN = re.compile(r"printf '%s\\n' (.*?) >", re.DOTALL)


def test_the_lost_file_of_the_leader_is_written_by_all(tmp_path: Path) -> None:
    """M3: the file of broker 0 was lost; that of broker 1 is right."""
    path = str(SCENARIOS["m3"].write(tmp_path))
    _, verified = asked(verify_command, path)
    _, compared = asked(replica_diff, path)
    _, planned = asked(plan_command, path)
    assert set(NAMED.findall(" ".join(verified.split()))) == {"broker 0"}
    assert NAMED.findall(" ".join(compared.split())) == ["broker 0"]
    assert PLANNED.findall(planned) == ["broker 0"]
    for text in (verified, compared, planned):
        assert [rows for rows in WRITTEN.findall(text) if "topic" not in rows] == [
            "0 2 '2 0' '4 1'"
        ]


def test_no_copy_is_replaced_that_truncates_once_the_file_is_right(tmp_path: Path) -> None:
    """Real brokers ended with equal logs after this plan: state ``misled`` of its oracle."""
    path = str(SCENARIOS["m3"].write(tmp_path))
    (plan,) = objects(asked(plan_command, path, "--format", "json")[1])
    kinds = {step["kind"] for step in plan["steps"]}
    assert "writeFile" in kinds
    assert kinds.isdisjoint({"removeReplicas", "addReplicas", "moveAside"})


def test_a_broker_that_starts_first_only_gets_the_file_that_it_needs(tmp_path: Path) -> None:
    """Broker 0 has the file of another partition in t-0, and it alone has the end of u-0."""
    log = "0-9/e0 10-19/e0"
    short = replica("0-9/e0", topic="u", high_watermark=10, recovery_point=10)
    cluster(
        tmp_path,
        {
            0: [
                replica(log, epochs="0:0 3:10", high_watermark=20, recovery_point=20),
                replica(log, topic="u", high_watermark=20, recovery_point=20),
            ],
            1: [replica(log, high_watermark=20, recovery_point=20), short],
            2: [replica(log, high_watermark=20, recovery_point=20), short],
        },
        clean=(0, 1, 2),
    )
    (plan,) = objects(asked(plan_command, str(tmp_path), "--format", "json")[1])
    kinds = [step["kind"] for step in plan["steps"]]
    assert kinds.count("writeFile") == 1
    assert "replaceCopy" not in kinds


@pytest.mark.parametrize("epochs", ["0:7 3:10", "3:17"])
def test_a_file_that_may_show_the_newer_log_start_is_not_written(
    epochs: str, tmp_path: Path
) -> None:
    """DeleteRecords truncates the epochs at once, and the log start is flushed each minute."""
    log = replica("0-9/e0 10-29/e3", epochs=epochs, high_watermark=30)
    cluster(tmp_path, {0: log})
    _, verified = asked(verify_command, str(tmp_path))
    _, compared = asked(replica_diff, str(tmp_path), "--verbose")
    _, planned = asked(plan_command, str(tmp_path))
    start = epochs.split()[0].split(":")[1]
    assert f"the log start may have been {start}" in " ".join(verified.split())
    assert "delete them again once the brokers run" in " ".join(verified.split())
    assert not any(WRITTEN.findall(text) for text in (verified, compared, planned))


@pytest.mark.parametrize(
    ("log", "epochs", "codes"),
    [
        ("a@0/e0 b@1/e0 c@2/e1", "0:0 1:3", {"KL-407"}),
        ("a@0/e0 b@1/e0 c@2/e2", "0:0 1:3", {"KL-406"}),
        ("a@0/e0 b@1/e0 c@2/e1", "0:0 1:2 2:3", {"KL-408"}),
    ],
)
def test_an_epoch_that_has_records_is_not_called_one_without(
    log: str, epochs: str, codes: set[str], tmp_path: Path
) -> None:
    """An entry at the log end, which every start removes (LogLoader: truncateFromEnd)."""
    cluster(tmp_path, {0: replica(log, epochs=epochs, high_watermark=3)})
    _, found = asked(verify_command, str(tmp_path), "--format", "json")
    assert {row["code"] for row in objects(found)} & {"KL-406", "KL-407", "KL-408"} == codes
