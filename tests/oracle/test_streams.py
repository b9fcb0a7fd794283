"""Exactly once: streams over a live broker's files into file sinks, their driver killed."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq
import pytest

from fixtures import live
from fixtures.scenarios.streamed import EVENTS, KILLS, expected
from fixtures.streams.driver import ISOLATION_LEVELS, rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KILLED: Final = 20
TIMEOUT: Final = 1500

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streamed") / "output"
    return live.run("streamed", folder, str(KILLED), timeout=TIMEOUT)


def records(path: Path) -> Counter[tuple[Any, ...]]:
    """Rows with how often each is there."""
    columns: Iterable[list[Any]] = pq.read_table(path).to_pydict().values()
    return Counter(zip(*columns, strict=True))


@pytest.mark.parametrize("isolation", ISOLATION_LEVELS)
def test_each_record_that_a_consumer_gets_is_written_once(output: Path, isolation: str) -> None:
    written, consumed = records(rows(output, isolation)), records(expected(output, isolation))
    assert [row[:3] for row, count in written.items() if count > 1] == []
    assert sorted(row[:3] for row in consumed.keys() - written.keys()) == []
    assert sorted(row[:3] for row in written.keys() - consumed.keys()) == []


def test_the_isolation_levels_differ(output: Path) -> None:
    """Aborted transactions, and what lies behind the open one."""
    committed, uncommitted = (records(expected(output, each)) for each in ISOLATION_LEVELS)
    assert committed < uncommitted
    behind = {row[:2] for row in (uncommitted - committed) if row[3] in (b"open", b"behind")}
    assert behind == {
        ("stream-first", 0), ("stream-first", 1), ("stream-later", 0),
        ("stream-widened", 0), ("stream-widened", 1),
    }  # fmt: skip


def test_drivers_were_killed_while_they_worked(output: Path) -> None:
    killed = json.loads((output / KILLS).read_text())
    assert len(killed) == KILLED
    for isolation in ISOLATION_LEVELS:
        unfinished = sum(each[isolation]["offsets"] > each[isolation]["commits"] for each in killed)
        assert unfinished >= KILLED // 4
    events = json.loads((output / EVENTS).read_text())
    assert events["deleted"] > 0
    assert events["segments"] >= 6
