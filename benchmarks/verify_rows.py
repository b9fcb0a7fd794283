"""The rows about ``verify`` and ``dump``: bytes a second of processor time."""

from __future__ import annotations

import subprocess
import sysconfig
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

import kafkalog_reader
from benchmarks.answer import DifferentAnswerError
from benchmarks.indexed_segments import indexed_directory
from benchmarks.process_rows import peak_beyond_imports
from benchmarks.rounds import alternate, one_core
from benchmarks.row import MIB, Bench, Figure, Row, Target, speed_figure
from benchmarks.segments import RECORDS_PER_BATCH, Segments
from fixtures.jars import LATEST_TOOLS, class_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GIGABYTES: Final = "GB/s"
KAFKALOG: Final = str(Path(sysconfig.get_path("scripts")) / "kafkalog")
DUMP_TOOL: Final = "org.apache.kafka.tools.DumpLogSegments"
NOTHING: Final = Figure(ours="–", peer="–", value=None)


def verify_speed(segments: Segments, bench: Bench) -> Figure:
    """Everything ``verify`` checks without ``--deep``, on one core."""
    if bench.peers_only:
        return NOTHING
    directory = indexed_directory(segments)
    with one_core():
        return speed(partial(read_all, str(directory), "findings"), _size(directory), rounds=7)


def verify_threads(partitions: int, bench: Bench) -> Figure:
    """Two threads against one: start-up counts in both, and matters less for larger inputs."""
    return _against_one_thread(
        bench, lambda directory: [[directory, "--threads", "2"]], partitions=partitions
    )


def verify_processes(bench: Bench) -> Figure:
    """Two processes with half of the partitions each: what this machine gains from two cores."""

    def halves(directory: Path) -> list[list[Path | str]]:
        partitions = sorted(directory.iterdir())
        return [[*partitions[::2]], [*partitions[1::2]]]

    return _against_one_thread(bench, halves)


def _against_one_thread(
    bench: Bench,
    side_by_side: Callable[[Path], Sequence[Sequence[Path | str]]],
    *,
    partitions: int = 64,
) -> Figure:
    """Commands side by side against one thread for all partitions of 537 MB."""
    if bench.peers_only:
        return NOTHING
    directory = indexed_directory(_full_batches(bench), copies=partitions)
    commands = [[KAFKALOG, "verify", *map(str, each)] for each in side_by_side(directory)]
    alone = [KAFKALOG, "verify", str(directory), "--threads", "1"]
    rounds = alternate(partial(seconds, *commands), partial(seconds, alone), bench.rounds)
    return speed_figure(rounds, _size(directory), "bytes")


def every_batch_indexed(bench: Bench) -> Figure:
    """23 MB of one-record batches whose indexes have an entry for each."""
    if bench.peers_only:
        return NOTHING
    segments = Segments(records_per_batch=1, records_per_segment=138_000)
    directory = indexed_directory(segments, interval=0)
    with one_core():
        seconds = [read_all(str(directory), "findings") for _ in range(5)]
    return Figure(ours=f"{median(seconds):.3f} s", peer="128 s", value=median(seconds))


def dump_against_kafka(bench: Bench) -> Figure:
    """Both as whole processes, Java's start included; the same text."""
    batches = 1_000 if bench.quick else 12_000
    log = Segments(records_per_segment=batches * RECORDS_PER_BATCH).file()
    java = ["java", "-XX:+UseSerialGC", "-Xmx1500m", "-cp", class_path(LATEST_TOOLS), DUMP_TOOL,
            "--print-data-log", "--files", str(log)]  # fmt: skip
    ours = [KAFKALOG, "dump", "--print-data-log", str(log)]
    if not bench.peers_only and _lines(ours) != _lines(java):
        raise DifferentAnswerError(f"{log}: the two dumps differ")
    with one_core():
        mine = None if bench.peers_only else partial(seconds, ours)
        rounds = alternate(mine, partial(seconds, java), 3 if bench.quick else 5)
    return speed_figure(rounds, log.stat().st_size, "bytes")


def command_memory(work: str, bench: Bench) -> Figure:
    """What ``verify`` or ``salvage`` of 1 GiB keep in memory beyond their imports."""
    if bench.peers_only:
        return NOTHING
    batches = 66_000 // (16 if bench.quick else 1)
    segments = Segments(records_per_segment=batches * RECORDS_PER_BATCH)
    beyond = peak_beyond_imports(segments.file(), work) / MIB
    return Figure(ours=f"{beyond:.0f} MiB", peer="–", value=beyond)


def _full_batches(bench: Bench) -> Segments:
    return Segments(records_per_segment=(3_000 if bench.quick else 33_000) * RECORDS_PER_BATCH)


def _one_record_batches(bench: Bench) -> Segments:
    return Segments(records_per_batch=1, records_per_segment=200_000 if bench.quick else 1_480_000)


def read_all(path: str, table: str) -> float:
    """Seconds of processor time, which depend least on a busy machine."""
    start = time.process_time()
    for _ in kafkalog_reader.open(path).table(table, mode="DROPMALFORMED"):
        pass
    return time.process_time() - start


def seconds(*commands: Sequence[str]) -> float:
    """Until the last of the commands that run side by side has ended."""
    start = time.perf_counter()
    null = subprocess.DEVNULL
    for running in [subprocess.Popen(each, stdout=null, stderr=null) for each in commands]:
        running.wait()
    return time.perf_counter() - start


def _lines(command: Sequence[str]) -> int:
    done = subprocess.run(command, check=True, capture_output=True)
    return hash(done.stdout.split(b"\n", 1)[1])  # the first names the file in two ways


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*.log"))


def speed(work: Callable[[], float], size: int, rounds: int) -> Figure:
    work()
    speeds = [size / 1e9 / work() for _ in range(rounds)]
    value = median(speeds)
    spread = (min(speeds), max(speeds))
    return Figure(ours=f"{value:.2f} {GIGABYTES}", peer="–", value=value, spread=spread)


def _memory_row(work: str) -> Row:
    return Row(
        name=f"memory-{work}",
        work=f"memory beyond imports, `{work}` of a 1 GiB segment",
        against="–",
        target=Target(256, "MiB"),
        measure=lambda bench: command_memory(work, bench),
    )


VERIFY_ROWS: Final = (
    Row(
        name="verify-full",
        work="`verify`, everything on, 148 records a batch",
        against="–",
        target=Target(2, GIGABYTES),
        measure=lambda bench: verify_speed(_full_batches(bench), bench),
    ),
    Row(
        name="verify-one-record",
        work="the same, one-record batches",
        against="–",
        target=Target(2, GIGABYTES),
        measure=lambda bench: verify_speed(_one_record_batches(bench), bench),
    ),
    Row(
        name="verify-threads",
        work="`verify --threads 2` of 64 partitions, 34 GB",
        against="`--threads 1`",
        target=Target(1.7),
        measure=partial(verify_threads, 64),
    ),
    Row(
        name="verify-threads-small",
        work="the same of 16 partitions, 9 GB (for information: the start counts in both)",
        against="`--threads 1`",
        target=None,
        measure=partial(verify_threads, 16),
    ),
    Row(
        name="verify-processes",
        work="34 GB as two processes, half of the partitions each (for information)",
        against="`--threads 1`",
        target=None,
        measure=verify_processes,
    ),
    Row(
        name="verify-every-entry",
        work="`verify`, 23 MB of one-record batches, an entry for each in both indexes",
        against="kafka-dump-log, once",
        target=Target(0.5, "s"),
        measure=every_batch_indexed,
    ),
    Row(
        name="dump",
        work="`dump --print-data-log`, as a process",
        against="kafka-dump-log (DumpLogSegments), cold",
        target=Target(2),
        measure=dump_against_kafka,
    ),
    _memory_row("verify"),
    _memory_row("salvage"),
)
