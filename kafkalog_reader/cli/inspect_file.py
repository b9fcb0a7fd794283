"""Finds the structure at a position of a file, or the nearest positions of others."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.cli.options import read_context
from kafkalog_reader.errors import (
    CorruptIndexError,
    KafkaLogError,
    LogPosition,
    UnreadableFileError,
    UsageError,
)
from kafkalog_reader.format.batch_fields import (
    HEADER_SIZE,
    LENGTH_END,
    LOG_ENTRY_SIZE,
    MAGIC_AT,
    MIN_LENGTH_0,
)
from kafkalog_reader.format.entry_layout import (
    OFFSET_INDEX,
    PRODUCER_SNAPSHOT,
    TIME_INDEX,
    TRANSACTION_INDEX,
    WIDE_OFFSET_INDEX,
    EntryKind,
    entry_structure,
    snapshot_header_structure,
)
from kafkalog_reader.format.index_entries import WIDE_OFFSET_INDEX_ENTRY
from kafkalog_reader.format.layout import unreadable_structure
from kafkalog_reader.format.message import parse_message
from kafkalog_reader.format.message_layout import message_structures
from kafkalog_reader.format.producer_snapshot import parse_producer_snapshot
from kafkalog_reader.format.record_batch import compute_batch_crc
from kafkalog_reader.format.record_batch_header import LOG_ENTRY, parse_record_batch_header
from kafkalog_reader.format.record_batch_layout import (
    record_batch_header_structure,
    record_batch_structures,
)
from kafkalog_reader.format.text_layout import (
    clean_shutdown_structures,
    leader_epoch_structures,
    meta_properties_structures,
    offset_checkpoint_structures,
    partition_metadata_structures,
)
from kafkalog_reader.io.names import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    shown,
)
from kafkalog_reader.io.offset_index_layout import entry_of_file
from kafkalog_reader.io.window import Windows, read_small_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_reader.format.layout import Structure

SNAPSHOT_LIMIT: Final = 256 << 20
"""In bytes: millions of producers; a larger file is not a snapshot."""
TEXT_LIMIT: Final[int] = 256 << 20
LEGACY_MAGICS: Final = (0, 1)
_LATER_SUFFIXES: Final = (".deleted", ".swap", ".cleaned")
_ENTRY_KINDS: Final = {
    ".index": OFFSET_INDEX,
    ".timeindex": TIME_INDEX,
    ".txnindex": TRANSACTION_INDEX,
    ".snapshot": PRODUCER_SNAPSHOT,
}
_TEXTS: Final[dict[str, Callable[[bytes, LogPosition], Iterator[Structure]]]] = {
    **dict.fromkeys(OFFSET_CHECKPOINTS, offset_checkpoint_structures),
    LEADER_EPOCHS: leader_epoch_structures,
    META_PROPERTIES: meta_properties_structures,
    PARTITION_METADATA: partition_metadata_structures,
    CLEAN_SHUTDOWN: clean_shutdown_structures,
}


def structures(path: str, position: int) -> Iterator[Structure]:
    """Yield the structure at a byte of a file, and those inside it.

    Raises:
        UsageError: a file name that is not Kafka's, or a position where nothing starts.
        UnreadableFileError: the file is missing or cannot be read.
        CorruptLogError: damage, after the last structure that could be read.
        UnsupportedFormatError: a format of Kafka's that is not supported.
    """
    _check_is_file(path)
    name = path.rpartition("/")[2]
    for later in _LATER_SUFFIXES:
        name = name.removesuffix(later)
    stem, dot, extension = name.rpartition(".")
    if name in _TEXTS:
        yield from _text(path, position, name)
    elif dot and extension in ("log", "checkpoint"):
        yield from _record_batch(path, position)
    elif (kind := _ENTRY_KINDS.get(f".{extension}")) is not None and dot:
        yield from _entries(path, position, kind, stem)
    else:
        known = ", ".join(("*.log", "*.checkpoint", *(f"*{ending}" for ending in _ENTRY_KINDS)))
        raise UsageError(
            f"{shown(path)}: not a known file name. Known: {known}, {', '.join(_TEXTS)}"
        )


def _check_is_file(path: str) -> None:
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise UnreadableFileError(problem, LogPosition(shown(path))) from None
    if not stat.S_ISREG(mode):
        what = "a directory: name a file in it" if stat.S_ISDIR(mode) else "not a regular file"
        raise UsageError(f"{shown(path)}: is {what}")


def _text(path: str, position: int, name: str) -> Iterator[Structure]:
    if position:
        raise UsageError(f"{shown(path)}: a text file is shown as a whole, without --position")
    yield from _TEXTS[name](
        read_small_file(path, TEXT_LIMIT, context=read_context()), LogPosition(shown(path), 0)
    )


def _record_batch(path: str, position: int) -> Iterator[Structure]:
    with Windows(path, context=read_context()) as windows:
        _check_inside(path, position, windows.size_in_bytes)
        where = LogPosition(shown(path), position)
        content = bytes(windows.read(position, HEADER_SIZE)[:HEADER_SIZE])
        if _is_message(content):
            yield from _message(windows, position, where)
            return
        try:
            header = parse_record_batch_header(content, where)
            size = min(header.size_in_bytes, windows.size_in_bytes - position)
            content = bytes(windows.read(position, size)[:size])
            is_sound = compute_batch_crc(content, header) == header.crc
        except KafkaLogError:
            _check_is_start(windows, position)
            if len(content) == HEADER_SIZE and content[MAGIC_AT] not in LEGACY_MAGICS:
                yield record_batch_header_structure(content, where)
            else:
                yield unreadable_structure("record batch", content, position)
            raise
        if not is_sound:  # a valid CRC proves a batch, even after a damaged region
            _check_is_start(windows, position)
        yield from record_batch_structures(content, where)


def _is_message(content: bytes) -> bool:
    """Whether magic and length are those of a message of format 0 or 1; zeros are not."""
    if len(content) < LOG_ENTRY_SIZE:
        return False
    entry = LOG_ENTRY.parse(content)
    return entry.magic in LEGACY_MAGICS and entry.length >= MIN_LENGTH_0


def _message(windows: Windows, position: int, where: LogPosition) -> Iterator[Structure]:
    entry = LOG_ENTRY.parse(bytes(windows.read(position, LOG_ENTRY_SIZE)[:LOG_ENTRY_SIZE]))
    size = min(LENGTH_END + entry.length, windows.size_in_bytes - position)
    content = bytes(windows.read(position, size)[:size])
    try:
        parse_message(content, where)
    except KafkaLogError:  # as with batches: a valid CRC proves a message anywhere
        _check_is_start(windows, position)
    yield from message_structures(content, where)


def _check_is_start(windows: Windows, position: int) -> None:
    """Raise unless the sequence of batches from the start of the file reaches ``position``."""
    before = 0
    for start in _batch_starts(windows):
        if start == position:
            return
        if start > position:
            ends = " (the end of the file)" if start == windows.size_in_bytes else ""
            raise UsageError(
                f"{shown(windows.path)} at position {position}: no record batch starts here. "
                f"One starts at {before}, the next at {start}{ends}"
            )
        before = start
    raise UsageError(
        f"{shown(windows.path)} at position {position}: no record batch starts here. "
        f"The last position that batches lead to is {before}"
    )


def _batch_starts(windows: Windows) -> Iterator[int]:
    """Yield the positions of batches, then where the last one ends or damage begins."""
    position = 0
    window_start, window = 0, bytes(windows.read(0))
    yield position
    while windows.size_in_bytes - position >= LOG_ENTRY_SIZE:
        if position + LENGTH_END > window_start + len(window):
            window_start, window = position, bytes(windows.read(position))
        at = position - window_start + 8
        length = int.from_bytes(window[at : at + 4], "big", signed=True)
        if not MIN_LENGTH_0 <= length <= windows.size_in_bytes - position - LENGTH_END:
            return
        position += LENGTH_END + length
        yield position


def _entries(path: str, position: int, kind: EntryKind, stem: str) -> Iterator[Structure]:
    with Windows(path, size=1 << 16, context=read_context()) as windows:
        where = LogPosition(shown(path), position)
        size = windows.size_in_bytes
        if kind is PRODUCER_SNAPSHOT and position == 0:
            yield from _whole_snapshot(
                read_small_file(path, SNAPSHOT_LIMIT, context=read_context()), where
            )
            return
        _check_inside(path, position, size)
        if kind is OFFSET_INDEX and _is_wide(path, stem):
            kind = WIDE_OFFSET_INDEX
        number, inside = divmod(position - kind.header_size, kind.entry_size)
        if inside or number < 0:
            before = position - inside if number >= 0 else 0
            after = kind.header_size + (number + 1) * kind.entry_size
            raise UsageError(
                f"{shown(path)} at position {position}: no {kind.noun} entry starts here. "
                f"One starts at {before}, the next at {after}"
            )
        entry = bytes(windows.read(position, kind.entry_size)[: kind.entry_size])
        if len(entry) < kind.entry_size:
            yield unreadable_structure(f"{kind.noun} entry", entry, position)
            raise CorruptIndexError(
                f"{kind.noun} entry cut short: {len(entry)} of {kind.entry_size} bytes", where
            )
        yield entry_structure(kind, entry, position, int(stem) if stem.isdecimal() else None)


def _is_wide(path: str, stem: str) -> bool:
    """Whether the entries of an offset index have 12 bytes."""
    log = f"{path.removesuffix('.index')}.log"
    entry = entry_of_file(
        path,
        log if Path(log).is_file() else None,
        int(stem) if stem.isdecimal() else 0,
        context=read_context(),
    )
    return entry is WIDE_OFFSET_INDEX_ENTRY


def _whole_snapshot(content: bytes, where: LogPosition) -> Iterator[Structure]:
    kind = PRODUCER_SNAPSHOT
    if len(content) >= kind.header_size:
        yield snapshot_header_structure(content)
        last = len(content) - kind.entry_size
        for start in range(kind.header_size, last + 1, kind.entry_size):
            entry = content[start : start + kind.entry_size]
            yield entry_structure(kind, entry, start, None)
    parse_producer_snapshot(content, where)


def _check_inside(path: str, position: int, size: int) -> None:
    if size == 0:
        raise UsageError(f"{shown(path)}: the file is empty")
    if position >= size:
        raise UsageError(
            f"{shown(path)} at position {position}: the file ends at {size}, so its last byte is "
            f"{size - 1}"
        )
