"""The targets of fuzzing: each one takes any bytes and may raise only ``KafkaLogError``."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import kafkalog_reader
from fixtures.recovery.random_start import write_random_start
from kafkalog_reader import registry
from kafkalog_reader.decode.decompression import Decompressor
from kafkalog_reader.errors import KafkaLogError, LogPosition
from kafkalog_reader.format import (
    checkpoint,
    clean_shutdown,
    control_record,
    entry_layout,
    java_properties,
    message,
    message_layout,
    message_set,
    meta_properties,
    partition_metadata,
    producer_snapshot,
    record_batch,
    record_batch_layout,
    text_layout,
    transaction_index,
)
from kafkalog_reader.format.compression import Codec, decompress
from kafkalog_reader.format.crc import compute_crc32c
from kafkalog_reader.format.decompression_limit import Limits
from kafkalog_reader.io import names
from kafkalog_reader.io.path_argument import parse_path_arguments
from kafkalog_reader.io.read_context import ReadContext
from tests.fuzz.command_line import commands_survive, starts_survive
from tests.kernel.conftest import MODULES, load_module
from tests.kernel.decoding import batch_columns, decode, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

WHERE: Final = LogPosition("fuzz", 0, 0)
LIMIT: Final = 4 << 20
"""Limit of a decompressed payload in bytes, which only has to be obeyed."""
HEADER_SIZE: Final = 61
PARTITION_FILES: Final = (
    "00000000000000000000.log",
    "00000000000000000000.index",
    "00000000000000000000.timeindex",
    "00000000000000000000.txnindex",
    "00000000000000000005.snapshot",
    names.LEADER_EPOCHS,
    names.PARTITION_METADATA,
)
DIRECTORY_FILES: Final = (names.META_PROPERTIES, names.CLEAN_SHUTDOWN, *names.OFFSET_CHECKPOINTS)


def texts(content: bytes) -> None:
    """Checkpoints, properties and markers: parsed, and shown as by ``inspect``."""
    for parse in (
        checkpoint.parse_offset_checkpoint,
        checkpoint.parse_leader_epoch_checkpoint,
        java_properties.parse_java_properties,
        meta_properties.parse_meta_properties,
        partition_metadata.parse_partition_metadata,
        text_layout.offset_checkpoint_structures,
        text_layout.leader_epoch_structures,
        text_layout.partition_metadata_structures,
        text_layout.meta_properties_structures,
        text_layout.clean_shutdown_structures,
    ):
        _drain(parse, content, WHERE)
    _drain(clean_shutdown.parse_clean_shutdown, content)


def entries(content: bytes) -> None:
    """Entries of transaction indexes, producer snapshots, keys and values of control records."""
    for parse in (
        transaction_index.parse_aborted_transaction,
        producer_snapshot.parse_producer_snapshot,
        producer_snapshot.check_producer_snapshot,
        control_record.parse_control_record_key,
        control_record.parse_end_transaction_marker,
    ):
        _drain(parse, content, WHERE)
    if len(content) >= producer_snapshot.HEADER_SIZE:
        entry_layout.snapshot_header_structure(content)


def declared_batches(content: bytes) -> None:
    """The declared format of magic 2, which ``inspect`` applies to any bytes."""
    with contextlib.suppress(KafkaLogError):
        batch = record_batch.parse_record_batch(content, WHERE)
        for _ in batch.records:
            pass
    _drain(record_batch_layout.record_batch_structures, content, WHERE)


def messages(content: bytes) -> None:
    """The declared format of magic 0 and 1, wrappers included."""
    with contextlib.suppress(KafkaLogError):
        found = message.parse_message(content, WHERE, check_crc=False)
        for _ in message_set.message_records(found, WHERE, limit=LIMIT):
            pass
    _drain(message_layout.message_structures, content, WHERE)


def payloads(content: bytes) -> None:
    """Every codec: the fast and the declared one accept the same payloads with the same result."""
    if not content:
        return
    codec, payload = Codec(1 + content[0] % 4), content[1:]
    slow = _or_none(lambda: decompress(codec, payload, WHERE, limit=LIMIT))
    decompressor = Decompressor(Limits(batch_bytes=LIMIT, ratio_from_bytes=LIMIT))
    fast = _or_none(lambda: decompressor.add(codec, memoryview(payload), WHERE))
    assert decompressor.size <= LIMIT, "more came out than the limit allows"
    if slow is not None and fast is not None:
        assert bytes(decompressor.buffer) == slow, f"{codec.name}: two readers, two contents"


def kernels(content: bytes) -> None:
    """Both kernels on the same bytes with corrected checksums: equal columns, rows and problems."""
    log = with_right_checksums(content)
    outcomes = []
    for kernel in (INTERPRETED, COMPILED):
        headers, at, reason = scan(kernel, log, capacity=1024)
        columns = tuple(column.tolist() for column in vars(headers).values())
        fits = (headers.magic == 2) & (headers.size_in_bytes >= HEADER_SIZE)
        if not fits.all():
            outcomes.append((columns, at, reason, None))
            continue
        places = zip(headers.position.tolist(), headers.size_in_bytes.tolist(), strict=True)
        sized = batch_columns(headers, [(p + HEADER_SIZE, s - HEADER_SIZE) for p, s in places])
        outcomes.append((columns, at, reason, decode(kernel, log, sized)))
    assert outcomes[0] == outcomes[1], "the kernels disagree"


def segments(content: bytes) -> None:
    """A segment file in the reader as users run it, with and without corrected checksums."""
    for log in (content, with_right_checksums(content)):
        with partition({PARTITION_FILES[0]: log}) as directory:
            _read_everything(directory, ("batches", "records"))


def directories(content: bytes) -> None:
    """All files of a partition and of its log directory together, cut from ``content``.

    The files follow each other, each with a length of four bytes before it.
    """
    found = dict(zip((*PARTITION_FILES, *DIRECTORY_FILES), _pieces(content), strict=False))
    with partition(found) as directory:
        _read_everything(directory, tuple(registry.TABLES))


def commands(content: bytes) -> None:
    """The command line on the same files: an exit status of 0, 1 or 2 and no stack trace."""
    found = dict(zip((*PARTITION_FILES, *DIRECTORY_FILES), _pieces(content), strict=False))
    with partition(found) as directory:
        commands_survive(directory, [name for name in found if found[name]])


def starts(content: bytes) -> None:
    """Predictions of the start of a broker with damaged disks, which ``content`` chooses."""
    with _scratch() as root:
        broker = str(write_random_start(Path(root), content))
        _read_everything(broker, ("recoveries",))
        starts_survive(broker)


def discovery(content: bytes) -> None:
    """Names of directories and files, arguments of commands."""
    name = os.fsdecode(content)
    for parse in (
        names.parse_directory_name,
        names.parse_segment_file_name,
        names.parse_snapshot_file_name,
    ):
        parse(name)
    line = names.shown(name)
    assert line.isprintable(), "a hostile name reached the terminal"
    line.encode("utf-8")
    if not any(character in name for character in "*?[{"):  # globs would walk the disk
        _drain(lambda: parse_path_arguments([name], ReadContext()))


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    target.__name__: target
    for target in (
        texts, entries, declared_batches, messages, payloads, kernels, segments, directories,
        commands, starts, discovery,
    )
}  # fmt: skip


class Kernel:
    """The modules of one kernel, as attributes."""

    def __init__(self, kind: str) -> None:
        for name in MODULES:
            setattr(self, name, load_module(name, kind))

    record_batches: ModuleType
    records: ModuleType


INTERPRETED: Final = Kernel("interpreted")
COMPILED: Final = Kernel("compiled")


def with_right_checksums(content: bytes) -> bytes:
    """The log with every CRC of magic 2 corrected; otherwise deeper code is never reached."""
    log = bytearray(content)
    position = 0
    while len(log) - position >= HEADER_SIZE:
        size = 12 + int.from_bytes(log[position + 8 : position + 12], "big", signed=True)
        if log[position + 16] != 2 or not HEADER_SIZE <= size <= len(log) - position:
            break
        crc = compute_crc32c(bytes(log[position + 21 : position + size]))
        log[position + 17 : position + 21] = crc.to_bytes(4, "big")
        position += size
    return bytes(log)


@contextlib.contextmanager
def partition(files: dict[str, bytes]) -> Any:
    """A log directory with one partition of these files."""
    with _scratch() as root:
        inner = Path(root, "orders-0")
        inner.mkdir()
        for name, content in files.items():
            (Path(root) if name in DIRECTORY_FILES else inner).joinpath(name).write_bytes(content)
        yield root


@contextlib.contextmanager
def _scratch() -> Any:
    """An empty folder, on a memory disk if there is one."""
    shared = "/dev/shm"
    where = shared if os.access(shared, os.W_OK) else None
    root = tempfile.mkdtemp(prefix="kafkalog-fuzz-", dir=where)
    try:
        yield root
    finally:
        shutil.rmtree(root)


def _read_everything(directory: str, tables: Iterable[str]) -> None:
    with contextlib.suppress(KafkaLogError):
        log = kafkalog_reader.open(directory)
        for name in tables:
            for mode in ("PERMISSIVE", "FAILFAST"):
                with contextlib.suppress(KafkaLogError):
                    for rows in log.table(name, mode=mode):
                        rows.validate(full=True)


def _pieces(content: bytes) -> Iterable[bytes]:
    position = 0
    while len(content) - position >= 4:
        size = int.from_bytes(content[position : position + 4], "big")
        yield content[position + 4 : position + 4 + size]
        position += 4 + size


def _drain(parse: Callable[..., object], *arguments: object) -> None:
    with contextlib.suppress(KafkaLogError):
        found = parse(*arguments)
        if hasattr(found, "__next__"):
            for _ in found:  # type: ignore[attr-defined]
                pass


def _or_none(call: Callable[[], object]) -> object:
    try:
        return call()
    except KafkaLogError:
        return None
