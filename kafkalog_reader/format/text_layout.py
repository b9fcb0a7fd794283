"""Shows small text files line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.format.checkpoint import (
    parse_leader_epoch_checkpoint,
    parse_offset_checkpoint,
)
from kafkalog_reader.format.clean_shutdown import parse_clean_shutdown
from kafkalog_reader.format.layout import ShownField, Structure
from kafkalog_reader.format.meta_properties import parse_meta_properties
from kafkalog_reader.format.partition_metadata import parse_partition_metadata
from kafkalog_reader.format.text_lines import MAX_LINE_LENGTH, text_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kafkalog_reader.errors import LogPosition
    from kafkalog_reader.format.text_lines import TextLine


def offset_checkpoint_structures(content: bytes, where: LogPosition) -> Iterator[Structure]:
    """Yield the lines of an offset checkpoint, then raise its parser's error."""

    def meaning(words: list[str]) -> str:
        return f"{words[0]}-{words[1]} at offset {words[2]}" if len(words) == 3 else "malformed"

    yield _checkpoint("offset checkpoint", content, where, meaning)
    parse_offset_checkpoint(content, where)


def leader_epoch_structures(content: bytes, where: LogPosition) -> Iterator[Structure]:
    """Yield the lines of a leader epoch checkpoint, then raise its parser's error."""

    def meaning(words: list[str]) -> str:
        if len(words) != 2:
            return "malformed"
        return f"leader epoch {words[0]} starts at offset {words[1]}"

    yield _checkpoint("leader epoch checkpoint", content, where, meaning)
    parse_leader_epoch_checkpoint(content, where)


def partition_metadata_structures(content: bytes, where: LogPosition) -> Iterator[Structure]:
    """Yield the lines of ``partition.metadata``, then raise its parser's error."""
    names = ("version", "topic id")
    fields = (
        _field(line, names[line.number - 1] if line.number <= 2 else "ignored", "")
        for line in text_lines(content, where)
    )
    yield Structure(title="partition metadata", fields=tuple(fields))
    parse_partition_metadata(content, where)


def meta_properties_structures(content: bytes, where: LogPosition) -> Iterator[Structure]:
    """Yield the lines of ``meta.properties`` and their values, or raise the parser's error."""
    lines = tuple(_field(line, f"line {line.number}", "") for line in text_lines(content, where))
    yield Structure(title="Java properties", fields=lines)
    meta = parse_meta_properties(content, where)
    said = {
        "version": meta.version,
        "clusterId": meta.cluster_id,
        "nodeId": meta.node_id,
        "directoryId": meta.directory_id,
    }
    yield _summary(said, len(content))


def clean_shutdown_structures(content: bytes, where: LogPosition) -> Iterator[Structure]:
    """Yield the content of the clean-shutdown marker, which is never an error."""
    start = content[:MAX_LINE_LENGTH]  # a longer line is no error either
    lines = (_field(next(text_lines(start, where)), "content", ""),) if start else ()
    yield Structure(title="clean-shutdown marker: its existence counts", fields=lines)
    marker = parse_clean_shutdown(content)
    yield _summary({"version": marker.version, "brokerEpoch": marker.broker_epoch}, len(content))


def _checkpoint(
    title: str, content: bytes, where: LogPosition, meaning: Callable[[list[str]], str]
) -> Structure:
    heads = {1: ("version", ""), 2: ("count", "of the entries below")}
    fields = []
    for line in text_lines(content, where):
        words = line.text.decode("utf-8", "replace").split()
        name, said = heads.get(line.number) or (f"entry {line.number - 3}", meaning(words))
        fields.append(_field(line, name, said))
    return Structure(title=title, fields=tuple(fields))


def _field(line: TextLine, name: str, meaning: str) -> ShownField:
    return ShownField(
        position=line.where.position or 0,
        content=line.text,
        name=name,
        meaning=meaning,
        is_text=True,
    )


def _summary(said: Mapping[str, object], end: int) -> Structure:
    fields = (
        ShownField(
            position=end,
            content=b"",
            name=name,
            meaning="not said" if value is None else str(value),
            is_text=True,
        )
        for name, value in said.items()
    )
    return Structure(title="read as", fields=tuple(fields))
