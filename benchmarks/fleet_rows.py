"""The rows of many partitions and of large ones: a fleet with Spark, replicas beside ``cmp``."""

from __future__ import annotations

import shutil
import sysconfig
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks.answer import require_same
from benchmarks.fleet import Fleet
from benchmarks.processes import answer_of, seconds_of
from benchmarks.resident import peak_resident_bytes
from benchmarks.row import MIB, Bench, Figure, Row, Target
from benchmarks.segments import RECORDS_PER_BATCH, Segments
from benchmarks.spark_rows import spark_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

PARTITIONS: Final = 100_000
MANY_PARTITIONS: Final = 200_000
TABLES: Final = ("divergence", "elections", "findings")
SEGMENTS: Final = 4
BATCHES_PER_GIB: Final = 66_000


def fleet_of(bench: Bench, partitions: int = PARTITIONS) -> Fleet:
    return Fleet(partitions=partitions // (50 if bench.quick else 1))


def planned(bench: Bench) -> Figure:
    """Seconds for a driver to list the fleet and divide it into pickled tasks; their size."""
    return _planning(bench, fleet_of(bench).directory, table="elections", measured="seconds")


def planned_records(bench: Bench) -> Figure:
    """Processor time of the same for the best copy of each log; 600,000 copies are looked at."""
    fleet = fleet_of(bench, MANY_PARTITIONS)
    return _planning(bench, fleet.in_page_cache, table="records", measured="processor")


def _planning(bench: Bench, directory: Callable[[], Path], *, table: str, measured: str) -> Figure:
    if bench.peers_only:
        return Figure(ours="–", peer="–", value=None)
    answer = answer_of("benchmarks.fleet_plan", str(directory()), table)
    ours = (
        f"{answer[measured]:.1f} s, {answer['resident'] / MIB:.0f} MiB; {answer['tasks']:,} tasks "
        f"of {answer['pickled'] / answer['tasks'] / 1024:.0f} KiB"
    )
    return Figure(ours=ours, peer="–", value=answer[measured])


def compared(bench: Bench) -> Figure:
    """Minutes for Spark to read the three tables of the fleet on two cores; driver memory."""
    if bench.peers_only:
        return Figure(ours="–", peer="–", value=None)
    fleet = fleet_of(bench)
    with spark_session() as spark:
        start = time.perf_counter()
        for name in TABLES:
            rows = spark.read.format("kafkalog").option("table", name).load(str(fleet.directory()))
            if name == "findings":
                forked = rows.where("code = 'KL-503'").select("topic", "partition").distinct()
                require_same(name, forked.count(), fleet.count("forked"))
            else:
                rows.write.format("noop").mode("overwrite").save()
        minutes = (time.perf_counter() - start) / 60
        driver = peak_of_driver(spark) / MIB
    return Figure(ours=f"{minutes:.1f} min, driver {driver:.0f} MiB", peer="–", value=minutes)


def peak_of_driver(spark: SparkSession) -> int:
    """Peak memory in bytes of a driver's Python and JVM, local tasks included."""
    jvm = spark.sparkContext._gateway.proc.pid
    return sum(peak_resident_bytes(process) for process in ("self", jvm))


def against_cmp(bench: Bench) -> Figure:
    """The whole of ``replica-diff`` over two equal replicas, and ``cmp`` over their segments."""
    batches = BATCHES_PER_GIB // (16 if bench.quick else 1)
    records = batches * RECORDS_PER_BATCH
    one = Segments(segments=SEGMENTS, records_per_segment=records).partition_directory()
    root = one.parent / "copies"
    for broker in (1, 2):
        here = root / str(broker) / one.name
        if not here.is_dir():
            shutil.copytree(one, here)
    command = [
        str(Path(sysconfig.get_path("scripts")) / "replica-diff"),
        *(f"{broker}={root / str(broker)}" for broker in (1, 2)),
    ]
    ours, peer = [], []
    for _ in range(2 if bench.quick else 4):  # the first warms the page cache
        peer.append(sum(seconds_of(["cmp", str(a), str(b)]) for a, b in _pairs(root, one.name)))
        if not bench.peers_only:
            ours.append(seconds_of(command))
    ratios = [mine / theirs for mine, theirs in zip(ours[1:], peer[1:], strict=False)]
    return Figure(
        ours=f"{median(ours[1:]):.2f} s" if ours else "–",
        peer=f"{median(peer[1:]):.2f} s",
        value=median(ratios) if ratios else None,
        spread=(min(ratios), max(ratios)) if ratios else None,
    )


def _pairs(root: Path, name: str) -> Iterator[tuple[Path, Path]]:
    for segment in sorted((root / "1" / name).glob("*.log")):
        yield segment, root / "2" / name / segment.name


FLEET_ROWS: Final = (
    Row(
        name="fleet-plan",
        work=f"a fleet of {PARTITIONS:,} partitions × 3 replicas planned",
        against="–",
        target=Target(60, "s"),
        measure=planned,
    ),
    Row(
        name="fleet-plan-records",
        work=f"`records` of {MANY_PARTITIONS:,} partitions × 3 replicas planned, processor time",
        against="–",
        target=Target(60, "s"),
        measure=planned_records,
    ),
    Row(
        name="fleet-compare",
        work=f"its {', '.join(TABLES[:-1])} and {TABLES[-1]} with Spark, one query each",
        against="–",
        target=Target(15, "min"),
        measure=compared,
    ),
    Row(
        name="replica-diff-cmp",
        work="`replica-diff` of two equal 4 GiB replicas, every CRC",
        against="`cmp` of their segments",
        target=Target(1.5, "× its time"),
        measure=against_cmp,
    ),
)
