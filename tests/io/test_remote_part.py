"""Remote parts and replicas: which belong together, and what audits see."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from fixtures import captures
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from fixtures.object_store.server import S3Server

CAPTURE = captures.path("tiered/copied")
TIERED = ReadRequest(topics=frozenset({"tiered"}))
TIER = CAPTURE / "tier"
FOLDER = next(TIER.glob("*/*"))


def joined(*paths: Path | str, request: ReadRequest = TIERED) -> list[tuple[str | None, int]]:
    """State and number of remote folders of each directory that is read."""
    evidence = with_remote(discover([str(path) for path in paths]))
    return [
        (each.state, len(each.remote))
        for _, replicas in evidence.topic_partitions(request)
        for each in replicas
    ]


def test_each_replica_has_the_remote_part() -> None:
    assert joined(CAPTURE) == [(None, 1), (None, 1)]
    assert joined(CAPTURE, request=ReadRequest(topics=frozenset({"other"}))) == []


def test_without_a_replica_it_stands_alone() -> None:
    assert joined(TIER) == [("remote", 0)]


def test_two_folders_of_one_partition_are_read_together(tmp_path: Path) -> None:
    """Aiven's plugin can store segments under several prefixes."""
    for prefix in ("one", "two"):
        shutil.copytree(FOLDER, tmp_path / prefix / FOLDER.name)
    assert joined(tmp_path) == [("remote", 1)]
    assert joined(CAPTURE / "broker-0", tmp_path) == [(None, 2)]


def test_one_that_is_reached_twice_counts_once() -> None:
    assert joined(CAPTURE / "broker-0", TIER, FOLDER) == [(None, 1)]


def test_a_selected_broker_has_it_but_it_is_of_no_broker() -> None:
    request = ReadRequest(topics=frozenset({"tiered"}), brokers=frozenset({1}))
    assert joined(CAPTURE, request=request) == [(None, 1)]
    assert joined(TIER, request=request) == []


def test_a_replica_without_topic_id_is_joined_by_name(tmp_path: Path) -> None:
    shutil.copytree(CAPTURE / "broker-0", tmp_path / "broker-0")
    (tmp_path / "broker-0" / "tiered-0" / "partition.metadata").unlink()
    assert joined(tmp_path, TIER) == [(None, 1)]


def test_a_part_of_another_topic_id_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(FOLDER, tmp_path / f"tiered-0-{'A' * 22}")
    assert joined(CAPTURE / "broker-0", TIER, tmp_path) == [(None, 1)]
    assert f"{'A' * 22}, which no supplied replica has" in caplog.text


def test_audits_see_replicas_only() -> None:
    evidence = discover([str(CAPTURE)])
    found = [(each.topic, each.state) for each in evidence.partition_directories(TIERED)]
    assert found == [("tiered", None), ("tiered", None)]
    assert with_remote(with_remote(evidence)) == with_remote(evidence)
    assert with_remote(discover([str(CAPTURE / "broker-0")])).remote == ()


def test_it_may_be_in_an_object_store(s3: S3Server, credentials: None) -> None:
    import kafkalog_reader

    s3.upload(TIER, "tier")
    paths = (str(CAPTURE / "broker-0"), s3.uri("tier"))
    for path in (*paths[1:], s3.uri(f"tier/{FOLDER.relative_to(TIER)}")):
        table = kafkalog_reader.open(paths[0], path).table("records", topic="tiered")
        assert sorted(table.to_arrow()["offset"].to_pylist()) == list(range(50))
