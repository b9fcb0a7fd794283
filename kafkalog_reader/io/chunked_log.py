"""Logs that Aiven's plugin of tiered storage stored in compressed chunks, read like the segment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import KafkaLogError, LogPosition, UnreadableFileError
from kafkalog_reader.format.decompression_limit import checked_size
from kafkalog_reader.format.segment_manifest import parse_segment_manifest
from kafkalog_reader.format.zstd import ZstdError, frame_decompressor
from kafkalog_reader.io.names import shown
from kafkalog_reader.io.remote_names import (
    INDEXES_KIND,
    MANIFEST_KIND,
    parse_remote_file_name,
    parse_remote_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_reader.format.decompression_limit import Limits
    from kafkalog_reader.format.segment_manifest import SegmentManifest

MANIFEST_LIMIT: Final = 16 << 20
"""Bytes; the largest that the plugin writes has 10 MiB of chunk sizes."""


def manifest_beside(path: str) -> str | None:
    """The path of the manifest of a remote segment's log; None for every other file.

    Raises:
        UnreadableFileError: Aiven's plugin wrote the log, but there is no manifest.
    """
    if not path.endswith(".log"):
        return None
    folder, _, file_name = path.rpartition("/")
    name = parse_remote_file_name(file_name)
    if name is None or name.kind != "log":
        return None
    stem = path.removesuffix("log")
    if os.path.lexists(stem + MANIFEST_KIND):
        return stem + MANIFEST_KIND
    place = parse_remote_folder(folder)
    if os.path.lexists(stem + INDEXES_KIND) or (place is not None and place.has_manifests):
        raise UnreadableFileError(
            f"no {MANIFEST_KIND} beside it, without which its bytes have no meaning: it is lost, "
            "or the upload did not finish",
            LogPosition(shown(path)),
        )
    return None


def manifest_of(path: str, content: bytes, stored_size: int) -> SegmentManifest:
    """The manifest of a log.

    Args:
        path: of the log.
        content: of the manifest.
        stored_size: of the log as it is stored, in bytes.

    Raises:
        UnreadableFileError: the log cannot be read by it: it is encrypted, or the manifest is
            damaged or contradicts the size.
    """
    where = LogPosition(shown(path))
    try:
        manifest = parse_segment_manifest(content, LogPosition(shown(path)))
    except KafkaLogError as error:
        problem = str(error).removeprefix(f"{where}: ")
        raise UnreadableFileError(f"cannot be read by its manifest: {problem}", where) from error
    if manifest.positions[-1] != stored_size:
        raise UnreadableFileError(
            f"{stored_size:,} bytes, but its manifest has {manifest.positions[-1]:,}", where
        )
    return manifest


class ChunkedLog:
    """The bytes of a segment that is stored in compressed chunks; the last chunk is kept.

    Args:
        path: of the log.
        manifest: how it is stored.
        read: returns bytes as they are stored, by position and size.
        limits: of what one chunk may decompress to.
    """

    def __init__(
        self,
        path: str,
        manifest: SegmentManifest,
        read: Callable[[int, int], memoryview],
        limits: Limits,
    ) -> None:
        self._path = path
        self._manifest = manifest
        self._read = read
        self._limits = limits
        self._number = -1
        self._chunk = b""

    def read_into(self, target: memoryview, position: int) -> int:
        """Fill the target from this position of the segment on; return how many bytes there are.

        Raises:
            UnreadableFileError: a chunk is damaged, or the store failed.
            LimitReachedError: a chunk is larger than the limit.
        """
        done = 0
        end = min(len(target), self._manifest.size - position)
        while done < end:
            number, start = divmod(position + done, self._manifest.chunk_size)
            part = self._decompressed(number)[start : start + end - done]
            target[done : done + len(part)] = part
            done += len(part)
        return max(0, done)

    def _decompressed(self, number: int) -> bytes:
        if number != self._number:
            self._number, self._chunk = -1, b""
            self._chunk = self._decompress(number)
            self._number = number
        return self._chunk

    def _decompress(self, number: int) -> bytes:
        manifest = self._manifest
        start, stop = manifest.positions[number], manifest.positions[number + 1]
        expected = min(manifest.chunk_size, manifest.size - number * manifest.chunk_size)
        where = LogPosition(shown(self._path), start)
        checked_size(expected, self._limits.largest_output(stop - start), where)
        stream = frame_decompressor(self._limits.zstd_window)
        try:
            chunk = stream.decompress(self._read(start, stop - start), max_length=expected + 1)
        except ZstdError as error:
            raise UnreadableFileError(f"a damaged chunk: {error}", where) from error
        if len(chunk) != expected or not stream.eof or stream.unused_data:
            raise UnreadableFileError(
                f"a chunk that does not hold the {expected:,} bytes of its manifest", where
            )
        return chunk
