"""The rows about whole processes: their memory and start-up time."""

from __future__ import annotations

import json
import sys
import sysconfig
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.processes import answer_of, seconds_of
from benchmarks.row import MIB, Bench, Figure, Row, Target
from benchmarks.segments import RECORDS_PER_BATCH, Segments

START_UP_ROUNDS: Final = 15
BATCHES_PER_GIB: Final = {"none": 66_000, "zstd": 157_000}
"""Makes a file of 1 GiB, compressed or not: the size at which a broker rolls a segment."""


def resident_memory(codec: str, bench: Bench) -> Figure:
    """Peak memory of a fresh process that reads 1 GiB, less its peak when all was imported."""
    if bench.peers_only:
        return Figure(ours="–", peer="–", value=None)
    batches = BATCHES_PER_GIB[codec] // (16 if bench.quick else 1)
    segment = Segments(codec=codec, records_per_segment=batches * RECORDS_PER_BATCH).file()
    beyond = peak_beyond_imports(segment, "records") / MIB
    return Figure(ours=f"{beyond:.0f} MiB", peer="–", value=beyond)


def peak_beyond_imports(segment: Path, work: str) -> int:
    """Bytes that a fresh process needs for some work (see ``benchmarks.resident``) on a segment."""
    modules = answer_of("benchmarks.resident", str(segment), work)["modules"]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(modules, file)
        file.flush()
        answer = answer_of("benchmarks.resident", str(segment), work, file.name)
    beyond: int = answer["read"]
    return beyond


def start_up(arguments: list[str], bench: Bench) -> Figure:
    """The time of a command minus that of an interpreter that does nothing."""
    command = [str(Path(sysconfig.get_path("scripts")) / "kafkalog"), *arguments]
    rounds = 5 if bench.quick else START_UP_ROUNDS
    ours, peer = [], []
    for _ in range(rounds):
        peer.append(seconds_of([sys.executable, "-c", "pass"]))
        if not bench.peers_only:
            ours.append(seconds_of(command))
    return Figure(
        ours=f"{median(ours):.3f} s" if ours else "–",
        peer=f"{median(peer):.3f} s",
        value=median(ours) - median(peer) if ours else None,
    )


def _list_small_directory(bench: Bench) -> Figure:
    directory = Segments(records_per_segment=RECORDS_PER_BATCH).partition_directory()
    return start_up(["ls", str(directory)], bench)


def _memory_row(codec: str) -> Row:
    text = "uncompressed" if codec == "none" else codec
    return Row(
        name=f"memory-{codec}",
        work=f"memory beyond imports, 1 GiB segment, {text}",
        against="–",
        target=Target(256, "MiB"),
        measure=lambda bench: resident_memory(codec, bench),
    )


PROCESS_ROWS: Final = (
    _memory_row("none"),
    _memory_row("zstd"),
    Row(
        name="start-help",
        work="`kafkalog --help`, longer than",
        against="`python -c pass`",
        target=Target(0.15, "s"),
        measure=lambda bench: start_up(["--help"], bench),
    ),
    Row(
        name="start-ls",
        work="`kafkalog ls` of a small directory, longer than",
        against="`python -c pass`",
        target=Target(0.5, "s"),
        measure=_list_small_directory,
    ),
)
