"""Flips every single bit of a small segment and its indexes: each flip must be found or harmless.

No reader may ever show a record that nobody wrote. `make faults-long` flips all bits in logs of
every codec and format, which takes an hour or more; the tests flip some. `python -m
tests.faults.every_bit --base 0.8.2.2 --part 3/10` flips the bits of one part.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import kafkalog_reader
from fixtures.faults.indexes import disagreement, offset_index, time_index
from fixtures.faults.run import found_in
from fixtures.faults.sample import Base, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BASES: Final = (
    Base("3.9.1", "release_3.9.1/stopped", "java-none-0"),
    Base("4.4.0", "everything/stopped", "codec-gzip-0"),
    Base("4.4.0", "everything/stopped", "codec-snappy-0"),
    Base("4.4.0", "everything/stopped", "codec-lz4-0"),
    Base("4.4.0", "everything/stopped", "codec-zstd-0"),
    Base("0.11.0.3", "release_0.11.0.3/stopped", "java-snappy-0"),
    Base("0.10.2.2", "release_0.10.2.2/stopped", "java-none-0"),
    Base("0.10.2.2", "release_0.10.2.2/stopped", "java-gzip-0"),
    Base("0.10.2.2", "release_0.10.2.2/stopped", "java-snappy-0"),
    Base("0.10.2.2", "release_0.10.2.2/stopped", "java-lz4-0"),
    Base("0.8.2.2", "release_0.8.2.2/stopped", "java-none-0"),
    Base("0.8.2.2", "release_0.8.2.2/stopped", "java-gzip-0"),
)
COLUMNS: Final = ("timestamp", "key", "value")
Row = tuple[object, ...]


@dataclass
class Flips:
    """The results of the flips in one file.

    Attributes:
        flips: number of flips.
        silent: byte and bit of the flips without a finding above information.
        wrong: the flips after which a record was read that nobody had written.
    """

    flips: int = 0
    silent: list[tuple[int, int]] = field(default_factory=list)
    wrong: list[tuple[int, int]] = field(default_factory=list)


def flipped(sample: Sample, name: str, bits: Iterable[tuple[int, int]]) -> Flips:
    """Flip one bit after another in a file of a partition, and check each time.

    Args:
        sample: a copy that may be changed.
        name: of the file, which is restored at the end.
        bits: byte and bit.
    """
    path, directory = sample.path(name), str(sample.log_directory)
    sound = path.read_bytes()
    findings, records = found_in(directory), records_of(directory)
    result = Flips()
    for position, bit in bits:
        content = bytearray(sound)
        content[position] ^= 1 << bit
        path.write_bytes(content)
        result.flips += 1
        if not any(each.severity in "CHML" for each in found_in(directory) - findings):
            result.silent.append((position, bit))
        if name.endswith(".log") and records_of(directory) - records:
            result.wrong.append((position, bit))
    path.write_bytes(sound)
    return result


def records_of(directory: str) -> Counter[Row]:
    """The records of a reader that skips damage; without offsets, which no checksum covers."""
    table = kafkalog_reader.open(directory).table("records", COLUMNS, mode="DROPMALFORMED")
    return Counter(tuple(row.values()) for batch in table for row in batch.to_pylist())


def is_harmless(sample: Sample, name: str) -> bool:
    """Whether every entry of an index in its present state leads a search to the right batch."""
    stem, kind = name.split(".")
    segment = next(each for each in sample.segments if each.name == stem)
    entries = offset_index(sample, segment) if kind == "index" else time_index(sample, segment)
    rises = all(a < b for a, b in pairwise(entries))
    return rises and not disagreement(sample, segment, segment.entries, segment.size_in_bytes)


def harmful(sample: Sample, name: str, silent: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Unreported flips in an index that break a search."""
    path = sample.path(name)
    sound, found = path.read_bytes(), []
    for position, bit in silent:
        content = bytearray(sound)
        content[position] ^= 1 << bit
        path.write_bytes(content)
        if not is_harmless(sample, name):
            found.append((position, bit))
    path.write_bytes(sound)
    return found


def every_bit(size: int) -> Iterator[tuple[int, int]]:
    return ((position, bit) for position in range(size) for bit in range(8))


def slice_of(size: int, part: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The bits of one part of a file; ``part`` is its number, from 1, and the number of parts."""
    number, parts = part
    bits = 8 * size
    return islice(every_bit(size), bits * (number - 1) // parts, bits * number // parts)


def main() -> int:
    """Flip all bits of each base's closed segment and its indexes; print the missed flips."""
    logging.disable(logging.CRITICAL)
    options = _options()
    missed = 0
    for base in BASES:
        if options.base not in base.name:
            continue
        with tempfile.TemporaryDirectory() as directory:
            sample = base.copied(Path(directory))
            for kind in ("log", "index", "timeindex"):
                name = sample.closed.file(kind)
                if not sample.path(name).exists():
                    continue
                size = sample.path(name).stat().st_size
                result = flipped(sample, name, slice_of(size, options.part))
                silent = result.silent
                if kind != "log":
                    silent = harmful(sample, name, silent)
                missed += len(silent) + len(result.wrong)
                harmless = len(result.silent) - len(silent)
                print(  # noqa: T201
                    f"{base.name} {kind}: {result.flips} flips, {harmless} harmless, "
                    f"{len(silent)} not found {silent[:20]}, wrong records {result.wrong[:20]}",
                    flush=True,
                )
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="", help="only bases whose name holds this")
    parser.add_argument("--part", default=(1, 1), type=_part, help="K/N: the K-th of N slices")
    return parser.parse_args()


def _part(text: str) -> tuple[int, int]:
    number, _, parts = text.partition("/")
    if not 1 <= int(number) <= int(parts):
        raise argparse.ArgumentTypeError(f"{text}: K/N with K from 1 to N expected")
    return int(number), int(parts)


if __name__ == "__main__":
    sys.exit(main())
