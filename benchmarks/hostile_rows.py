"""The rows about hostile and damaged bytes."""

from __future__ import annotations

import struct
import sysconfig
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks.damaged_segments import DAMAGES, write_damaged
from benchmarks.hostile_segments import SHAPES, write_hostile
from benchmarks.rounds import one_core
from benchmarks.row import MIB, Bench, Figure, Row, Target
from benchmarks.segments import TOPIC, Segments
from benchmarks.verify_rows import GIGABYTES, NOTHING, read_all, seconds, speed

if TYPE_CHECKING:
    from collections.abc import Iterator

REPLICA_DIFF: Final = str(Path(sysconfig.get_path("scripts")) / "replica-diff")
_LENGTH: Final = struct.Struct(">i")
_PAYLOAD: Final = 70
"""A byte in the first record of a batch."""


def damaged_speed(kind: str, bench: Bench) -> Figure:
    """How fast the table ``batches`` reads a segment with damage as it occurs on disks."""
    if bench.peers_only:
        return NOTHING
    size = _size(bench)
    with tempfile.TemporaryDirectory(prefix="kafkalog-bench-") as scratch, one_core():
        directory = write_damaged(kind, Path(scratch), size)
        return speed(partial(read_all, str(directory), "batches"), size, rounds=3)


def hostile_seconds(bench: Bench) -> Figure:
    """The table ``findings`` of each hostile shape, processor time; the slowest counts."""
    if bench.peers_only:
        return NOTHING
    size = _size(bench)
    taken = {}
    for shape in SHAPES:
        with tempfile.TemporaryDirectory(prefix="kafkalog-bench-") as scratch, one_core():
            taken[shape] = read_all(str(write_hostile(shape, Path(scratch), size)), "findings")
    slowest = max(taken, key=taken.__getitem__)
    value = taken[slowest]
    return Figure(
        ours=f"{value:.1f} s ({slowest})",
        peer="–",
        value=value,
        spread=(min(taken.values()), value),
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


def _damage_row(kind: str) -> Row:
    return Row(
        name=f"damage-{kind}",
        work=f"`batches` of a 1 GiB segment with {kind.replace('-', ' ')}",
        against="–",
        target=Target(1, GIGABYTES),
        measure=lambda bench: damaged_speed(kind, bench),
    )


HOSTILE_ROWS: Final = (
    *map(_damage_row, DAMAGES),
    Row(
        name="verify-hostile",
        work="`findings` of 1 GiB of hostile bytes, processor time, the slowest of twelve shapes",
        against="–",
        target=Target(30, "s"),
        measure=hostile_seconds,
    ),
    Row(
        name="compare-damaged",
        work="`replica-diff` of two copies of 250 MB, every second batch of one damaged (740,000)",
        against="–",
        target=Target(5, "s"),
        measure=compare_damaged,
    ),
)
