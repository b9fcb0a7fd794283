"""An error about damage says which option of Spark reads on, and that option does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import cluster, data_batch, replica
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record
from spark_datasource.errors import KafkaLogSourceError
from spark_datasource.source import KafkaLogDataSource
from tests.salvage.test_intact_copies import LONG, flipped

if TYPE_CHECKING:
    from pathlib import Path


def offsets(path: Path, **options: Any) -> list[int]:
    source = KafkaLogDataSource({"path": str(path), **options})
    reader = source.reader(source.schema())
    return [
        offset
        for task in reader.partitions()
        for rows in reader.read(task)
        for offset in rows["offset"].to_pylist()
    ]


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(KafkaLogSourceError, match=r"CORRUPT_LOG|LIMIT_REACHED") as caught:
        offsets(path, **options)
    return str(caught.value)


def copies(root: Path, *brokers: int) -> Path:
    cluster(root, dict.fromkeys(brokers, replica(LONG, high_watermark=15)))
    flipped(root, brokers[0])
    return root


def test_the_broker_with_an_intact_copy_is_an_option(tmp_path: Path) -> None:
    message = refused(copies(tmp_path, 1, 2), replica="broker:1")
    assert "An intact copy of t-0 is on broker 2: replica=broker:2 reads it. Mode PERM" in message
    (replica_,) = re.findall(r"replica=(\S+)", message)
    assert offsets(tmp_path, replica=replica_) == [*range(15)]


def test_damage_without_another_copy_can_be_left_out(tmp_path: Path) -> None:
    message = refused(copies(tmp_path, 1))
    assert message.endswith(". Mode PERMISSIVE leaves out what is damaged")
    assert "copy" not in message
    assert offsets(tmp_path, mode="PERMISSIVE") == [*range(5, 15)]


def test_a_copy_that_no_broker_id_selects_is_a_path(tmp_path: Path) -> None:
    copies(tmp_path, 1)
    for name in ("backup", "older"):
        cluster(tmp_path / name, {2: replica(LONG, high_watermark=15)})
    (path,) = re.findall(r": load (\S+/t-0)\.", refused(tmp_path, replica="broker:1"))
    assert offsets(path) == [*range(15)]


def test_other_tables_have_no_option_for_copies(tmp_path: Path) -> None:
    """A checkpoint that cannot be parsed stops this one."""
    root = copies(tmp_path, 1, 2) / "broker-1"
    (root / "t-0" / "leader-epoch-checkpoint").write_text("x")
    message = refused(tmp_path, table="leader_epochs")
    assert message.endswith(". Mode PERMISSIVE leaves out what is damaged")
    assert "intact" not in message


def test_a_limit_names_the_option_that_raises_it(tmp_path: Path) -> None:
    values = [Record(offset_delta=0, value=bytes(5000))]
    cluster(tmp_path, {1: replica([data_batch(0, values, codec=Codec.GZIP)], high_watermark=1)})
    message = refused(tmp_path, maxBatchBytes="4k")
    (option,) = re.findall(r"Option (\w+) raises it$", message)
    assert offsets(tmp_path, **{option: "1m"}) == [0]
