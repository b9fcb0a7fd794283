"""The rows about hostile and damaged bytes: how long finding out takes."""

from __future__ import annotations

import struct
import sysconfig
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks.hostile_segments import SHAPES, write_hostile
from benchmarks.rounds import one_core
from benchmarks.row import MIB, Bench, Figure, Row, Target
from benchmarks.segments import TOPIC, Segments
from benchmarks.verify_rows import GIGABYTES, KAFKALOG, NOTHING, read_all, seconds, speed

if TYPE_CHECKING:
    from collections.abc import Iterator

REPLICA_DIFF: Final = str(Path(sysconfig.get_path("scripts")) / "replica-diff")
_LENGTH: Final = struct.Struct(">i")
_PAYLOAD: Final = 70
"""A byte inside of the first record of a batch."""


def hostile_speed(shape: str, bench: Bench) -> Figure:
    """How fast the table ``batches`` gets to the end of a segment without a sound batch."""
    if bench.peers_only:
        return NOTHING
    size = _size(bench)
    with tempfile.TemporaryDirectory(prefix="kafkalog-bench-") as scratch, one_core():
        directory = write_hostile(shape, Path(scratch), size)
        return speed(partial(read_all, str(directory), "batches"), size, rounds=3)


def verify_hostile(bench: Bench) -> Figure:
    """``verify`` as a process from start to end, of each shape; the slowest counts."""
    if bench.peers_only:
        return NOTHING
    size = _size(bench)
    speeds = {}
    for shape in SHAPES:
        with tempfile.TemporaryDirectory(prefix="kafkalog-bench-") as scratch, one_core():
            command = [KAFKALOG, "verify", str(write_hostile(shape, Path(scratch), size))]
            seconds(command)
            speeds[shape] = size / 1e9 / median(seconds(command) for _ in range(3))
    slowest = min(speeds, key=speeds.__getitem__)
    value = speeds[slowest]
    return Figure(
        ours=f"{value:.2f} {GIGABYTES} ({slowest})",
        peer="–",
        value=value,
        spread=(value, max(speeds.values())),
    )


def compare_damaged(bench: Bench) -> Figure:
    """``replica-diff`` as a process: every second batch of one of two copies is damaged."""
    if bench.peers_only:
        return NOTHING
    records = 200_000 if bench.quick else 1_480_000
    sound = Segments(records_per_batch=1, records_per_segment=records).file()
    with tempfile.TemporaryDirectory(prefix="kafkalog-bench-", dir=sound.parent.parent) as scratch:
        content = bytearray(sound.read_bytes())
        copies = [Path(scratch) / broker / f"{TOPIC}-0" / sound.name for broker in "12"]
        for copy in copies:
            copy.parent.mkdir(parents=True)
        copies[0].write_bytes(content)
        for position in [*_batches(content)][::2]:
            content[position + _PAYLOAD] ^= 1
        copies[1].write_bytes(content)
        command = [REPLICA_DIFF, scratch]
        seconds(command)
        value = median(seconds(command) for _ in range(3))
    return Figure(ours=f"{value:.2f} s", peer="–", value=value)


def _batches(content: bytearray) -> Iterator[int]:
    position = 0
    while position < len(content):
        yield position
        position += 12 + _LENGTH.unpack_from(content, position + 8)[0]


def _size(bench: Bench) -> int:
    return (64 if bench.quick else 1024) * MIB


def _hostile_row(shape: str) -> Row:
    return Row(
        name=f"hostile-{shape}",
        work=f"behind damage: 1 GiB of hostile bytes, {shape}",
        against="–",
        target=Target(0.5, GIGABYTES),
        measure=lambda bench: hostile_speed(shape, bench),
    )


HOSTILE_ROWS: Final = (
    *map(_hostile_row, SHAPES),
    Row(
        name="verify-hostile",
        work="`verify` of the same as a process, findings and start included, the slowest",
        against="–",
        target=Target(0.5, GIGABYTES),
        measure=verify_hostile,
    ),
    Row(
        name="compare-damaged",
        work="`replica-diff` of two copies of 250 MB, every second batch of one damaged (740,000)",
        against="–",
        target=Target(5, "s"),
        measure=compare_damaged,
    ),
)
