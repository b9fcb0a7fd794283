"""In Python, an error about damage says how to read on, and that works."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from kafkalog_reader.errors import CorruptRecordError, LocatedError, MissingRecordsError
from tests.salvage.test_intact_copies import LONG, flipped

if TYPE_CHECKING:
    from pathlib import Path

AROUND = ". Mode PERMISSIVE leaves out what is damaged"


def copies(root: Path, *brokers: int) -> Path:
    """Equal copies; the one of the first broker has a flipped bit."""
    cluster(root, dict.fromkeys(brokers, replica(LONG, high_watermark=15)))
    flipped(root, brokers[0])
    return root


def offsets(root: Path | str, **options: Any) -> list[int]:
    rows = kafkalog_reader.open(root).records(["offset"], **options).to_arrow()
    found: list[int] = rows["offset"].to_pylist()
    return found


def refused(root: Path, **options: Any) -> str:
    with pytest.raises(LocatedError) as caught:
        offsets(root, **options)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert str(copied) == str(caught.value)
    return str(copied)


def test_the_broker_with_an_intact_copy_is_an_option(tmp_path: Path) -> None:
    message = refused(copies(tmp_path, 1, 2), replica="broker:1")
    assert message.endswith(
        f". An intact copy of t-0 is on broker 2: replica=broker:2 reads it{AROUND}"
    )
    assert offsets(tmp_path, replica="broker:2") == [*range(15)]


def test_where_a_broker_was_selected_the_other_one_is(tmp_path: Path) -> None:
    message = refused(copies(tmp_path, 1, 2), broker=1)
    assert f"is on broker 2: broker=2 reads it{AROUND}" in message
    assert offsets(tmp_path, broker=2) == [*range(15)]


def test_a_copy_that_no_broker_id_selects_is_a_path(tmp_path: Path) -> None:
    copies(tmp_path, 1)
    for name in ("backup", "older"):
        cluster(tmp_path / name, {2: replica(LONG, high_watermark=15)})
    (path,) = re.findall(r": open (\S+/t-0)\.", refused(tmp_path, replica="broker:1"))
    assert offsets(path) == [*range(15)]


def test_damage_without_another_copy_can_be_left_out(tmp_path: Path) -> None:
    message = refused(copies(tmp_path, 1))
    assert message.endswith(AROUND)
    assert "copy" not in message
    assert offsets(tmp_path, mode="PERMISSIVE") == [*range(5, 15)]


def test_missing_records_name_the_copy_that_has_them(tmp_path: Path) -> None:
    short = replica("0-4/e0 5-9/e0", high_watermark=15)
    cluster(tmp_path, {1: short, 2: replica(LONG, high_watermark=15)}, clean=[1, 2])
    with pytest.raises(MissingRecordsError) as caught:
        offsets(tmp_path, replica="broker:1")
    assert str(caught.value).endswith(
        ". An intact copy of t-0 is on broker 2: replica=broker:2 reads it. "
        "Mode PERMISSIVE reads the rest"
    )


def test_a_shorter_copy_is_said_to_be_short(tmp_path: Path) -> None:
    short = replica("0-4/e0 5-9/e0", high_watermark=10)
    cluster(tmp_path, {1: replica(LONG, high_watermark=10), 2: short})
    flipped(tmp_path, 1)
    assert (
        "is on broker 2, but ends at offset 9, before others: replica=broker:2 reads it"
        in refused(tmp_path, replica="broker:1")
    )


def test_queries_and_tasks_say_it_too(tmp_path: Path) -> None:
    log = kafkalog_reader.open(copies(tmp_path, 1, 2))
    scan = log.table("records", broker=1)
    with pytest.raises(duckdb.Error, match=f"broker=2 reads it{AROUND}"):
        duckdb.execute('select sum("offset") from scan').fetchall()
    (task,) = scan.plan()
    with pytest.raises(CorruptRecordError, match=f"{AROUND}$"):
        task.to_arrow()


def test_other_tables_have_no_option_for_copies(tmp_path: Path) -> None:
    root = copies(tmp_path, 1, 2) / "broker-1"
    (root / "t-0" / "leader-epoch-checkpoint").write_text("x")
    with pytest.raises(LocatedError, match=f"{AROUND}$") as caught:
        kafkalog_reader.open(tmp_path).table("leader_epochs").to_arrow()
    assert "intact" not in str(caught.value)
