"""Every file of every committed capture is read; writing it again gives Kafka's bytes."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder.small_files import build_meta_properties, build_offset_checkpoint
from fixtures.builder.stored_batches import build_record_batch
from fixtures.builder.stored_messages import build_message
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.batch_fields import HEADER_SIZE, LENGTH_END
from kafkalog_reader.format.checkpoint import (
    build_leader_epoch_checkpoint,
    parse_leader_epoch_checkpoint,
    parse_offset_checkpoint,
)
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.message import parse_message
from kafkalog_reader.format.meta_properties import parse_meta_properties
from kafkalog_reader.format.partition_metadata import (
    build_partition_metadata,
    parse_partition_metadata,
)
from kafkalog_reader.format.producer_snapshot import (
    build_producer_snapshot,
    parse_producer_snapshot,
)
from kafkalog_reader.format.record_batch import parse_record_batch
from kafkalog_reader.format.record_batch_header import LOG_ENTRY, RecordBatchHeader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMPUTED = {"length", "crc", "records_count"}


def _contents(pattern: str) -> list[tuple[LogPosition, bytes]]:
    """The contents of all captured files of that name; some must exist, and some not be empty."""
    found = (path for name in captures.names() for path in captures.path(name).rglob(pattern))
    paths = sorted(path for path in found if path.is_file())
    contents = [(LogPosition(str(path), 0), path.read_bytes()) for path in paths]
    assert any(content for _, content in contents), f"no {pattern} in fixtures/captures"
    return contents


def _record_batches(content: bytes) -> Iterator[bytes]:
    """Yield the batches of a log; preallocated bytes of a frozen broker may follow the last one."""
    end = len(content.rstrip(b"\0"))
    position = 0
    while position < end:
        entry = LOG_ENTRY.parse(content[position:])
        yield content[position : position + LENGTH_END + entry.length]
        position += LENGTH_END + entry.length


def _rewritten(content: bytes, where: LogPosition) -> bytes:
    """Decode and encode a batch; keep a compressed payload, because its level is unknown."""
    if LOG_ENTRY.parse(content).magic < 2:
        message = parse_message(content, where)
        names = ("key", "value", "offset", "magic", "timestamp", "attributes")
        return build_message(**{name: getattr(message, name) for name in names})
    batch = parse_record_batch(content, where)
    names = {field.name for field in fields(RecordBatchHeader)} - COMPUTED
    payload = None if batch.header.codec_id == Codec.NONE else content[HEADER_SIZE:]
    return build_record_batch(
        batch.records, payload=payload, **{name: getattr(batch.header, name) for name in names}
    )


def test_every_record_batch_of_a_real_broker_is_written_byte_for_byte() -> None:
    batches = {
        batch: where for where, content in _contents("*.log") for batch in _record_batches(content)
    }  # replicas, and states of one cluster, hold the same
    differing = [where for batch, where in batches.items() if _rewritten(batch, where) != batch]
    assert differing == []


@pytest.mark.parametrize(
    ("pattern", "rewrite"),
    [
        pytest.param(
            "*-offset-checkpoint",
            lambda content, where: build_offset_checkpoint(parse_offset_checkpoint(content, where)),
            id="offset_checkpoint",
        ),
        pytest.param(
            "leader-epoch-checkpoint",
            lambda content, where: build_leader_epoch_checkpoint(
                parse_leader_epoch_checkpoint(content, where)
            ),
            id="leader_epoch_checkpoint",
        ),
        pytest.param(
            "partition.metadata",
            lambda content, where: build_partition_metadata(
                parse_partition_metadata(content, where)
            ),
            id="partition_metadata",
        ),
        pytest.param(
            "*.snapshot",
            lambda content, where: build_producer_snapshot(parse_producer_snapshot(content, where)),
            id="producer_snapshot",
        ),
    ],
)
def test_every_small_file_of_a_real_broker_is_written_byte_for_byte(
    pattern: str, rewrite: Callable[[bytes, LogPosition], bytes]
) -> None:
    differing = [
        where
        for where, content in _contents(pattern)
        if content and rewrite(content, where) != content  # an empty checkpoint has no entries
    ]
    assert differing == []


def test_every_meta_properties_of_a_real_broker_is_written_with_the_same_lines() -> None:
    for where, content in _contents("meta.properties"):
        stored = content.decode().splitlines()[1].removeprefix("#")
        meta = parse_meta_properties(content, where)
        assert build_meta_properties(meta, stored=stored) == content
