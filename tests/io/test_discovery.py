"""Discovery below the given paths, and the errors if nothing is found."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, replica
from kafkalog_reader.errors import LogLayoutError, UnreadableFileError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.partition_directory import segments
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.tables.request import ReadRequest
from tests.io.conftest import LOG, meta

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.io.evidence import Evidence

    Tree = Callable[..., Path]

EVERYTHING = ReadRequest()
ROOT = Path(__file__).parent.parent.parent


def found(evidence: Evidence) -> list[tuple[str | None, int | None, str | None, int | None]]:
    return [
        (d.log_directory.cluster_id, d.log_directory.broker_id, d.topic, d.partition)
        for d in evidence.partition_directories(EVERYTHING)
    ]


def test_log_directory_is_known_by_its_meta_properties(broker: Path) -> None:
    (root,) = discover([str(broker)]).log_directories
    assert (root.path, root.cluster_id, root.broker_id) == (str(broker), "c1", 1)
    assert root.clean_shutdown is False


def test_partitions_are_listed_by_name_however_empty(tree: Tree) -> None:
    root = tree("b/meta.properties", "b/t-0/", "b/t-10/", "b/t-9/", meta_properties=meta(1))
    assert found(discover([str(root / "b")])) == [
        ("c1", 1, "t", 0), ("c1", 1, "t", 9), ("c1", 1, "t", 10),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "marker",
    [
        "recovery-point-offset-checkpoint", "replication-offset-checkpoint",
        "log-start-offset-checkpoint", "cleaner-offset-checkpoint", ".kafka_cleanshutdown",
    ],
)  # fmt: skip
def test_log_directory_without_meta_properties_is_known_by_a_checkpoint(
    tree: Tree, marker: str
) -> None:
    root = tree(f"b/{marker}", "b/t-0/")
    evidence = discover([str(root)])
    assert found(evidence) == [(None, None, "t", 0)]
    assert evidence.roots[0].clean_shutdown is (marker == ".kafka_cleanshutdown")


@pytest.mark.parametrize("brokers", [("broker-0", "broker-1"), ("b0", "b1")])
def test_a_marker_beside_log_directories_makes_no_log_directory(
    brokers: tuple[str, str], tree: Tree
) -> None:
    """Somebody may move it from a log directory to the folder above."""
    files = [f"{broker}/{name}" for broker in brokers for name in ("meta.properties", "t-0/" + LOG)]
    root = tree(".kafka_cleanshutdown", *files)
    for node_id, broker in enumerate(brokers):
        (root / broker / "meta.properties").write_text(meta(node_id))
    evidence = discover([str(root)])
    assert found(evidence) == [("c1", 0, "t", 0), ("c1", 1, "t", 0)]
    assert [each.clean_shutdown for each in evidence.roots] == [False, False]


def test_folders_named_like_partitions_are_looked_into(tree: Tree) -> None:
    root = tree(f"evidence/broker-1/t-0/{LOG}", f"evidence/broker-2/t-0/{LOG}")
    assert found(discover([str(root / "evidence")])) == [(None, None, "t", 0)] * 2


def test_brokers_in_a_folder_of_folders_are_found(tree: Tree) -> None:
    names = [f"e/site/broker-{n}/disk/{name}" for n in (1, 2) for name in ("x", "t-0/" + LOG)]
    root = tree(*names)
    for node_id in (1, 2):
        (root / f"e/site/broker-{node_id}/disk/meta.properties").write_text(meta(node_id))
    assert found(discover([str(root)])) == [("c1", 1, "t", 0), ("c1", 2, "t", 0)]


def test_loose_segment_hides_no_broker_beside_it(tree: Tree) -> None:
    root = tree(f"evidence/{LOG}", f"evidence/b1/t-0/{LOG}", f"evidence/b2/t-0/{LOG}")
    assert found(discover([str(root / "evidence")])) == [
        (None, None, None, None), (None, None, "t", 0), (None, None, "t", 0),
    ]  # fmt: skip


@pytest.mark.parametrize("loose", [LOG, "leader-epoch-checkpoint", "partition.metadata"])
def test_log_directory_with_a_partitions_file_in_it_stays_one(tree: Tree, loose: str) -> None:
    root = tree("b/meta.properties", f"b/{loose}", "b/t-0/", meta_properties=meta(1))
    assert found(discover([str(root / "b")])) == [("c1", 1, "t", 0)]


def test_partition_copied_together_with_its_roots_files_is_read(tree: Tree) -> None:
    root = tree("flat/meta.properties", f"flat/{LOG}", meta_properties=meta(1))
    assert found(discover([str(root / "flat")])) == [(None, None, None, None)]


def test_two_clusters_in_one_folder_stay_two(tree: Tree) -> None:
    root = tree(f"a/t-0/{LOG}", f"b/t-0/{LOG}")
    (root / "a/meta.properties").write_text(meta(1, "c1"))
    (root / "b/meta.properties").write_text(meta(1, "c2"))
    grouped = discover([str(root)]).topic_partitions(EVERYTHING)
    assert [(identity, len(replicas)) for identity, replicas in grouped] == [
        (("c1", "t", 0), 1), (("c2", "t", 0), 1),
    ]  # fmt: skip


def test_partition_directory_may_be_the_working_directory(
    broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(broker / "t-1")
    assert found(discover(["."])) == [("c1", 1, "t", 1)]


def test_empty_partition_directory_alone_is_one(tree: Tree) -> None:
    root = tree("b/meta.properties", "b/t-0/", meta_properties=meta(1))
    assert found(discover([str(root / "b/t-0")])) == [("c1", 1, "t", 0)]


def test_named_path_gives_the_node_id_only_where_it_is_missing(
    broker: Path, tree: Tree, caplog: pytest.LogCaptureFixture
) -> None:
    tree(f"b2/t-0/{LOG}")
    evidence = discover([f"7={broker}", f"2={broker.parent / 'b2'}"])
    assert [root.broker_id for root in evidence.log_directories] == [1, 2]
    assert "was given as broker 7, but its meta.properties has node id 1" in caplog.text


@pytest.mark.parametrize("number", ["-7", "2147483648", "99999999999999999999"])
def test_number_that_no_node_has_is_refused(broker: Path, number: str) -> None:
    with pytest.raises(LogLayoutError, match=r"a node id is 0 to 2147483647"):
        discover([f"{number}={broker}"])


def test_name_that_is_not_a_number_becomes_the_label(broker: Path) -> None:
    (replica, _) = discover([f"old copy={broker}"]).partition_directories(EVERYTHING)
    assert (replica.log_directory.broker_label, replica.replica_name) == ("old copy", "old copy")


def test_path_that_holds_an_equals_sign_and_exists_is_a_path(tree: Tree) -> None:
    root = tree(f"1=x/t-0/{LOG}")
    assert found(discover([str(root / "1=x")])) == [(None, None, "t", 0)]


@pytest.mark.parametrize("name", ["b2.tar", "b2.tgz", "b2.zip"])
def test_an_archive_beside_log_directories_is_named(
    tree: Tree, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """It may be another broker: without it, every answer is about the rest."""
    root = tree(f"b1/t-0/{LOG}", name)
    assert len(found(discover([str(root)]))) == 1
    assert f"{root}/{name}: an archive, not read; give its path" in caplog.text


def test_of_many_archives_the_first_are_named(tree: Tree, caplog: pytest.LogCaptureFixture) -> None:
    root = tree(f"b1/t-0/{LOG}", *(f"b{number}.tar" for number in range(2, 7)))
    discover([str(root)])
    assert caplog.text.count("an archive, not read") == 3
    assert "2 more archives, not read" in caplog.text


def test_an_archive_that_is_given_is_not_named(
    tree: Tree, caplog: pytest.LogCaptureFixture
) -> None:
    root = tree(f"b1/t-0/{LOG}", f"b2/t-0/{LOG}")
    subprocess.run(["tar", "-cf", root / "b2.tar", "-C", root, "b2"], check=True)
    discover([str(root), str(root / "b2.tar")])
    assert "an archive" not in caplog.text


@pytest.mark.parametrize("pattern", ["b*", "b[12]", "b{1,2}", "*/t-0"])
def test_glob_is_expanded(tree: Tree, pattern: str) -> None:
    root = tree(f"b1/t-0/{LOG}", f"b2/t-0/{LOG}", "other.txt")
    assert len(found(discover([f"{root}/{pattern}"]))) == 2


def test_matches_of_a_glob_that_are_not_kafkas_are_passed_by(
    tree: Tree, caplog: pytest.LogCaptureFixture
) -> None:
    root = tree(f"b1/t-0/{LOG}", "b.txt")
    assert len(found(discover([f"{root}/b*"]))) == 1
    assert "b.txt: not a log" in caplog.text


def test_file_scheme_is_understood_and_others_are_refused(broker: Path) -> None:
    assert len(found(discover([f"file://{broker}"]))) == 2
    with pytest.raises(LogLayoutError, match="neither a local path nor a store that pyarrow reads"):
        discover(["ftp://host/logs"])


def test_renamed_directories_are_listed_with_their_state(tree: Tree) -> None:
    aside = [f"b/t-0.{'0' * 32}-{state}" for state in ("delete", "future", "stray")]
    root = tree("b/meta.properties", "b/t-0/", *(f"{name}/" for name in aside))
    evidence = discover([str(root)])
    directories = list(evidence.partition_directories(EVERYTHING))
    assert [d.state for d in directories] == [None, "delete", "future", "stray"]
    assert [len(replicas) for _, replicas in evidence.topic_partitions(EVERYTHING)] == [1]


def test_only_what_is_selected_is_listed(broker: Path) -> None:
    evidence = discover([str(broker)])
    assert [d.partition for d in evidence.partition_directories(
        ReadRequest(partitions=frozenset({1})))] == [1]  # fmt: skip
    assert not list(evidence.partition_directories(ReadRequest(brokers=frozenset({2}))))


def test_damaged_meta_properties_leaves_the_broker_unknown_with_a_warning(
    tree: Tree, caplog: pytest.LogCaptureFixture
) -> None:
    root = tree("b/meta.properties", "b/t-0/", meta_properties="version=1\nnode.id=x\n")
    assert found(discover([str(root)])) == [(None, None, "t", 0)]
    assert f"{root}/b/meta.properties: node.id is not a number" in caplog.text


def test_evidence_survives_pickling(broker: Path) -> None:
    evidence = discover([str(broker)])
    assert found(pickle.loads(pickle.dumps(evidence))) == found(evidence)


# errors if nothing is there


def test_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogLayoutError, match="/nope: no such file or directory"):
        discover([str(tmp_path / "nope")])


def test_empty_directory_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(LogLayoutError, match="Found: nothing, it is empty"):
        discover([str(tmp_path)])


def test_folder_of_empty_folders_is_called_so(tree: Tree) -> None:
    with pytest.raises(LogLayoutError, match="Found: only empty folders"):
        discover([str(tree("a/b/", "t-0/"))])


def test_archives_in_a_folder_are_to_be_given_themselves(tree: Tree) -> None:
    root = tree("b9/1.tar.gz", "b9/2.tar.gz", "b9/3.tar.gz", "b9/4.7z", "b9/5.7z", "b9/README")
    with pytest.raises(LogLayoutError) as caught:
        discover([str(root / "b9")])
    assert str(caught.value) == (
        f"{root}/b9: no log directory, partition directory or segment file here. A log directory "
        "holds meta.properties and folders named like orders-3. "
        "Found: 3 files named *.tar.gz (an archive is read if its own path is given), "
        "2 files named *.7z (unpack them first), 1 file named README."
    )


def test_folders_deeper_than_the_limit_are_not_looked_through(tree: Tree) -> None:
    root = tree(f"{'d/' * 7}t-0/{LOG}")
    with pytest.raises(LogLayoutError, match="folders nested too deep"):
        discover([str(root)])
    assert len(found(discover([str(root / "d")]))) == 1


def test_pattern_that_matches_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogLayoutError, match="nothing matches this pattern"):
        discover([f"{tmp_path}/b*"])


# hostile trees


def test_links_are_passed_by_with_a_warning(broker: Path, caplog: pytest.LogCaptureFixture) -> None:
    outside = broker.parent / "outside"
    (outside / "t-2").mkdir(parents=True)
    (broker / "t-2").symlink_to(outside / "t-2")
    assert found(discover([str(broker)])) == [("c1", 1, "t", 0), ("c1", 1, "t", 1)]
    assert f"{broker}/t-2: symbolic link, not followed" in caplog.text


def test_a_log_directory_behind_a_link_is_skipped(broker: Path) -> None:
    """Also where the link leads to a folder of log directories; other links are nobody's."""
    root = broker.parent / "given"
    root.mkdir()
    (root / "disk").symlink_to(broker)
    (root / "java").symlink_to(broker / "t-0")
    (root / "disk2").mkdir()
    (root / "disk2" / "meta.properties").write_text("version=1\ncluster.id=c1\nnode.id=1\n")
    assert discover([str(root)]).skipped == (f"{root}/disk",)
    assert discover([str(root), str(broker)]).skipped == ()
    assert discover([str(root)], ReadContext(follow_links=True)).skipped == ()
    (root / "disk").unlink()
    (root / "node").symlink_to(broker.parent)
    assert discover([str(root)]).skipped == (f"{root}/node",)


def test_links_are_followed_when_asked(broker: Path) -> None:
    outside = broker.parent / "outside"
    (outside / "t-2").mkdir(parents=True)
    (broker / "t-2").symlink_to(outside / "t-2")
    assert ("c1", 1, "t", 2) in found(discover([str(broker)], ReadContext(follow_links=True)))


def test_partition_and_a_link_to_it_are_one_replica(
    broker: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (broker / "a-0").symlink_to(broker / "t-0")
    assert len(found(discover([str(broker)], ReadContext(follow_links=True)))) == 2
    assert "a-0: the same directory under a second name" in caplog.text


def test_cycle_of_links_ends(tree: Tree) -> None:
    root = tree("a/b/c/", f"a/b/k/t-0/{LOG}")
    (root / "a/b/c/up").symlink_to(root / "a")
    (root / "a/self").symlink_to("self")
    assert len(found(discover([str(root)], ReadContext(follow_links=True)))) == 1


def test_fifo_is_not_a_log_and_nobody_waits_for_it(tree: Tree) -> None:
    root = tree("t-0/")
    os.mkfifo(root / "t-0" / LOG)
    with pytest.raises(LogLayoutError, match="neither a directory nor a regular file"):
        discover([str(root / "t-0" / LOG)])
    (directory,) = discover([str(root / "t-0")]).partition_directories(EVERYTHING)
    assert segments(directory) == ()


def test_hostile_directory_names_are_shown_escaped(
    tree: Tree, caplog: pytest.LogCaptureFixture
) -> None:
    root = tree("b/meta.properties", "b/t-0/", "b/evil\x1b[31m\n-0/", meta_properties=meta(1))
    (root / "b" / os.fsdecode(b"\xff-0")).mkdir()
    assert found(discover([str(root)])) == [("c1", 1, "t", 0)]
    assert r"evil\x1b[31m\n-0: not the name of a partition directory" in caplog.text
    assert r"\xff-0: not the name of a partition directory" in caplog.text


@pytest.mark.parametrize(("partition", "warnings"), [("t-0", 1), ("__cluster_metadata-0", 0)])
def test_lost_and_found_stops_a_broker_but_no_controller(
    tree: Tree, caplog: pytest.LogCaptureFixture, partition: str, warnings: int
) -> None:
    """A broker 4.4.0 ends: "Found directory .../lost+found"; a controller starts."""
    root = tree(
        "b/meta.properties", "b/lost+found/", "b/remote-log-index-cache/", f"b/{partition}/",
        meta_properties=meta(1),
    )  # fmt: skip
    with caplog.at_level(logging.WARNING):
        assert len(found(discover([str(root)]))) == 1
    assert caplog.text.count("lost+found: not the name of a partition directory") == warnings
    assert "remote-log" not in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_folder_that_may_not_be_listed_is_an_error_as_another_user(tmp_path: Path) -> None:
    """Permissions do not bind root, so this runs as nobody."""
    closed = tmp_path / "b1"
    closed.mkdir(mode=0o700)
    _open_the_way_to(closed)
    code = (
        "import os, sys; from kafkalog_reader.io.discovery import discover\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try:\n    discover([sys.argv[1]])\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(closed)],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == f"UnreadableFileError {closed}: Permission denied\n"


def _open_the_way_to(path: Path) -> None:
    for parent in path.parents:
        if parent.stat().st_uid == os.getuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)


def test_folder_that_may_not_be_listed_is_an_error(
    broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    evidence = discover([str(broker)])
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UnreadableFileError, match="Permission denied"):
        discover([str(broker)])
    with pytest.raises(UnreadableFileError, match="Permission denied"):
        list(evidence.partition_directories(EVERYTHING))


@pytest.mark.parametrize("closed", ["broker-1", "broker-2"])
def test_closed_broker_beside_others_is_an_error_and_no_partition(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    """The partition 2 of a topic "broker" would be left out with --topic, without a word."""
    root = tree(
        "broker-1/meta.properties", f"broker-1/t-0/{LOG}",
        "broker-2/meta.properties", f"broker-2/t-0/{LOG}",
        meta_properties=meta(1),
    )  # fmt: skip
    _refuse_to_list(root / closed, monkeypatch)
    with pytest.raises(UnreadableFileError, match=f"{closed}: Permission denied"):
        discover([str(root)])


def test_closed_partition_beside_partitions_is_a_partition(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(f"t-0/{LOG}", f"t-1/{LOG}")
    _refuse_to_list(root / "t-1", monkeypatch)
    assert found(discover([str(root)])) == [(None, None, "t", 0), (None, None, "t", 1)]


def _refuse_to_list(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: str) -> object:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)


def test_twenty_thousand_partitions_are_listed_without_opening_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "meta.properties").write_text(meta(1))
    for number in range(20_000):
        (tmp_path / f"topic-{number // 10}-{number % 10}").mkdir()
    evidence = discover([str(tmp_path)])
    opened: list[str] = []
    monkeypatch.setattr(os, "open", lambda path, *_: opened.append(path))
    monkeypatch.setattr(os, "stat", lambda path, *_, **__: opened.append(path))
    assert sum(1 for _ in evidence.topic_partitions(EVERYTHING)) == 20_000
    assert opened == []


def test_copies_that_were_moved_aside_are_read_only_where_they_are_given(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "disk" / "t-1").mkdir(parents=True)
    (tmp_path / "disk" / "meta.properties").write_text(meta(1))
    aside = tmp_path / "aside" / "disk"
    (aside / "t-0").mkdir(parents=True)
    (aside / "t-0" / f"{0:020}.log").touch()
    (folder,) = discover([str(tmp_path)]).partition_directories(EVERYTHING)
    assert (folder.topic, folder.partition) == ("t", 1)
    assert f"{tmp_path / 'aside'}: copies that were moved aside, not read" in caplog.text
    (folder,) = discover([str(tmp_path / "aside")]).partition_directories(EVERYTHING)
    assert (folder.topic, folder.partition) == ("t", 0)


def test_a_folder_of_zookeeper_or_redpanda_is_called_so(tree: Tree) -> None:
    root = tree("zk/version-2/snapshot.0", "zk/version-2/snapshot.1a", "zk/version-2/log.1",
                "rp/kafka/orders/0_12/0-1-v1.log")  # fmt: skip
    with pytest.raises(LogLayoutError, match=r"2 files named snapshot\.\* \(a ZooKeeper snap"):
        discover([str(root / "zk")])
    with pytest.raises(LogLayoutError, match=r"1 file named \*-v\*\.log \(a Redpanda segment"):
        discover([str(root / "rp")])


def test_an_empty_folder_beside_log_directories_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk that is not mounted looks like this."""
    cluster(tmp_path, {0: [replica("0-3/e0")]})
    (tmp_path / "b1" / "inner").mkdir(parents=True)
    (tmp_path / "b2").mkdir()
    assert len(discover([str(tmp_path)]).roots) == 1
    assert [each.getMessage() for each in caplog.records] == [
        f"{tmp_path}/b2: empty, skipped: is its disk mounted, or copied?"
    ]


def test_an_empty_folder_beside_log_directories_is_an_empty_disk(tmp_path: Path) -> None:
    """`kafkalog plan b1 b2` after b1 got a new disk; alone it is a wrong path."""
    cluster(tmp_path, {2: replica("a@0/e0")})
    empty = tmp_path / "b1"
    empty.mkdir()
    found = discover([str(empty), str(tmp_path / "broker-2")])
    assert found.empty == (str(empty),)
    assert [root.broker_id for root in found.roots] == [2]
    with pytest.raises(LogLayoutError, match=r"b1: no log directory.*Found: nothing, it is empty"):
        discover([str(empty)])
