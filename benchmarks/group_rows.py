"""The rows about internal topics: offset commits, groups and the replay of cluster metadata."""

from __future__ import annotations

import time
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final

import kafkalog_reader
from benchmarks.answer import require_same
from benchmarks.commit_log import GROUPS, PARTITIONS_OF_A_GROUP, CommitLog
from benchmarks.fleet_rows import PARTITIONS, fleet_of
from benchmarks.rounds import alternate, one_core
from benchmarks.row import MIB, Bench, Figure, Row, Target, speed_figure
from benchmarks.spark_rows import spark_session
from benchmarks.verify_rows import KAFKALOG, seconds
from fixtures.dump import LATEST_TOOL
from fixtures.jars import LATEST_TOOLS, class_path
from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BATCH: Final = 148
NOTHING: Final = Figure(ours="–", peer="–", value=None)


def against_dump_log(bench: Bench) -> Figure:
    """Both as whole processes that print each commit, Java's start included."""
    log = CommitLog(size=(4 if bench.quick else 64) * MIB, commits_per_batch=BATCH)
    segment = str(log.segment())
    java = ["java", "-XX:+UseSerialGC", "-Xmx1500m", "-cp", class_path(LATEST_TOOLS), LATEST_TOOL,
            "--offsets-decoder", "--files", segment]  # fmt: skip
    ours = [KAFKALOG, "table", "group_commits", segment, "--format", "arrow"]
    with one_core():
        mine = None if bench.peers_only else partial(seconds, ours)
        rounds = alternate(mine, partial(seconds, java), 3)
    return speed_figure(rounds, log.segment().stat().st_size, "bytes")


def decoded(commits_per_batch: int, bench: Bench) -> Figure:
    """Commits a second of one core, all columns."""
    if bench.peers_only:
        return NOTHING
    size = (16 if bench.quick else 1024) * MIB
    log = CommitLog(size=size, commits_per_batch=commits_per_batch)
    speeds = []
    with one_core():
        for _ in range(4):  # the first warms the page cache
            start, count = time.process_time(), 0
            for rows in kafkalog_reader.open(log.directory()).table("group_commits").to_batches():
                count += rows.num_rows
            speeds.append(count / (time.process_time() - start) / 1e6)
    return Figure(
        ours=f"{median(speeds[1:]):.2f} M commits/s", peer="–", value=median(speeds[1:]),
        spread=(min(speeds[1:]), max(speeds[1:])),
    )  # fmt: skip


def groups_of_a_cluster(bench: Bench) -> Figure:
    """Seconds for Spark to read ``group_offsets`` of all partitions on two cores.

    The files are in the page cache. Otherwise the disk counts: pages that a read brings in are let
    go again, and nothing is read ahead.
    """
    if bench.peers_only:
        return NOTHING
    partitions = 4 if bench.quick else 50
    log = CommitLog(partitions=partitions, size=200 * MIB, commits_per_batch=BATCH)
    _into_page_cache(log.directory())
    with spark_session() as spark:
        rows = spark.read.format("kafkalog").option("table", "group_offsets")
        rows.load(str(log.directory())).where("partition = -1").count()  # warms the workers
        start = time.perf_counter()
        count = rows.load(str(log.directory())).count()
        taken = time.perf_counter() - start
    require_same("groups", count, partitions * GROUPS * PARTITIONS_OF_A_GROUP)
    return Figure(ours=f"{taken:.1f} s", peer="–", value=taken)


def _into_page_cache(directory: Path) -> None:
    for path in directory.rglob("*.log"):
        with path.open("rb") as file:
            while file.read(8 * MIB):
                pass


def replayed(bench: Bench) -> Figure:
    """Processor seconds to replay the metadata log of the fleet of ``fleet-plan``."""
    if bench.peers_only:
        return NOTHING
    evidence = kafkalog_reader.open(fleet_of(bench).directory()).evidence
    start = time.process_time()
    (cluster,) = read_cluster_metadata(evidence).values()
    taken = time.process_time() - start
    require_same("partitions", len(cluster.partitions), fleet_of(bench).partitions)
    return Figure(ours=f"{taken:.1f} s", peer="–", value=taken)


def _decoding(commits_per_batch: int) -> Callable[[Bench], Figure]:
    return partial(decoded, commits_per_batch)


GROUP_ROWS: Final = (
    Row(
        name="commits-dump-log",
        work="`table group_commits` as a process, offset commits",
        against="kafka-dump-log --offsets-decoder, cold",
        target=Target(10),
        measure=against_dump_log,
    ),
    Row(
        name="commits",
        work=f"`group_commits` of 1 GiB, all columns, {BATCH} commits a batch, one core",
        against="–",
        target=Target(3, "M commits/s"),
        measure=_decoding(BATCH),
    ),
    Row(
        name="commits-one-record",
        work="the same with one commit a batch",
        against="–",
        target=Target(3, "M commits/s"),
        measure=_decoding(1),
    ),
    Row(
        name="group-offsets",
        work="`group_offsets` of 50 partitions of 200 MiB with Spark",
        against="–",
        target=Target(20, "s"),
        measure=groups_of_a_cluster,
    ),
    Row(
        name="metadata-replay",
        work=f"the metadata log of {PARTITIONS:,} partitions replayed",
        against="–",
        target=Target(5, "s"),
        measure=replayed,
    ),
)
