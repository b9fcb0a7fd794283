"""Single directories and files that a search finds: whose they are, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from kafkalog_reader.errors import LogLayoutError, UnreadableFileError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.tables.request import ReadRequest
from tests.io.conftest import LOG, meta
from tests.io.test_discovery import found

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Tree = Callable[..., Path]

EVERYTHING = ReadRequest()
LFS_POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
TOPIC_ID = "dZpYpWbSR8uwpL9c2-_x5A"


def test_broker_without_meta_properties_counts_to_the_only_cluster(
    tree: Tree, caplog: pytest.LogCaptureFixture
) -> None:
    root = tree(f"a/t-0/{LOG}", f"b/t-0/{LOG}")
    (root / "a/meta.properties").write_text(meta(1))
    evidence = discover([str(root / "a"), f"3={root / 'b'}"])
    ((identity, replicas),) = evidence.topic_partitions(EVERYTHING)
    assert identity == ("c1", "t", 0)
    assert [replica.log_directory.broker_id for replica in replicas] == [1, 3]
    assert "no cluster id, assigned to cluster c1" in caplog.text


def test_partition_directory_alone_takes_its_identity_from_the_folder_above(broker: Path) -> None:
    evidence = discover([str(broker / "t-1")])
    assert found(evidence) == [("c1", 1, "t", 1)]
    assert evidence.log_directories[0].clean_shutdown is None


def test_segment_file_alone_is_its_partition_cut_to_it(broker: Path) -> None:
    (broker / "t-0" / "00000000000000000007.log").touch()
    (directory,) = discover([str(broker / "t-0" / LOG)]).partition_directories(EVERYTHING)
    assert (directory.topic, directory.partition, directory.only) == ("t", 0, (LOG,))
    assert [segment.base_offset for segment in segments(directory)] == [0]


@pytest.mark.parametrize("suffix", ["deleted", "cleaned", "swap"])
def test_segment_file_set_aside_is_read_when_it_is_named(tree: Tree, suffix: str) -> None:
    root = tree(f"t-0/{LOG}", f"t-0/{LOG}.{suffix}")
    evidence = discover([str(root / "t-0" / f"{LOG}.{suffix}")])
    (directory,) = evidence.partition_directories(EVERYTHING)
    assert [segment.suffix for segment in segments(directory)] == [suffix]


def test_lone_segment_files_of_unknown_partitions_are_not_put_together(tree: Tree) -> None:
    root = tree(f"x/{LOG}", f"y/{LOG}")
    evidence = discover([str(root / "x" / LOG), str(root / "y" / LOG)])
    grouped = list(evidence.topic_partitions(EVERYTHING))
    assert [(identity, len(replicas)) for identity, replicas in grouped] == [
        ((None, None, None), 1), ((None, None, None), 1),
    ]  # fmt: skip


def test_directory_reached_by_several_paths_is_one(broker: Path) -> None:
    link = broker.parent / "again"
    link.symlink_to(broker)
    paths = [broker, broker.parent, link, broker / "t-0", broker / "t-0" / LOG, f"{broker}/"]
    assert found(discover([str(path) for path in paths])) == [("c1", 1, "t", 0), ("c1", 1, "t", 1)]
    assert found(discover([str(path) for path in reversed(paths)])) == found(
        discover([str(broker)])
    )


def test_disks_of_one_broker_are_distinguished(tree: Tree) -> None:
    root = tree(f"b/disk1/t-0/{LOG}", f"b/disk2/t-1/{LOG}")
    for disk in ("disk1", "disk2"):
        (root / "b" / disk / "meta.properties").write_text(meta(1))
    names = [d.replica_name for d in discover([str(root)]).partition_directories(EVERYTHING)]
    assert names == ["broker 1 (disk1)", "broker 1 (disk2)"]


@pytest.mark.parametrize("name", ["x.txt", "0.log", "00000000000000000000.snapshot"])
def test_file_that_is_not_a_log_is_called_so(tree: Tree, name: str) -> None:
    with pytest.raises(LogLayoutError, match="not a log: a segment's name is 20 digits"):
        discover([str(tree(name) / name)])


def test_index_alone_points_to_its_log(tree: Tree) -> None:
    name = "00000000000000000007.index"
    with pytest.raises(LogLayoutError, match=r"an index, not a log: give 0{19}7.log"):
        discover([str(tree(name) / name)])


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        (("broker-1", "broker-1-metadata"), ["broker 1", "broker 1 (metadata)"]),
        (("b1", "b1_metadata"), ["broker 1", "broker 1 (metadata)"]),
        (("Broker1/logs", "Broker1/metadata"), ["broker 1 (logs)", "broker 1 (metadata)"]),
        (("broker-1/logs", "meta/logs"), ["broker 1 (logs)", "broker 1 (meta/logs)"]),
        (("before/broker-1", "after/broker-1"), ["broker 1 (after)", "broker 1 (before)"]),
        (("broker-1", "b1"), ["broker 1 (b1)", "broker 1 (broker-1)"]),
        (("broker-10", "broker-1-x"), ["broker 1 (broker-10)", "broker 1 (x)"]),
        (("disk-1", "disk-2"), ["broker 1 (disk-1)", "broker 1 (disk-2)"]),
    ],
    ids=str,
)
def test_the_name_of_a_disk_does_not_repeat_its_brokers(
    folders: tuple[str, str], names: list[str], tree: Tree
) -> None:
    root = tree(f"{folders[0]}/t-0/{LOG}", f"{folders[1]}/u-0/{LOG}")
    for each in folders:
        (root / each / "meta.properties").write_text(meta(1))
    directories = discover([str(root)]).partition_directories(EVERYTHING)
    assert sorted(each.replica_name for each in directories) == names


def test_the_name_of_a_disk_does_not_repeat_a_label(tree: Tree) -> None:
    root = tree(f"east/t-0/{LOG}", f"east-metadata/u-0/{LOG}")
    for each in ("east", "east-metadata"):
        (root / each / "meta.properties").write_text(meta(1))
    given = [f"east={root}/east", f"east={root}/east-metadata"]
    directories = discover(given).partition_directories(EVERYTHING)
    assert [each.replica_name for each in directories] == ["east", "east (metadata)"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("b1.tar.xz", b"", "an archive: unpack it first"),
        ("b1", b"\x1f\x8b\x08\x00", "an archive: unpack it first"),
        ("snapshot.1a3", b"", "a ZooKeeper snapshot"),
        ("log.4f", b"", "a ZooKeeper transaction log"),
        ("copied", b"ZKLG\x00\x00\x00\x02", "a ZooKeeper transaction log"),
        ("0-1-v1.log", b"", "a Redpanda segment"),
        ("copy.log", LFS_POINTER, "a git-lfs pointer, not the file itself: run `git lfs pull`"),
    ],
)
def test_files_of_other_programs_are_named_as_what_they_are(
    name: str, content: bytes, said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LogLayoutError) as caught:
        discover([str(tmp_path / name)])
    assert str(caught.value).startswith(f"{tmp_path / name}: {said}")


def test_a_git_lfs_pointer_in_the_place_of_a_segment_is_not_an_empty_log(broker: Path) -> None:
    log = next(broker.glob("*-0")) / "00000000000000000000.log"
    log.write_bytes(LFS_POINTER)
    table = kafkalog_reader.open(str(log.parent)).table("records")
    with pytest.raises(UnreadableFileError) as caught:
        table.to_arrow()
    assert str(caught.value).startswith(f"{log}: a git-lfs pointer, not the file itself")


@pytest.mark.parametrize("folder", [f"tiered/t-0-{TOPIC_ID}", f"prefix/t-{TOPIC_ID}/0"])
def test_remote_storage_is_the_remote_part_of_its_partition(tree: Tree, folder: str) -> None:
    name = f"{folder}/{'0' * 20}-{TOPIC_ID}"
    root = tree(f"{name}.log", f"{name}.rsm-manifest", f"{name}.index")
    for path in (root, root / folder, root / f"{name}.log"):
        evidence = discover([str(path)])
        (part,) = evidence.remote
        assert (part.topic, part.partition, part.state) == ("t", 0, "remote")
        assert part.log_directory.path == str((root / folder).parents[-1 - len(root.parts)])
        assert (evidence.roots, evidence.given) == ((), ())


def test_a_segment_of_remote_storage_in_another_folder_is_of_no_partition(tree: Tree) -> None:
    root = tree(f"copies/{'0' * 20}-{TOPIC_ID}.log")
    (part,) = discover([str(root / "copies")]).remote
    assert (part.topic, part.partition) == (None, None)
