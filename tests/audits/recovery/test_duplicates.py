"""Two directories of one partition on one broker. Source: Kafka 4.4, LogManager#loadLog."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fixtures.builder.replica import TOPIC_ID
from kafkalog_reader.audits.recovery.duplicates import (
    refused_duplicates,
    refused_folders,
    refused_future,
)
from kafkalog_reader.audits.recovery.rule import ClusterTopics
from kafkalog_reader.io.directories import LogDirectory, PartitionDirectory
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = "two directories of one partition, which the broker refuses"
NOT_RENAMED = "its replica is in the same log directory"


def directory(
    root: str, name: str = "t-0", *, state: str | None = None, directory_id: str | None = "id-a"
) -> PartitionDirectory:
    topic, _, number = name.rpartition("-")
    return PartitionDirectory(
        path=f"{root}/{name}{'' if state is None else f'.0123.{state}'}",
        log_directory=LogDirectory(path=root, broker_id=1, directory_id=directory_id),
        topic=topic,
        partition=int(number),
        state=state,
    )


@pytest.mark.parametrize(
    ("served", "why"),
    [
        pytest.param([directory("/a")], "", id="one"),
        pytest.param([directory("/a"), directory("/a", "t-1")], "", id="two_partitions"),
        pytest.param([directory("/a"), directory("/a", "u-0")], "", id="two_topics"),
        pytest.param(
            [directory("/a"), directory("/b", directory_id="id-b")], REFUSED, id="on_two_disks"
        ),
        pytest.param([directory("/a"), directory("/b")], "", id="two_copies_of_one_disk"),
        pytest.param(
            [directory("/a", directory_id=None), directory("/b", directory_id=None)],
            REFUSED,
            id="on_two_disks_without_ids",
        ),
        pytest.param(
            [directory("/a"), directory("/b", state="future", directory_id="id-b")],
            "",
            id="a_replica_that_moves",
        ),
        pytest.param(
            [
                directory("/a", state="future"),
                directory("/b", state="future", directory_id="id-b"),
            ],
            REFUSED,
            id="two_future_ones",
        ),
        pytest.param(
            [directory("/a"), directory("/a", state="future")],
            NOT_RENAMED,
            id="a_future_one_beside",
        ),
        pytest.param(
            [directory("/a", state="future"), directory("/a")], NOT_RENAMED, id="in_either_order"
        ),
        pytest.param(
            [
                directory("/a", directory_id=None),
                directory("/a", state="future", directory_id=None),
            ],
            "",
            id="beside_before_directory_ids",
        ),
        pytest.param(
            [directory("/a"), directory("/b", state="delete", directory_id="id-b")],
            "",
            id="one_waits_for_its_deletion",
        ),
        pytest.param(
            [directory("/a", state="delete"), directory("/a")],
            "",
            id="it_waits_beside_its_successor",
        ),
        pytest.param(
            [directory("/a"), directory("/b", state="stray", directory_id="id-b")],
            "",
            id="one_was_set_aside",
        ),
    ],
)
def test_a_broker_refuses_what_it_cannot_tell_apart(
    served: list[PartitionDirectory], why: str
) -> None:
    found = refused_duplicates(served)
    assert found.endswith(why)
    assert bool(found) is bool(why)
    if why == REFUSED:
        assert found.startswith(f"{served[0].path} and {served[1].path}: ")


def test_two_logs_outweigh_a_rename_that_fails_later() -> None:
    served = [
        directory("/a"), directory("/a", state="future"), directory("/b", directory_id="id-b"),
    ]  # fmt: skip
    assert refused_duplicates(served) == f"/a/t-0 and /b/t-0: {REFUSED}"


def written(root: Path, *names: str, topic_id: str = "AAAAAAAAAAAAAAAAAAABAA") -> LogDirectory:
    for name in names:
        (root / name).mkdir(parents=True)
        (root / name / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}\n")
    return LogDirectory(path=str(root), broker_id=1, directory_id="id-a")


FUTURE = "t-0.0123456789abcdef0123456789abcdef-future"


def test_a_future_copy_beside_its_replica_is_found_by_its_name(tmp_path: Path) -> None:
    root = written(tmp_path / "a", "t-0", FUTURE, "t-1")
    assert refused_future(root, None).endswith(NOT_RENAMED)
    assert refused_future(replace(root, directory_id=None), None) == ""
    (tmp_path / "a" / FUTURE / "leader-epoch-checkpoint").write_text("0\n1\n1 2 3\n")
    assert refused_future(root, None) == ""  # its log directory fails before


def test_a_future_copy_of_another_topic_is_not_renamed(tmp_path: Path) -> None:
    root = written(tmp_path / "a", "t-0")
    written(tmp_path / "a", FUTURE, topic_id="AAAAAAAAAAAAAAAAAAACAA")
    assert refused_future(root, None) == ""


@pytest.mark.parametrize(
    ("ids", "is_refused"),
    [
        pytest.param(("id-a", "id-b"), True, id="two-disks"),
        pytest.param(("id-a", "id-a"), False, id="two-copies-of-one-disk"),
        pytest.param((None, None), True, id="before-directory-ids"),
    ],
)
def test_two_disks_with_one_partition_are_refused(
    ids: tuple[str | None, str | None], is_refused: bool, tmp_path: Path
) -> None:
    for name in "ab":
        written(tmp_path / name, "t-0", f"u-{len(name)}", f"only-{ord(name)}")
    (tmp_path / "b" / "u-1").rename(tmp_path / "b" / "v-1")
    paths = (str(tmp_path / "a"), str(tmp_path / "b"))
    why = refused_folders(dict(zip(paths, ids, strict=True)), ReadContext(), None)
    assert why == (f"{paths[0]}/t-0 and {paths[1]}/t-0: {REFUSED}" if is_refused else "")


@pytest.mark.parametrize(("topic_id", "is_refused"), [(TOPIC_ID, True), ("B" * 22, False)])
def test_two_folders_of_another_topic_are_set_aside(
    topic_id: str, is_refused: bool, tmp_path: Path
) -> None:
    for name in "ab":
        written(tmp_path / name, "t-0", topic_id=TOPIC_ID)
    paths = (str(tmp_path / "a"), str(tmp_path / "b"))
    topics = ClusterTopics(topic_ids={"t": topic_id})
    why = refused_folders(dict(zip(paths, ("id-a", "id-b"), strict=True)), ReadContext(), topics)
    assert bool(why) == is_refused


def test_a_deleted_folder_in_front_hides_no_second_directory() -> None:
    served = [
        directory("/a", state="delete"), directory("/a"), directory("/b", directory_id="id-b")
    ]  # fmt: skip
    assert refused_duplicates(served) == f"/a/t-0 and /b/t-0: {REFUSED}"


def test_a_future_copy_beside_a_replica_that_is_set_aside_is_renamed(tmp_path: Path) -> None:
    root = written(tmp_path / "a", "t-0", FUTURE, topic_id=TOPIC_ID)
    assert refused_future(root, ClusterTopics(topic_ids={"t": TOPIC_ID})).endswith(NOT_RENAMED)
    assert refused_future(root, ClusterTopics(topic_ids={"t": "B" * 22})) == ""


def refused(root: Path, ids: dict[str, str | None], topics: ClusterTopics | None = None) -> str:
    """Why the broker of these disks, which have these ids, does not start."""
    return refused_folders({str(root / name): ids[name] for name in ids}, ReadContext(), topics)


def test_folders_of_a_topic_that_the_metadata_log_does_not_have_are_refused(
    tmp_path: Path,
) -> None:
    """The directory of an unknown topic is loaded before it could be set aside."""
    for name in "ab":
        written(tmp_path / name, "t-0")
    topics = ClusterTopics(topic_ids={"u": TOPIC_ID})
    assert refused(tmp_path, {"a": "id-a", "b": "id-b"}, topics).endswith(REFUSED)


def test_two_folders_of_different_topics_are_not_of_one_partition(tmp_path: Path) -> None:
    """One of them is set aside, because its topic id is not the cluster's."""
    written(tmp_path / "a", "t-0", topic_id=TOPIC_ID)
    written(tmp_path / "b", "t-0")
    assert refused(tmp_path, {"a": "id-a", "b": "id-b"}) == ""


@pytest.mark.parametrize("has_ids", [False, True])
def test_folders_without_a_topic_id_are_set_aside_since_there_are_directory_ids(
    has_ids: bool, tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / name / "t-0").mkdir(parents=True)
    ids = {name: f"id-{name}" if has_ids else None for name in "ab"}
    assert refused(tmp_path, ids).endswith("" if has_ids else REFUSED)
    assert bool(refused(tmp_path, ids)) is not has_ids


def test_a_second_copy_of_a_disk_hides_no_other_disk(tmp_path: Path) -> None:
    for name in "abc":
        written(tmp_path / name, "t-0")
    why = refused(tmp_path, {"a": "id-a", "b": "id-a", "c": "id-c"})
    assert why == f"{tmp_path}/a/t-0 and {tmp_path}/c/t-0: {REFUSED}"


def test_only_folders_of_client_partitions_are_compared(tmp_path: Path) -> None:
    """Two metadata logs are refused for themselves; a file is no log."""
    for name in "ab":
        written(tmp_path / name, "__cluster_metadata-0")
        (tmp_path / name / "t-0").write_text("")
        (tmp_path / name / "meta.properties").write_text("")
    assert refused(tmp_path, {"a": "id-a", "b": "id-b"}) == ""
