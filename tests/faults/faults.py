"""The fault catalogue of one replica as code: each fault changes a copy of what a broker wrote.

``expected`` are the headlines: codes of the findings that no other finding causes. ``hot`` replaces
them for a replica of a broker that was killed (no clean-shutdown marker).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafkalog_reader.format.crc import compute_crc32c

MIDDLE: Final = "00000000000000000024"
LAST: Final = "00000000000000000048"
Change = Callable[[Path], None]
"""Gets the partition directory; its parent is the log directory."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the catalogue."""

    id: str
    what: str
    change: Change
    expected: frozenset[str]
    hot: frozenset[str] | None = None

    def expected_of(self, *, is_hot: bool) -> frozenset[str]:
        return self.hot if is_hot and self.hot is not None else self.expected


def batch_starts(content: bytes) -> list[int]:
    """Positions of the batches of a sound segment."""
    starts, at = [], 0
    while at < len(content):
        starts.append(at)
        at += 12 + int.from_bytes(content[at + 8 : at + 12], "big")
    return starts


def edit(name: str, change: Callable[[bytearray], None]) -> Change:
    """Change the bytes of one file of the partition directory."""

    def apply(directory: Path) -> None:
        path = directory / name
        content = bytearray(path.read_bytes())
        change(content)
        path.write_bytes(content)

    return apply


def in_batch(
    number: int, at: int, layout: str, value: Callable[[int], int], *, fix: bool
) -> Change:
    """Change one header field of a batch of the middle segment; with ``fix`` its CRC follows."""

    def change(content: bytearray) -> None:
        starts = [*batch_starts(content), len(content)]
        start, stop = starts[number], starts[number + 1]
        (old,) = struct.unpack_from(layout, content, start + at)
        struct.pack_into(layout, content, start + at, value(old))
        if fix:
            crc = compute_crc32c(bytes(content[start + 21 : stop]))
            struct.pack_into(">I", content, start + 17, crc)

    return edit(f"{MIDDLE}.log", change)


def swap_batches(content: bytearray) -> None:
    starts = batch_starts(content)
    a, b, c = starts[1], starts[2], starts[3]
    content[a:c] = content[b:c] + content[a:b]


def repeat_batch(content: bytearray) -> None:
    starts = batch_starts(content)
    content[starts[2] : starts[2]] = content[starts[1] : starts[2]]


def remove_batch(content: bytearray) -> None:
    starts = batch_starts(content)
    del content[starts[1] : starts[2]]


def tear(content: bytearray) -> None:
    del content[-7:]


def zeros_inside(content: bytearray) -> None:
    starts = batch_starts(content)
    content[starts[2] : starts[2]] = bytes(61)


def remove(*names: str) -> Change:
    def apply(directory: Path) -> None:
        for name in names:
            (directory / name).unlink()

    return apply


def write(name: str, content: bytes) -> Change:
    def apply(directory: Path) -> None:
        (directory / name).write_bytes(content)

    return apply


def row(checkpoint: str, offset: int) -> Change:
    """Set the partition's row of an offset checkpoint."""

    def apply(directory: Path) -> None:
        topic, partition = directory.name.rsplit("-", 1)
        path = directory.parent / checkpoint
        path.write_text(f"0\n1\n{topic} {partition} {offset}\n")

    return apply


def marker(directory: Path) -> None:
    (directory.parent / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')


def all_of(*changes: Change) -> Change:
    def apply(directory: Path) -> None:
        for change in changes:
            change(directory)

    return apply


def rename_segment(directory: Path) -> None:
    for path in list(directory.glob(f"{MIDDLE}.*")):
        path.rename(directory / path.name.replace("24.", "25.", 1))


def time_entry(timestamp: int) -> Change:
    return write(f"{MIDDLE}.timeindex", struct.pack(">qi", timestamp, 23))


def index_entry(relative_offset: int, position: int) -> Change:
    return write(f"{MIDDLE}.index", struct.pack(">ii", relative_offset, position))


def codes(*numbers: int) -> frozenset[str]:
    return frozenset(f"KL-{number:03d}" for number in numbers)


EPOCHS: Final = "leader-epoch-checkpoint"
FLIP: Final = in_batch(1, 80, "B", lambda old: old ^ 4, fix=False)
FAULTS: Final = (
    Fault("A01", "one bit of record bytes", FLIP, codes(101)),
    Fault("A02", "one bit of the stored CRC",
          in_batch(1, 17, ">I", lambda old: old ^ 1, fix=False), codes(101)),
    Fault("A06", "low bit of the base offset", in_batch(1, 0, ">q", lambda old: old ^ 1, fix=False),
          codes(111)),
    Fault("A07", "high bit of the base offset",
          in_batch(1, 0, ">q", lambda old: old ^ (1 << 40), fix=False), codes(111)),
    Fault("A08", "a bit of the leader epoch",
          in_batch(1, 12, ">i", lambda old: old ^ 4, fix=False), codes(112)),
    Fault("A12", "records count 2^31 - 1, CRC fixed",
          in_batch(1, 57, ">i", lambda _: 2**31 - 1, fix=True), codes(107)),
    Fault("A13", "last offset delta -1, CRC fixed",
          in_batch(1, 23, ">i", lambda _: -1, fix=True), codes(107)),
    Fault("A15", "control bit on user data, CRC fixed",
          in_batch(1, 21, ">h", lambda old: old | 32, fix=True), codes(107)),
    Fault("A16", "producer epoch without producer id, CRC fixed",
          in_batch(1, 51, ">h", lambda _: 3, fix=True), codes(107)),
    Fault("A17", "two batches swapped", edit(f"{MIDDLE}.log", swap_batches), codes(111)),
    Fault("A18", "a batch repeated", edit(f"{MIDDLE}.log", repeat_batch), codes(110)),
    Fault("A19", "a batch removed", edit(f"{MIDDLE}.log", remove_batch), codes(111)),
    Fault("A21", "the last batch torn", edit(f"{LAST}.log", tear),
          codes(103)),
    Fault("B01", "index and time index removed",
          remove(f"{MIDDLE}.index", f"{MIDDLE}.timeindex"), codes(201)),
    Fault("B02", "index and time index one byte longer",
          all_of(edit(f"{MIDDLE}.index", lambda c: c.extend(b"x")),
                 edit(f"{MIDDLE}.timeindex", lambda c: c.extend(b"x"))), codes(202)),
    Fault("B03", "an entry one byte late", index_entry(23, 1), codes(205)),
    Fault("B04", "an entry behind the end", index_entry(23, 1 << 20), codes(204)),
    Fault("B07", "entries swapped",
          write(f"{MIDDLE}.index", struct.pack(">iiii", 23, 0, 11, 0)), codes(203)),
    Fault("B09", "zeros at the end", edit(f"{MIDDLE}.timeindex", lambda c: c.extend(bytes(24))),
          codes(207)),
    Fault("B10", "a time index entry too low", time_entry(1), codes(211, 214)),
    Fault("B16", "an index without a log", write(f"{7:020d}.index", b""), codes(209)),
    Fault("B15", "an aborted transaction below the base",
          write(f"{MIDDLE}.txnindex", struct.pack(">hqqqq", 0, 1, 0, 3, 4)), codes(213)),
    Fault("D01", "epoch checkpoint missing", remove(EPOCHS), codes(302)),
    Fault("D01b", "epoch checkpoint empty", write(EPOCHS, b"0\n0\n"), codes(406)),
    Fault("D03", "epoch start one late", write(EPOCHS, b"0\n1\n0 1\n"), codes(407)),
    Fault("D04", "epoch entries swapped", write(EPOCHS, b"0\n2\n1 30\n0 0\n"), codes(311)),
    Fault("D05", "epoch checkpoint count wrong", write(EPOCHS, b"0\n1000000000\n0 0\n"),
          codes(301)),
    Fault("D06", "an epoch entry above the end", write(EPOCHS, b"0\n2\n0 0\n9 80\n"), codes(409)),
    Fault("D07", "high watermark above the end", row("replication-offset-checkpoint", 73),
          codes(304)),
    Fault("D09", "recovery point above the end", row("recovery-point-offset-checkpoint", 73),
          codes(305, 316), codes(305)),
    Fault("D10", "log start above the end", row("log-start-offset-checkpoint", 73),
          codes(306)),
    Fault("D11", "cleaner offset above the end", row("cleaner-offset-checkpoint", 73), codes(308)),
    # Of a killed broker the preallocated indexes are there too: a clean stop would have cut them.
    Fault("D12", "clean marker and a torn end", all_of(marker, edit(f"{LAST}.log", tear)),
          codes(103), codes(103, 207)),
    Fault("D14", "snapshot CRC broken",
          edit(f"{LAST}.snapshot", lambda c: c.__setitem__(3, c[3] ^ 1)), codes(314)),
    Fault("D14b", "snapshot of version 9",
          edit(f"{LAST}.snapshot", lambda c: c.__setitem__(1, 9)), codes(6)),
    Fault("D22", "middle segment removed, its snapshot left",
          remove(f"{MIDDLE}.log", f"{MIDDLE}.index", f"{MIDDLE}.timeindex"), codes(404, 315)),
    Fault("D22b", "middle segment removed with everything",
          remove(f"{MIDDLE}.log", f"{MIDDLE}.index", f"{MIDDLE}.timeindex", f"{MIDDLE}.snapshot"),
          codes(403)),
    Fault("D23", "segment renamed one up", rename_segment, codes(401)),
    Fault("D27", "temporary file beside a checkpoint", write(f"{EPOCHS}.tmp", b""), codes(303)),
    Fault("D31", "topic id of zeros",
          write("partition.metadata", b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA"), codes(313)),
    Fault("D32", "snapshot at no segment's base",
          lambda d: (d / f"{30:020d}.snapshot").write_bytes((d / f"{LAST}.snapshot").read_bytes())
          and None, codes(315)),
)  # fmt: skip
