"""Records below another copy's high watermark are missing, and all commands that read say so.

The states are captures whose logs lost whole batches. The high watermarks are those of the brokers.
"""

from __future__ import annotations

import logging
import re
import shutil
from typing import TYPE_CHECKING, Any, Final

import pytest

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.cli.groups import groups_command
from kafkalog_reader.cli.records import records_command
from kafkalog_reader.cli.salvage import salvage_command
from kafkalog_reader.cli.transactions import transactions_command
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.errors import MissingRecordsError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import read, request, table
from tests.agreement.commands import (
    asked,
    manifest,
    objects,
    replica_diff_json,
    replica_diff_text,
)

if TYPE_CHECKING:
    from pathlib import Path

    import click

LOG: Final = f"{0:020}.log"
ROWS: Final = "replication-offset-checkpoint"
READERS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("records", {"replica": "best"}),
    ("records", {"replica": "best", "until": "highWatermark"}),
    ("group_commits", {}),
    ("groups", {}),
    ("transactions", {}),
    ("open_transactions", {}),
)
PROVES_LOSS: Final = {"KL-304", "KL-305", "KL-524"}
"""Findings of a checkpoint above the end of one log, or of every log."""
HEADER: Final = 12


def cut(log: Path, batches: int) -> None:
    """Remove the last batches of a segment, by their own lengths."""
    content, at, starts = log.read_bytes(), 0, []
    while at < len(content):
        starts.append(at)
        at += HEADER + int.from_bytes(content[at + 8 : at + HEADER])
    log.write_bytes(content[: starts[-batches]])


def lower(path: Path, partition: str, offset: int) -> None:
    """Put another offset in the row of a partition, as in an older copy of the checkpoint."""
    topic, _, number = partition.rpartition("-")
    text = path.read_text()
    changed = re.sub(rf"(?m)^{topic} {number} \d+$", f"{topic} {number} {offset}", text)
    assert changed != text
    path.write_text(changed)


def three_brokers(root: Path) -> Path:
    """Offsets 0 to 3 were committed, and no broker kept the last one.

    Every broker shut down cleanly. Only broker 0 has the newest high watermark.
    """
    shutil.copytree(captures.path("s3_2/healed"), root)
    for broker, batches in ((0, 2), (1, 1), (2, 1)):
        cut(root / f"broker-{broker}" / "t-0" / LOG, batches)
        (root / f"broker-{broker}" / ".kafka_cleanshutdown").touch()
    for broker in (1, 2):
        lower(root / f"broker-{broker}" / ROWS, "t-0", 3)
    return root


def two_brokers(root: Path, partition: str) -> Path:
    """Two copies of a broker; both lost the last batch, and one has an older high watermark."""
    for broker in (0, 1):
        copy = root / f"broker-{broker}"
        shutil.copytree(captures.path("everything/stopped") / "broker-0", copy)
        properties = copy / "meta.properties"
        text = properties.read_text().replace("node.id=0", f"node.id={broker}")
        properties.write_text(re.sub("(?m)^directory.id=.*\n", "", text))
        cut(copy / partition / LOG, 1)
    for name in (ROWS, "recovery-point-offset-checkpoint"):
        lower(root / "broker-0" / name, partition, 1)
    return root


def warnings(path: Path, name: str, caplog: pytest.LogCaptureFixture, **options: Any) -> list[str]:
    """What a reader says about missing records."""
    caplog.clear()
    of_name = table(name)
    wanted = request(of_name, None, **{"mode": "PERMISSIVE", **options})
    with caplog.at_level(logging.WARNING):
        for _ in read(of_name, discover([str(path)]), wanted):
            pass
    return [each for each in caplog.messages if " missing:" in each]


def records(*arguments: str) -> int:
    return asked(records_command, *arguments, "--format", "csv", "--columns", "offset")[0]


def test_readers_of_the_best_copy_name_the_row_of_another_broker(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = three_brokers(tmp_path / "in")
    for options in ({}, {"until": "highWatermark"}):
        (warning,) = warnings(root, "records", caplog, replica="best", **options)
        assert warning == (
            f"{root}/broker-1/t-0/{LOG} (offset 3): offset 3 is missing: the batches here end "
            f"before offset 3, but {ROWS} of broker 0 has 4 as high watermark, and no readable "
            "copy reaches it"
        )
    assert records(str(root)) == 2
    assert records(str(root), "--mode", "PERMISSIVE") == 1
    wanted = request(table("records"), ("offset",), replica="best")
    with pytest.raises(MissingRecordsError, match="offset 3 is missing"):
        list(read(table("records"), discover([str(root)]), wanted))


def test_the_row_of_another_broker_does_not_count_where_one_is_asked_for(tmp_path: Path) -> None:
    root = str(three_brokers(tmp_path / "in"))
    assert records(root, "--replica", "broker:1") == 0
    assert records(root, "--replica", "broker:0") == 2  # its own row
    assert records(root, "--to-offset", "3") == 0
    assert records(root, "--to-offset", "4") == 2


def test_salvage_and_gaps_list_the_same_offset_as_verify(tmp_path: Path) -> None:
    root = str(three_brokers(tmp_path / "in"))
    status, text = asked(salvage_command, root, "--topic", "t", "--output", str(tmp_path / "out"))
    assert status == 1
    assert "offset 3 is lost: the checkpointed high watermark of broker 0 is 4" in text
    (salvaged,) = manifest(tmp_path / "out")["partitions"]
    (lost,) = salvaged["lostOffsets"]
    assert (lost["firstOffset"], lost["lastOffset"]) == (3, 3)
    gaps = kafkalog_reader.open(root).table("gaps", topic="t", replica="best").to_arrow()
    (gap,) = (each for each in gaps.to_pylist() if each["reason"] == "missing")
    assert (gap["firstOffset"], gap["nextOffset"]) == (3, 4)
    found = objects(asked(verify_command, root, "--format", "json")[1])
    (missing,) = (each for each in found if each["code"] == "KL-524")
    assert (missing["firstOffset"], missing["nextOffset"]) == (3, 4)


def test_salvage_of_one_broker_keeps_to_its_own_row(tmp_path: Path) -> None:
    root, out = str(three_brokers(tmp_path / "in")), tmp_path / "out"
    asked(salvage_command, root, "--topic", "t", "--replica", "broker:1", "--output", str(out))
    (salvaged,) = manifest(out)["partitions"]
    assert salvaged["lostOffsets"] == []


@pytest.mark.parametrize(
    ("partition", "command", "names"),
    [
        ("__consumer_offsets-2", groups_command, ["group_commits", "groups", "open_transactions"]),
        ("__transaction_state-1", transactions_command, ["transactions", "open_transactions"]),
    ],
)
def test_lost_ends_of_internal_topics_are_said(
    partition: str, command: click.Command, names: list[str], tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    root = two_brokers(tmp_path, partition)
    end = {"__consumer_offsets-2": 52, "__transaction_state-1": 17}[partition]
    for name in names:
        (warning,) = {*warnings(root, name, caplog)}
        assert f"/{partition}/{LOG}" in warning
        assert f"of broker 1 has {end} as high watermark" in warning
        with pytest.raises(MissingRecordsError):
            warnings(root, name, caplog, mode="FAILFAST")
    with caplog.at_level(logging.WARNING):
        assert asked(command, str(root))[0] in (0, 1)


@pytest.mark.parametrize("has_metadata", [True, False])
def test_the_row_of_a_deleted_topic_does_not_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, has_metadata: bool
) -> None:
    """Broker 1 has the deleted topic, of which 4 records were committed; it lost the last three."""
    root = shutil.copytree(captures.path("recreated/a-away"), tmp_path / "in")
    if not has_metadata:
        for path in root.glob("*/__cluster_metadata-0"):
            shutil.rmtree(path)
    cut(root / "broker-1" / "t-0" / LOG, 3)
    assert warnings(root, "records", caplog, topic="t", replica="best") == []
    of_new = (root / "broker-0" / "t-0" / "partition.metadata").read_bytes()
    (root / "broker-1" / "t-0" / "partition.metadata").write_bytes(of_new)
    (warning,) = warnings(root, "records", caplog, topic="t", replica="best")
    assert "offsets 2 to 3 are missing" in warning


@pytest.mark.parametrize("state", captures.states())
def test_readers_of_captures_warn_only_where_verify_finds_a_loss(
    state: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = captures.path(state)
    said = [each for name, options in READERS for each in warnings(path, name, caplog, **options)]
    findings = table("findings")
    lost = {
        f"/{row['topic']}-{row['partition']}"
        for batch in read(findings, discover([str(path)]), request(findings))
        for row in batch.to_pylist()
        if row["code"] in PROVES_LOSS
    }
    assert [each for each in said if not any(f"{name}/" in each for name in lost)] == []


def test_an_in_sync_copy_that_lost_its_end_does_not_say_what_was_committed(tmp_path: Path) -> None:
    """Brokers 0 and 2 are in sync. Broker 2 lost offset 3, which its high watermark of 4 covers.

    The row of broker 0 is 2, as it may be for five seconds: only broker 2 shows that offset 3 was
    committed.
    """
    root = tmp_path / "evidence"
    shutil.copytree(captures.path("s1/shrunk"), root)
    cut(root / "broker-2" / "t-0" / LOG, 1)
    lower(root / "broker-0" / ROWS, "t-0", 2)
    (document,) = replica_diff_json(str(root))
    (elected,) = (each for each in document["elections"] if each["candidate"] == "broker 2")
    assert elected["lostRecords"] == elected["lostPossiblyCommittedRecords"] == 1
    assert "may lose committed records" in replica_diff_text(str(root))
