"""A folder that was set aside is read if it is given itself, and nothing else has its partition."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.salvage.given_folders import with_given_folders
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from pathlib import Path

HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize("state", ["stray", "delete", "future"])
def test_a_folder_given_itself_is_a_replica_where_no_live_one_is(
    tmp_path: Path, state: str
) -> None:
    broker = tmp_path / "broker-1"
    shutil.copytree(captures.path("s3_2/healed") / "broker-1", broker)
    folder = (broker / "t-0").rename(broker / f"t-0.{HEX}-{state}")
    alone = with_given_folders(discover([str(folder)]))
    assert [len(found) for _, found in alone.topic_partitions(ReadRequest())] == [1]
    whole = with_given_folders(discover([str(broker)]))
    assert all(
        each.topic != "t" for each in whole.partition_directories(ReadRequest()) if each.is_replica
    )
    shutil.copytree(folder, broker / "t-0")
    both = with_given_folders(discover([str(folder), str(broker / "t-0")]))
    assert [len(found) for _, found in both.topic_partitions(ReadRequest())] == [1]
