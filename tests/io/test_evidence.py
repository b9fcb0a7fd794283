"""What was supplied: which directories are found in it, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kafkalog_reader.errors import UnreadableFileError
from kafkalog_reader.io.directories import LogDirectory
from kafkalog_reader.io.evidence import Evidence
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.tables.request import ReadRequest
from tests.io.test_directories import directory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_directories_are_yielded_by_topic_partition_and_broker(tree: Callable[..., Path]) -> None:
    path = tree("b1/t-10/", "b1/t-9/", "b1/a-0/", "b2/t-9/", "b2/t-9.0f-delete/", "b0/t-9/")
    roots = tuple(
        LogDirectory(path=str(path / name), broker_id=broker)
        for name, broker in (("b0", None), ("b2", 2), ("b1", 1))
    )
    evidence = Evidence(roots=roots)
    found = [d.path[len(str(path)) + 1 :] for d in evidence.partition_directories(ReadRequest())]
    assert found == ["b1/a-0", "b1/t-9", "b2/t-9", "b2/t-9.0f-delete", "b0/t-9", "b1/t-10"]
    assert [root.broker_id for root in evidence.log_directories] == [1, 2, None]
    grouped = [
        (identity[1:], len(replicas))
        for identity, replicas in evidence.topic_partitions(ReadRequest())
    ]
    assert grouped == [(("a", 0), 1), (("t", 9), 3), (("t", 10), 1)]


def test_only_selected_directories_are_yielded(tree: Callable[..., Path]) -> None:
    path = tree("b1/t-0/", "b1/u-0/", "b2/t-0/", "b2/t-1/")
    roots = tuple(LogDirectory(path=str(path / f"b{n}"), broker_id=n) for n in (1, 2))
    given = (directory(LogDirectory(path="/b3", broker_id=3)),)
    evidence = Evidence(roots=roots, given=given)

    def count(**request: Any) -> int:
        return len(list(evidence.partition_directories(ReadRequest(**request))))

    assert count() == 5
    assert count(topics=frozenset({"t"})) == 4
    assert count(partitions=frozenset({1})) == 1
    assert count(brokers=frozenset({1})) == 2
    assert count(brokers=frozenset({3})) == 1
    assert count(brokers=frozenset({1, 3}), topics=frozenset({"t"})) == 2


def test_folders_without_names_of_partitions_stay_alone() -> None:
    roots = [LogDirectory(path=f"/f{number}") for number in (1, 2)]
    given = tuple(directory(root, None, topic=None, path=root.path) for root in roots)
    found = list(Evidence(roots=(), given=given).topic_partitions(ReadRequest()))
    assert [len(replicas) for _, replicas in found] == [1, 1]


def test_other_folders_and_nested_log_directories_are_left_out(
    tree: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    path = tree("b/t-0/", "b/lost+found/", "b/other/", "b/disk-1/")
    roots = (LogDirectory(path=str(path / "b")), LogDirectory(path=str(path / "b/disk-1")))
    found = list(Evidence(roots=roots).partition_directories(ReadRequest()))
    assert [each.path for each in found] == [str(path / "b/t-0")]
    assert sorted(record.message for record in caplog.records) == [
        f"{path}/b/{name}: not the name of a partition directory, skipped"
        for name in ("lost+found", "other")
    ]


def test_link_to_a_directory_is_not_a_second_replica(
    tree: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    path = tree("b/t-0/")
    (path / "b/a-0").symlink_to(path / "b/t-0")
    for follow_links, text in ((False, "not followed"), (True, "under a second name")):
        root = LogDirectory(path=str(path / "b"), context=ReadContext(follow_links=follow_links))
        evidence = Evidence(roots=(root,), context=ReadContext(follow_links=follow_links))
        found = list(evidence.partition_directories(ReadRequest()))
        assert [each.topic for each in found] == ["t"]
        assert text in caplog.records[-1].message


def test_limit_of_a_batch_reaches_every_directory() -> None:
    root = LogDirectory(path="/a")
    evidence = Evidence(roots=(root,), given=(directory(LogDirectory(path="/b")),))
    assert evidence.allowing(None) is evidence
    limited = evidence.allowing(7)
    contexts = [limited.context, limited.roots[0].context, limited.given[0].context]
    assert [context.limits.batch_bytes for context in contexts] == [7, 7, 7]


def test_log_directory_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    evidence = Evidence(roots=(LogDirectory(path=str(tmp_path / "missing")),))
    with pytest.raises(UnreadableFileError):
        evidence.partition_directories(ReadRequest())
