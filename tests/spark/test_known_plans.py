"""A plan is used again until a file changes."""

from __future__ import annotations

import os
import shutil
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.io.discovery import discover_arguments
from spark_datasource import known_plans
from spark_datasource import reader as reader_module
from spark_datasource.known_plans import KnownPlans, Planned
from spark_datasource.source import KafkaLogDataSource
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql.datasource import InputPartition

SETTLED = 0.03
LOG = f"{0:020}.log"


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """Two brokers: the copy of orders-0 on broker 1 is longer; orders-1 is on broker 0 alone."""
    root = tmp_path / "evidence"
    cluster(
        root,
        {
            0: [
                replica("0-3/e0 4-5/e0", topic="orders", high_watermark=4),
                replica("0-4/e0", topic="orders", partition=1, high_watermark=4),
            ],
            1: [replica("0-3/e0 4-5/e0 6-9/e0", topic="orders", high_watermark=4)],
        },
    )
    time.sleep(2 * SETTLED)
    return root


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Known plans of this test alone; the list grows by one whenever a plan is made."""
    made: list[str] = []

    def counted(*arguments: object) -> object:
        made.append("made")
        return discover_arguments(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(reader_module, "discover_arguments", counted)
    monkeypatch.setattr(
        reader_module, "_known_plans", KnownPlans(settled_ns=int(SETTLED * 1_000_000_000))
    )
    return made


def planned(evidence: Path, **options: str) -> list[InputPartition]:
    source = KafkaLogDataSource({"path": str(evidence), **options})
    return list(source.reader(source.schema()).partitions())


def planned_afresh(evidence: Path, monkeypatch: pytest.MonkeyPatch) -> list[InputPartition]:
    with monkeypatch.context() as patch:
        patch.setattr(reader_module, "_known_plans", KnownPlans())
        return planned(evidence)


def test_the_same_query_is_planned_once(evidence: Path, plans: list[str]) -> None:
    first = planned(evidence)
    assert planned(evidence) == first
    assert planned(evidence, columns="offset") == first  # what is decoded is no part of the plan
    assert plans == ["made"]


@pytest.mark.parametrize(
    "options",
    [
        {"subscribe": "orders"},
        {"minPartitions": "2"},
        {"endingOffsets": '{"orders": {"0": 3, "1": 2}}'},
        {"table": "batches"},
        {"until": "highWatermark"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_another_question_is_planned(
    evidence: Path, plans: list[str], options: dict[str, str]
) -> None:
    planned(evidence)
    planned(evidence, **options)
    assert plans == ["made", "made"]
    planned(evidence, **options)
    assert plans == ["made", "made"]


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


CHANGES: dict[str, Callable[[Path], object]] = {
    "appended": lambda root: append(root / "broker-0/orders-0" / LOG, batch(6, 10, leader_epoch=0)),
    "truncated": lambda root: os.truncate(root / "broker-1/orders-0" / LOG, 70),
    "replaced": lambda root: shutil.copy(
        root / "broker-0/orders-1" / LOG, root / "broker-1/orders-0" / LOG
    ),
    "new segment": lambda root: write_segment(
        root / "broker-1/orders-0", [batch(10, leader_epoch=0)], base_offset=10
    ),
    "new partition": lambda root: write_segment(root / "broker-1/orders-2", [batch(0)]),
    "deleted partition": lambda root: shutil.rmtree(root / "broker-1/orders-0"),
    "deleted broker": lambda root: shutil.rmtree(root / "broker-1"),
    "log start": lambda root: (root / "broker-1/log-start-offset-checkpoint").write_text(
        "0\n1\norders 0 2\n"
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_files_ends_a_plan(
    evidence: Path, plans: list[str], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = planned(evidence)
    CHANGES[change](evidence)
    after = planned(evidence)
    assert after != before
    assert after == planned_afresh(evidence, monkeypatch)
    assert len(plans) == 3


def test_a_path_that_a_pattern_matches_later_is_seen(evidence: Path, plans: list[str]) -> None:
    before = planned(evidence / "broker-*")
    shutil.copytree(evidence / "broker-0/orders-1", evidence / "broker-2/orders-7")
    assert len(str(planned(evidence / "broker-*"))) > len(str(before))


def test_files_that_just_changed_are_planned_each_time(
    evidence: Path, plans: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "_known_plans", KnownPlans())  # wants two quiet seconds
    planned(evidence)
    planned(evidence)
    assert plans == ["made", "made"]


@pytest.mark.parametrize(
    ("known", "settled_ns"), [(KnownPlans(), 2_000_000_000), (KnownPlans(settled_ns=7), 7)]
)
def test_files_settle_after_two_seconds(
    known: KnownPlans, settled_ns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that changes within the tick of its file system's clock looks unchanged."""
    made: list[int] = []

    def plan() -> Planned:
        made.append(now[0])
        return Planned([], [str(tmp_path)])

    changed = tmp_path.stat()
    newest = max(changed.st_mtime_ns, changed.st_ctime_ns)
    now = [0]
    monkeypatch.setattr(known_plans, "time", SimpleNamespace(time_ns=lambda: now[0]))
    for after in (settled_ns, settled_ns + 1, settled_ns + 2):
        now[0] = newest + after
        assert known.planned("question", plan) == []
    assert [each - newest for each in made] == [settled_ns, settled_ns + 1]


def test_warnings_of_planning_are_repeated(
    evidence: Path, plans: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    (evidence / "broker-0/orders-1" / "1.log").touch()
    time.sleep(2 * SETTLED)
    planned(evidence)
    first = [record.message for record in caplog.records]
    assert any("not a name that Kafka gives a segment" in each for each in first)
    caplog.clear()
    planned(evidence)
    assert [record.message for record in caplog.records] == first
    assert plans == ["made"]


def test_plans_are_forgotten_beyond_a_number_of_folders(
    evidence: Path, plans: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        reader_module, "_known_plans", KnownPlans(max_folders=12, settled_ns=1_000_000)
    )
    for minimum in ("1", "2", "3", "3", "1"):  # each plan looks at six folders
        planned(evidence, minPartitions=minimum)
    assert len(plans) == 4
    monkeypatch.setattr(
        reader_module, "_known_plans", KnownPlans(max_folders=5, settled_ns=1_000_000)
    )
    planned(evidence)
    planned(evidence)
    assert len(plans) == 6


def test_only_tables_planned_from_what_is_selected_have_known_plans(
    evidence: Path, plans: list[str]
) -> None:
    for _ in range(2):
        planned(evidence, table="findings")
    assert plans == ["made", "made"]


def test_a_link_that_leads_elsewhere_is_planned_again(
    evidence: Path, plans: list[str], tmp_path: Path
) -> None:
    """Nothing in the folder itself changes when what a link leads to does."""
    linked = tmp_path / "linked"
    linked.mkdir()
    for each in sorted(evidence.iterdir()):
        (linked / each.name).symlink_to(each)
    time.sleep(2 * SETTLED)
    planned(linked, followLinks="true")
    planned(linked, followLinks="true")
    assert plans == ["made", "made"]
