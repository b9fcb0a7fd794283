"""KL-525 where no log directory of a KRaft cluster has the metadata log.

A 4.3.1 cluster in that state started with an empty log, and renamed every replica to ``-stray``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fixtures.builder import cluster, replica
from fixtures.builder.metadata_log import metadata_log
from kafkalog_reader.audits.partition.metadata_absent import metadata_absent_findings
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

    import click

    from kafkalog_reader.audits.integrity.finding import Finding

LOG, SHORT = "a@0/e0 b@1/e0", "a@0/e0"


def write(
    root: Path,
    logs: tuple[str, ...] = (LOG, LOG),
    *,
    is_whole: bool = True,
    sign: str = "bootstrap.checkpoint",
) -> Path:
    """Write brokers without a metadata log; the sign shows that a node used the directory."""
    for path in cluster(root, {n: replica(log) for n, log in enumerate(logs, 1)}).values():
        if is_whole:
            (path / sign).write_bytes(b"")
    return root


def found_in(*paths: Path, request: ReadRequest | None = None) -> list[Finding]:
    evidence = discover([str(path) for path in paths])
    return list(metadata_absent_findings(evidence, request or ReadRequest()))


@pytest.mark.parametrize("sign", ["bootstrap.checkpoint", ".lock"])
def test_whole_log_directories_without_the_metadata_log_are_critical(
    tmp_path: Path, sign: str
) -> None:
    """Release 4.4 writes no bootstrap.checkpoint."""
    (found,) = found_in(write(tmp_path, sign=sign))
    assert (found.code, found.severity, found.confidence) == ("KL-525", "C", "possible")
    assert "brokers 1 and 2 have no __cluster_metadata-0" in found.message


def test_of_one_node_it_is_not_critical(tmp_path: Path) -> None:
    """Another of its directories, or a controller, may have the log."""
    (found,) = found_in(write(tmp_path) / "broker-1")
    assert found.severity == "M"


def test_copies_of_folders_are_no_whole_directories(tmp_path: Path) -> None:
    assert found_in(write(tmp_path, is_whole=False)) == []
    write(tmp_path)
    assert found_in(tmp_path / "broker-1" / "t-0", tmp_path / "broker-2") == []


def test_one_directory_with_the_log_is_enough(tmp_path: Path) -> None:
    write(tmp_path)
    cluster(tmp_path, {3: metadata_log([])})
    assert found_in(tmp_path) == []


def test_a_cluster_with_zookeeper_has_none(tmp_path: Path) -> None:
    write(tmp_path)
    for path in tmp_path.glob("*/meta.properties"):
        path.write_text(path.read_text().replace("version=1", "version=0"))
    assert found_in(tmp_path) == []


def test_the_place_has_a_requested_partition(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "broker-1" / "t-0").rename(tmp_path / "broker-1" / "u-0")
    (found,) = found_in(tmp_path, request=ReadRequest(topics=frozenset({"t"})))
    assert found.directory is not None
    assert found.directory.log_directory.broker_id == 2


def words(command: click.Command, *paths: Path) -> tuple[int, str]:
    result = CliRunner().invoke(command, [str(path) for path in paths], standalone_mode=False)
    return result.return_value, " ".join(result.stdout.split())


@pytest.mark.parametrize("logs", [(LOG, SHORT), (LOG, LOG)])
def test_every_command_says_so(logs: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path, logs)
    for command in (verify_command, plan_command, replica_diff):
        ended, out = words(command, tmp_path)
        assert ended == 1
        assert "KL-525 CRITICAL" in out
        assert "if it is lost, start nothing" in out
    _, planned = words(plan_command, tmp_path)
    assert planned.startswith("Start no node before you have the metadata log: none was supplied")


def test_the_plan_of_copied_folders_begins_with_the_metadata_log(tmp_path: Path) -> None:
    _, out = words(plan_command, write(tmp_path, (LOG, SHORT), is_whole=False))
    assert "KL-525" not in out
    assert "safe whatever they are, if a controller has that log" in out
    assert "First supply the metadata log, or check that metadata.log.dir" in out
    _, alone = words(plan_command, tmp_path / "broker-1")
    assert "If the controllers have lost the metadata log" in alone
