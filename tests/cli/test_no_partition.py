"""A log directory without a partition is never called sound, and its problems are found."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import FOUND, TROUBLE, status

if TYPE_CHECKING:
    from pathlib import Path

    import click

BROKER = captures.path("s3_2/healed/broker-0")
COMMANDS = (
    pytest.param(kafkalog, ("verify",), id="verify"), pytest.param(replica_diff, (), id="diff"),
)  # fmt: skip


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_a_log_directory_of_a_new_broker_is_not_an_answer(
    command: click.Command, words: tuple[str, ...], tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    shutil.copy(BROKER / "meta.properties", tmp_path)
    assert status(command, [*words, str(tmp_path)]) == TROUBLE
    out, err = capfd.readouterr()
    assert "sound" not in out
    assert "no partition in the given paths" in err


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_the_only_partition_folder_is_gone(
    command: click.Command, words: tuple[str, ...], tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for file in BROKER.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    assert status(command, [*words, str(tmp_path)]) == FOUND
    out, err = capfd.readouterr()
    assert "KL-310" in out
    assert "error" not in err


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_a_folder_that_is_gone_is_found_too_where_only_its_topic_is_requested(
    command: click.Command, words: tuple[str, ...], tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    both = [replica("a@0/e0", partition=partition, high_watermark=1) for partition in (0, 1)]
    roots = cluster(tmp_path, {0: both, 1: both})
    shutil.rmtree(roots[1] / "t-0")
    assert status(command, [*words, str(tmp_path), "--topic", "t"]) == FOUND
    assert "KL-310" in capfd.readouterr().out
