"""The Python API: ``kafkalog_reader.open(...)``."""

from __future__ import annotations

import inspect
import multiprocessing
import pickle
import re
import sys
from typing import TYPE_CHECKING, get_type_hints

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import kafkalog_reader
from examples import write_options
from fixtures import captures
from fixtures.builder import cluster, replica
from kafkalog_reader.cli.table import OF_ROWS, OF_SOME_TABLES
from kafkalog_reader.errors import (
    CorruptRecordError,
    MissingPackageError,
    OptionError,
    SalvageCountError,
    UsageError,
)
from kafkalog_reader.registry import TABLES
from kafkalog_reader.table_scan import ScanTask
from kafkalog_reader.tables.options import OPTIONS, ReadOptions
from kafkalog_reader.tables.request import ReadRequest
from spark_datasource.option_names import KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPLIT = captures.path("s3_2/both-led")
EVERYTHING = captures.path("everything/stopped")


@pytest.fixture(scope="module")
def log() -> kafkalog_reader.Log:
    return kafkalog_reader.open(EVERYTHING)


def test_a_log_says_what_it_holds(log: kafkalog_reader.Log) -> None:
    split = kafkalog_reader.open(SPLIT)
    assert split.brokers() == [0, 1, 2, 100]
    assert "t" in split.topics()
    assert split.tables() == list(TABLES)
    assert repr(split) == f"<Log of brokers 0, 1, 2, 100: {len(split.topics())} topics>"
    assert repr(split.table("findings").plan()[0]).startswith("<ScanTask of findings: ")
    assert repr(kafkalog_reader.TableDataset(split.records())) == "<TableDataset of records>"
    folders = {path.name.rpartition("-")[0] for path in EVERYTHING.glob("*/*-[0-9]")}
    assert set(log.topics()) == folders


def test_records_are_what_a_consumer_sees(log: kafkalog_reader.Log) -> None:
    seen = log.records(topic="codec-none").to_arrow()
    everything = log.table("records", topic="codec-none").to_arrow()
    assert seen.column_names == [
        "key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers",
    ]  # fmt: skip
    assert set(seen.column_names) < set(everything.column_names)
    offsets = set(everything["offset"].to_pylist())
    assert seen.num_rows == len(offsets)  # however many copies there are
    assert log.records(topic="codec-none").count() == seen.num_rows


def test_the_metadata_log_is_among_the_records_only_where_it_is_named() -> None:
    split = kafkalog_reader.open(SPLIT)
    assert "__cluster_metadata" in split.topics()
    assert "__cluster_metadata" not in split.records(["topic"]).to_arrow()["topic"].to_pylist()
    assert split.records(topic="__cluster_metadata").count() > 0


def test_a_scan_is_lazy_and_can_be_read_again(tmp_path: Path) -> None:
    cluster(tmp_path, {1: replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3)})
    scan = kafkalog_reader.open(tmp_path).records(topic="t").select("offset", "partition")
    assert scan.schema.names == ["offset", "partition"]
    (segment,) = tmp_path.glob("*/t-0/*.log")
    sound = segment.read_bytes()
    assert scan.to_arrow().column_names == ["offset", "partition"]
    first = scan.to_arrow()
    segment.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    with pytest.raises(CorruptRecordError):
        scan.to_arrow()
    segment.write_bytes(sound)
    assert scan.to_arrow().equals(first)
    assert repr(scan) == "<TableScan of records: offset, partition>"


def test_every_library_reads_the_same_rows(log: kafkalog_reader.Log) -> None:
    scan = log.records(["offset", "value"], topic="codec-none")
    whole = scan.to_arrow()
    assert whole.num_rows > 0
    assert pa.table(scan).equals(whole)
    assert pa.Table.from_batches(list(scan), scan.schema).equals(whole)
    assert pl.DataFrame(scan).equals(scan.to_polars())
    assert scan.to_polars().to_arrow()["offset"].to_pylist() == whole["offset"].to_pylist()
    assert duckdb.sql("select count(*) from scan").fetchall() == [(whole.num_rows,)]


def test_a_plan_is_all_rows_in_parts_that_other_processes_read(log: kafkalog_reader.Log) -> None:
    scan = log.table("records", ["topic", "partition", "offset"], broker=0)
    tasks = scan.plan(max_partition_bytes=2000)
    assert len(tasks) > len(scan.plan())
    assert sum(task.size_in_bytes for task in tasks) > 0
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        parts = pool.map(ScanTask.to_arrow, tasks[:3])
    parts += [pickle.loads(pickle.dumps(task)).to_arrow() for task in tasks[3:]]
    assert pa.concat_tables(parts).equals(scan.to_arrow().combine_chunks())
    with pytest.raises(OptionError, match="limit: a scan with a limit"):
        log.records(limit=3).plan()


def test_a_log_warns_once_of_what_it_skips(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster(tmp_path, {1: replica("0-4/e0", high_watermark=5)})
    folder = tmp_path / "broker-1" / "t-0"
    for name in (f"{5:020}.log", "../u-0"):
        (folder / name).symlink_to(folder)
    for _ in range(2):
        caplog.clear()
        log = kafkalog_reader.open(tmp_path)
        for _ in range(2):
            assert log.records(topic="t").count() == 5
            assert [each for each in log.verify(threads=2) if each.topic == "t"]
        assert len([each for each in caplog.messages if "not followed" in each]) == 2


def test_a_salvage_notes_what_it_skips_although_it_was_said(tmp_path: Path) -> None:
    cluster(tmp_path / "logs", {1: replica("0-4/e0", high_watermark=5)})
    link = tmp_path / "logs" / "broker-1" / "t-0" / f"{5:020}.log"
    link.symlink_to(tmp_path)
    log = kafkalog_reader.open(tmp_path / "logs")
    assert log.records().count() == 5
    (salvaged,) = log.salvage(tmp_path / "saved")
    assert f"{link}: symbolic link, not followed" in salvaged.warnings


def test_a_salvage_needs_a_folder(log: kafkalog_reader.Log) -> None:
    with pytest.raises(UsageError, match="None is not a path"):
        log.salvage(None)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="'' is not a folder"):
        log.salvage("")


def test_verdicts_and_kinds_of_elections_compare_with_text() -> None:
    audit = kafkalog_reader.open(captures.path("s3_2/both-led")).diff("t", 0)
    assert audit.verdict == "forked"
    assert [each.kind for each in audit.elections] == ["clean", "clean", "unclean"]


def test_another_working_directory_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster(tmp_path / "logs", {1: replica("0-4/e0", high_watermark=5)})
    monkeypatch.chdir(tmp_path)
    scan = kafkalog_reader.open("logs").table("records")
    (task,) = scan.plan()
    monkeypatch.chdir("/")
    assert scan.count() == task.to_arrow().num_rows == len(scan.plan()) * 5 == 5


def test_a_plan_takes_the_size_of_the_scan_or_its_own(log: kafkalog_reader.Log) -> None:
    whole = log.records(topic="codec-none")
    small = log.records(topic="codec-none", max_partition_bytes="4k")
    assert len(small.plan()) == len(whole.plan(4096)) == len(whole.plan("4k")) > len(whole.plan())
    for size in (0, -1, "large", 1.5):
        with pytest.raises(OptionError, match="max_partition_bytes"):
            whole.plan(size)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda log: log.verify(threads=0), "option threads: 0 is too few"),
        (lambda log: log.verify(threads="2"), "option threads: '2' is not a whole number"),
        (lambda log: log.verify(progress=5), "option progress: 5 is not a function"),
        (lambda log: log.records(progress=5), "option progress: 5 is not a function"),
        (lambda log: log.diff("t", 0, progress=5), "option progress: 5 is not a function"),
        (lambda log: log.salvage("/nowhere", progress=5), "option progress: 5 is not a function"),
        (lambda log: log.records(startingOffsets="earliest"), "here it is 'from_offset'"),
        (lambda log: log.records(subscribe="orders"), "here it is 'topic'"),
        (lambda log: log.records(fromTime=0), "here it is 'from_time'"),
        (lambda log: log.records().select(5), "5 is not a name"),
        (lambda log: kafkalog_reader.open(SPLIT, follow_links="no"), "option follow_links: 'no'"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused_before_a_file_is_read(
    log: kafkalog_reader.Log, ask: Callable[[kafkalog_reader.Log], object], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        ask(log)


def test_columns_are_selected_by_names_or_by_one_list(log: kafkalog_reader.Log) -> None:
    scan = log.records()
    assert scan.select(["offset", "key"]).schema == scan.select("offset", "key").schema
    assert scan.select(["offset", "key"]).schema.names == ["offset", "key"]


def test_progress_is_reported_in_bytes(log: kafkalog_reader.Log) -> None:
    read: list[int] = []
    log.table("batches", topic="codec-none", progress=read.append).to_arrow()
    sizes = [path.stat().st_size for path in EVERYTHING.glob("*/codec-none-*/*.log")]
    assert sum(read) == sum(sizes)


@pytest.mark.parametrize("threads", [1, 2])
def test_verify_yields_the_findings_of_the_table(threads: int) -> None:
    split = kafkalog_reader.open(SPLIT)
    found = [(each.topic, each.partition, each.code) for each in split.verify(threads=threads)]
    rows = split.table("findings").select("topic", "partition", "code").to_arrow().to_pylist()
    assert found == [tuple(row.values()) for row in rows]
    assert ("t", 0, "KL-503") in found


def test_paths_may_be_a_list() -> None:
    folders = sorted(str(each) for each in SPLIT.glob("broker-*"))
    assert kafkalog_reader.open(folders).brokers() == kafkalog_reader.open(*folders).brokers()
    assert len(folders) > 1
    for wrong in (5, b"/tmp", None):
        with pytest.raises(UsageError, match="is not a path: give text"):
            kafkalog_reader.open(wrong)  # type: ignore[arg-type]


def test_diff_is_the_audit_of_one_partition() -> None:
    audit = kafkalog_reader.open(SPLIT).diff("t", 0)
    (row,) = kafkalog_reader.open(SPLIT).table("partitions", topic="t").to_arrow().to_pylist()
    assert (audit.verdict.value, audit.fork_offset) == (row["verdict"], row["forkOffset"])
    assert row["forkOffset"] is not None
    assert repr(audit) == "<PartitionAudit of t-0: forked at offset 2, 3 copies>"
    labels = [each.get_text() for each in audit.figure().axes[0].get_yticklabels()]
    assert labels == ["broker 0", "broker 1", "broker 2"]


def test_one_partition_of_two_clusters_is_two_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A broker whose meta.properties is another cluster's makes every offset come twice."""
    other = "EBESExQVFhcYGRobHB0eHw"
    copy = replica("a@0/e0", high_watermark=1)
    cluster(tmp_path / "one", {1: copy})
    cluster(tmp_path / "two", {2: copy}, cluster_id=other)
    both, one = kafkalog_reader.open(tmp_path), kafkalog_reader.open(tmp_path / "one")
    assert one.records(topic="t").count() == 1
    assert caplog.messages == []
    assert both.records(topic="t").count() == 2
    (warning,) = caplog.messages
    assert f"several clusters ({one.diff('t', 0).cluster_id}, {other})" in warning
    assert "rows of all are shown for t-0." in warning


def test_diff_asks_which_cluster(tmp_path: Path) -> None:
    other = "EBESExQVFhcYGRobHB0eHw"
    cluster(tmp_path / "one", {1: replica("a@0/e0", high_watermark=1)})
    cluster(tmp_path / "two", {1: replica("a@0/e0 b@1/e0", high_watermark=2)}, cluster_id=other)
    log = kafkalog_reader.open(tmp_path)
    with pytest.raises(UsageError, match=f"t-0 is in several clusters: .*{other}"):
        log.diff("t", 0)
    assert log.diff("t", 0, cluster=other).cluster_id == other
    with pytest.raises(UsageError, match="no replica of t-0 in cluster x"):
        log.diff("t", 0, cluster="x")


def test_salvage_writes_what_the_command_writes(tmp_path: Path) -> None:
    cluster(tmp_path / "in", {1: replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3)})
    (done,) = kafkalog_reader.open(tmp_path / "in").salvage(tmp_path / "out")
    assert (done.is_complete, done.records) == (True, 3)
    assert (tmp_path / "out" / "manifest.json").exists()
    with pytest.raises(OptionError, match=r"^option output: .*is not empty"):
        kafkalog_reader.open(tmp_path / "in").salvage(tmp_path / "out")
    with pytest.raises(UsageError, match="merge: only with segments"):
        kafkalog_reader.open(tmp_path / "in").salvage(tmp_path / "new", merge=True)
    assert issubclass(SalvageCountError, kafkalog_reader.KafkaLogError)


def test_what_is_not_there_is_refused_and_not_an_empty_answer(log: kafkalog_reader.Log) -> None:
    with pytest.raises(UsageError, match=r"no topic 'codec-nome' in the given paths. Did you mean"):
        log.records(topic="codec-nome").to_arrow()
    with pytest.raises(UsageError, match=r"has no column 'offsett'. Did you mean 'offset'"):
        log.records().select("offsett")
    with pytest.raises(OptionError, match="from_time: the range ends before it begins"):
        log.records(from_time="2026-01-02", to_time="2026-01-01")
    with pytest.raises(OptionError, match="from_offset: the range ends before it begins"):
        log.table("batches", from_offset=3, to_offset=2)
    assert log.records(from_offset=3, to_offset=3).to_arrow().num_rows == 0
    with pytest.raises(OptionError, match="option deep: does not apply to table records"):
        log.records(deep=True)


def test_an_option_is_declared_once() -> None:
    fields = set(inspect.signature(ReadRequest).parameters)
    assert {option.field for option in OPTIONS.values()} <= fields
    assert set(get_type_hints(ReadOptions)) == set(OPTIONS)
    assert {option.spark for option in OPTIONS.values()} - {None} <= set(KNOWN)
    in_terminal = {name for name, option in OPTIONS.items() if option.is_in_terminal}
    assert set(OF_SOME_TABLES) | OF_ROWS == in_terminal
    for option in OPTIONS.values():
        assert option.tables is None or option.tables <= set(TABLES)


def test_the_page_has_every_option() -> None:
    stored = write_options.PATH.read_text()
    assert stored == write_options.page(stored), "run `make schemas`"
    rows = re.findall(r"^\| `(\w+)` \| .* \| .+ \| .+ \| .+ \|$", stored, re.MULTILINE)
    assert set(OPTIONS) <= set(rows)


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("polars", "polars", lambda: kafkalog_reader.open(SPLIT).records().to_polars()),
        ("pandas", "pandas", lambda: kafkalog_reader.open(SPLIT).records().to_pandas()),
        ("matplotlib", "notebook", lambda: kafkalog_reader.open(SPLIT).diff("t", 0).figure()),
    ],
)
def test_a_missing_package_names_the_extra_that_brings_it(
    package: str, extra: str, call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as if it was not installed
    with pytest.raises(
        MissingPackageError, match=rf"{package} .*pip install 'kafkalog\[{extra}\]'"
    ):
        call()
