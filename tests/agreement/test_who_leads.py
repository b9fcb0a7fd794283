"""The ranks of elections, what to do and the plan name the same leader."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status

if TYPE_CHECKING:
    from pathlib import Path

    from click import Command

STATES = [
    f"{scenario}/{state}"
    for scenario in ("s1", "s3_2", "s5_1", "s5_2")
    for state in json.loads(captures.path(f"{scenario}/expected.json").read_text())["captures"]
]


def said(command: Command, arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    status(command, arguments)
    return capfd.readouterr().out


@pytest.mark.parametrize("state", STATES)
def test_ranks_advice_and_plan_name_one_leader(
    state: str, capfd: pytest.CaptureFixture[str]
) -> None:
    root = str(captures.path(state))
    table = ["table", "elections", root, "--topic", "t", "--format", "json"]
    rows = [json.loads(line) for line in said(kafkalog, table, capfd).splitlines()]
    (first,) = {row["candidateBrokerId"] for row in rows if row["rank"] == 1}
    (choice,) = json.loads(said(kafkalog, ["plan", root, "--format", "json"], capfd))["partitions"]
    assert choice["leader"] == first
    text = " ".join(said(replica_diff, [root], capfd).split())
    for named in re.findall(r"→ (?:one of )?(brokers? [^→]*?) should lead", text):
        assert str(first) in re.findall(r"\d+", named)


def test_the_leader_of_the_metadata_log_leads_where_only_uncommitted_records_go(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """S5.1: broker 1 was elected without offset 2, which only broker 0 has and nobody committed."""
    root = str(captures.path("s5_1/b-elected"))
    document = json.loads(said(kafkalog, ["plan", root, "--format", "json"], capfd))
    assert document["startOrder"] == [[1], [0]]
    assert document["lost"]["lostRecords"] == 1
    assert document["lost"]["lostCommittedRecords"] == 0
    steps = {step["kind"]: step for step in document["steps"]}
    (save,) = steps["save"]["commands"]
    assert "--replica broker:0 --from-offset 2" in save
    assert "--election-type unclean" not in json.dumps(document["steps"])


def test_the_copy_with_a_hole_is_the_one_to_move_aside(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Offset 1 of broker 2 is cut out of s3_2/healed; the two others have it."""
    root = tmp_path / "evidence"
    shutil.copytree(captures.path("s3_2/healed"), root)
    log = root / "broker-2" / "t-0" / f"{0:020d}.log"
    content = log.read_bytes()
    log.write_bytes(content[:69] + content[138:])  # one batch of 69 bytes
    text = " ".join(said(replica_diff, [str(root)], capfd).split())
    assert "→ one of brokers 0 and 1 should lead" in text
    assert "→ while broker 2 is stopped, move the partition directory aside" in text
    assert f"mv {root}/broker-2/t-0" in text.replace("\\ ", "")
    assert f"mv {root}/broker-1/t-0" not in text.replace("\\ ", "")
    planned = said(kafkalog, ["plan", str(root), "--elect", "t-0=2", "--format", "json"], capfd)
    assert json.loads(planned)["lost"]["lostCommittedRecords"] == 1
