"""Several log directories of one broker; expected is what 4.4.0 brokers did (oracle disks)."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import kafkalog_reader
from fixtures.builder import cluster, replica
from kafkalog_reader.audits.recovery.disks import disk_failures
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.recovery import Recovery
from kafkalog_reader.audits.recovery.start_prediction import predict_starts
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.io.read_context import ReadContext
from kafkalog_reader.tables.request import ReadRequest
from tests.io.counted_rate import CountedRate

if TYPE_CHECKING:
    from collections.abc import Callable

IDS = {"a": "AAAAAAAAAAEAAAAAAAAAEQ", "b": "AAAAAAAAAAEAAAAAAAAAEg"}
META = "version=1\ncluster.id={cluster}\nnode.id={node}\ndirectory.id={id}\n"


def _meta(root: Path, disk: str, **changed: str) -> None:
    values = {"cluster": "c", "node": "1", "id": IDS[disk]} | changed
    (root / disk / "meta.properties").write_text(META.format(**values))


def _disks(root: Path) -> None:
    """Partition 0 on disk a, with the metadata log; partition 1 on disk b."""
    for partition, disk in enumerate(IDS):
        made = cluster(
            root / "made", {1: replica("0-9/e0", topic="t", partition=partition)}, clean=(1,)
        )
        made[1].rename(root / disk)
        _meta(root, disk)
    (root / "made").rmdir()
    (root / "a" / "__cluster_metadata-0").mkdir()


def _outcomes(root: Path) -> dict[str, tuple[str, str]]:
    """StartOutcome and reason by disk."""
    rows = kafkalog_reader.open(f"1={root}").table("recoveries").to_arrow().to_pylist()
    return {
        row["logDirectory"].rpartition("/")[2]: (row["outcome"], row["reason"] or "")
        for row in rows
    }


def test_sound_disks_load(tmp_path: Path) -> None:
    _disks(tmp_path)
    assert {outcome for outcome, _ in _outcomes(tmp_path).values()} == {"loads"}


@pytest.mark.parametrize(
    ("inject", "reason"),
    [
        (lambda r: (r / "b" / "meta.properties").unlink(), "missing, and other disks"),
        (lambda r: _meta(r, "b", node="2"), "says node 1"),
        (lambda r: _meta(r, "b", cluster="other"), "says c"),
        (lambda r: _meta(r, "b", id=IDS["a"]), "two disks with one id"),
        (lambda r: _meta(r, "b", id="AAAAAAAAAAAAAAAAAAAAAA"), "is reserved"),
        (lambda r: (r / "b" / "__cluster_metadata-0").mkdir(), "two metadata logs"),
        (lambda r: _meta(r, "a", node="one"), "in the directory of the metadata log"),
        (lambda r: (r / "b" / "meta.properties").write_text(""), "without the id of node"),
        (lambda r: (r / "b" / "t-1").rename(r / "b" / "t-1.old"), "is not a partition's"),
        (lambda r: shutil.copytree(r / "b" / "t-1", r / "b" / "t-01"), "two directories of one"),
        (
            lambda r: shutil.copytree(r / "b" / "t-1", r / "b" / f"t-1.{'0' * 32}-future"),
            "fails to rename the future copy",
        ),
    ],
)
def test_one_disk_keeps_the_broker_from_starting(
    inject: Callable[[Path], object], reason: str, tmp_path: Path
) -> None:
    _disks(tmp_path)
    inject(tmp_path)
    found = _outcomes(tmp_path)
    assert {outcome for outcome, _ in found.values()} == {"brokerAborts"}
    assert any(reason in said for _, said in found.values())


@pytest.mark.parametrize(
    "inject",
    [
        lambda r: _meta(r, "b", node="1 "),
        lambda r: _meta(r, "b", id="short"),
        lambda r: (r / "b" / "meta.properties").write_text("version=2\n"),
        lambda r: (r / "b" / "recovery-point-offset-checkpoint").write_text("0\n1\nt 1\n"),
    ],
)
def test_one_disk_goes_offline_and_the_other_one_loads(
    inject: Callable[[Path], object], tmp_path: Path
) -> None:
    _disks(tmp_path)
    inject(tmp_path)
    found = {disk: outcome for disk, (outcome, _) in _outcomes(tmp_path).items()}
    assert found == {"a": "loads", "b": "directoryOffline"}


@pytest.mark.parametrize(
    ("properties", "is_fatal"),
    [("version=0\nbroker.id=1\n", False), ("version=1\ncluster.id=c\nnode.id=1\n", True)],
)
def test_rules_of_kraft_are_for_brokers_whose_files_show_it(
    properties: str, is_fatal: bool, tmp_path: Path
) -> None:
    """meta.properties has version 1 from KRaft on, and 0 with ZooKeeper; disk b lacks the file."""
    paths = [str(tmp_path / name) for name in "ab"]
    for path in map(Path, paths):
        (path / "t-0").mkdir(parents=True)
        (path / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    (tmp_path / "a" / "meta.properties").write_text(properties)
    found = disk_failures(paths, ReadContext(), is_kraft=False)
    assert (bool(found.fatal), found.offline) == (is_fatal, {})


def test_every_partition_knows_that_another_disk_stops_the_broker(tmp_path: Path) -> None:
    """The plan examines one partition at a time; partition 0 is on the sound disk."""
    _disks(tmp_path)
    (tmp_path / "b" / "meta.properties").unlink()
    ((_, directories), *_) = discover([f"1={tmp_path}"]).topic_partitions(
        ReadRequest(topics=frozenset({"t"}), partitions=frozenset({0}))
    )
    (start,) = predict_starts(directories)
    assert isinstance(start, Recovery)
    assert start.outcome is StartOutcome.BROKER_ABORTS
    assert not start.is_own_failure


def test_the_files_of_other_disks_are_read_at_the_rate(tmp_path: Path) -> None:
    _disks(tmp_path)
    _meta(tmp_path, "b", cluster="another-cluster")
    rate = CountedRate()
    evidence = discover([f"1={tmp_path}"], ReadContext(rate=rate))
    ((_, directories), *_) = evidence.topic_partitions(ReadRequest(topics=frozenset({"t"})))
    rate.taken.clear()
    predict_starts(directories)
    assert (tmp_path / "b" / "meta.properties").stat().st_size in rate.taken


def test_two_times_of_one_disk_are_not_two_disks(tmp_path: Path) -> None:
    _disks(tmp_path)
    shutil.copytree(tmp_path / "a", tmp_path / "later" / "a")
    assert {outcome for outcome, _ in _outcomes(tmp_path).values()} == {"loads"}


def test_a_link_to_no_marker_is_not_a_marker(tmp_path: Path) -> None:
    """``Files.exists`` follows links: recovery truncated the torn end."""
    _disks(tmp_path)
    marker = tmp_path / "b" / ".kafka_cleanshutdown"
    marker.unlink()
    marker.symlink_to("gone")
    log = tmp_path / "b" / "t-1" / f"{0:020}.log"
    log.write_bytes(log.read_bytes()[:-7])
    assert _outcomes(tmp_path)["b"][0] == "cut"


def test_a_stray_in_a_failing_log_directory_ends_the_broker(tmp_path: Path) -> None:
    """Unless it is loaded first: "The log dir is already offline due to a previous IO ..."."""
    _disks(tmp_path)
    stray = tmp_path / "b" / "gone-0"
    shutil.copytree(tmp_path / "b" / "t-1", stray)
    (stray / "partition.metadata").unlink()
    (tmp_path / "b" / "t-1" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n")
    found = _outcomes(tmp_path)
    assert {outcome for outcome, _ in found.values()} == {"brokerAborts"}
    assert "the broker sets it aside, but its log directory fails" in found["a"][1]


@pytest.mark.parametrize(
    "name",
    ["leader-epoch-checkpoint", "partition.metadata", f"{0:020}.index", f"{0:020}.timeindex"],
)
def test_a_directory_in_the_place_of_a_file_takes_its_disk_offline(
    name: str, tmp_path: Path
) -> None:
    _disks(tmp_path)
    path = tmp_path / "b" / "t-1" / name
    path.unlink()
    path.mkdir()
    found = {disk: outcome for disk, (outcome, _) in _outcomes(tmp_path).items()}
    assert found == {"a": "loads", "b": "directoryOffline"}


def test_a_directory_in_the_place_of_a_segment_is_passed_by(tmp_path: Path) -> None:
    _disks(tmp_path)
    path = tmp_path / "b" / "t-1" / f"{0:020}.log"
    path.unlink()
    path.mkdir()
    assert _outcomes(tmp_path)["b"][0] == "loads"


def _made(root: Path, **meta: str | None) -> list[str]:
    """Log directories with these ``meta.properties``, each with a partition of its own."""
    for number, (name, properties) in enumerate(meta.items()):
        (root / name / f"t-{number}").mkdir(parents=True)
        if properties is not None:
            (root / name / "meta.properties").write_text(properties)
    return [str(root / name) for name in meta]


def _of(disk: str = "a", **changed: str) -> str:
    return META.format(**({"cluster": "c", "node": "1", "id": IDS[disk]} | changed))


def _fatal(paths: list[str], node_id: int | None = None) -> str:
    return disk_failures(paths, ReadContext(), is_kraft=True, node_id=node_id).fatal


@pytest.mark.parametrize(
    ("least", "is_reserved"), [(0, True), (1, True), (99, True), (100, False), (2**64, False)]
)
def test_the_first_hundred_directory_ids_are_reserved(
    least: int, is_reserved: bool, tmp_path: Path
) -> None:
    """DirectoryId#reserved: below 100, read as one number of 16 bytes."""
    text = base64.urlsafe_b64encode(least.to_bytes(16, "big")).decode().rstrip("=")
    fatal = _fatal(_made(tmp_path, a=_of(id=text)))
    assert fatal.endswith(f"directory.id {text} is reserved" if is_reserved else "")
    assert bool(fatal) is is_reserved


@pytest.mark.parametrize(
    ("node_id", "why"), [(None, ""), (1, ""), (5, "node 1, and the broker is 5")]
)
def test_the_files_must_be_those_of_the_broker(
    node_id: int | None, why: str, tmp_path: Path
) -> None:
    fatal = _fatal(_made(tmp_path, a=_of()), node_id)
    assert fatal.endswith(why)
    assert bool(fatal) is bool(why)


def test_a_disk_without_a_directory_id_hides_no_other_one(tmp_path: Path) -> None:
    without = _of().partition("directory.id")[0]
    assert _fatal(_made(tmp_path / "one", a=without, b=without)) == ""
    reserved = _of(id="AAAAAAAAAAAAAAAAAAAAAQ")
    assert "is reserved" in _fatal(_made(tmp_path / "other", a=without, b=reserved))


def test_two_metadata_logs_need_no_directory_ids(tmp_path: Path) -> None:
    without = _of().partition("directory.id")[0]
    paths = _made(tmp_path, a=without, b=without)
    for path in map(Path, paths):
        (path / "__cluster_metadata-0").mkdir()
    assert _fatal(paths[:1]) == ""
    assert _fatal(paths).endswith("two metadata logs, and a broker has one")


@pytest.mark.parametrize("is_copied_whole", [False, True])
def test_without_any_meta_properties_other_files_show_that_they_are_missing(
    is_copied_whole: bool, tmp_path: Path
) -> None:
    """A copy of partition folders alone often lacks them."""
    paths = _made(tmp_path, a=None, b=None)
    if is_copied_whole:
        (tmp_path / "b" / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    missing = f"{tmp_path}/b/meta.properties: missing"
    assert _fatal(paths) == (missing if is_copied_whole else "")


@pytest.mark.parametrize("line", ["cluster.id=c\n", "broker.id=1\n"])
def test_node_and_cluster_must_both_be_named(line: str, tmp_path: Path) -> None:
    """MetaPropertiesEnsemble#verify; files of version 0 may lack one of them."""
    fatal = _fatal(_made(tmp_path, a=f"version=0\n{line}"))
    assert fatal == f"{tmp_path}/a/meta.properties: without the id of node or cluster"
