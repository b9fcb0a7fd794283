"""The manifest that Aiven's plugin of tiered storage writes beside each segment that it copied.

JSON: ``version``, ``chunkIndex``, ``segmentIndexes``, ``compression``, ``encryption`` if it is
encrypted, and ``remoteLogSegmentMetadata``. The log was cut into chunks of one size, each of which
may be compressed on its own; the index has the sizes of the stored chunks. Source: Aiven's
tiered-storage-for-apache-kafka, 2026-05: SegmentManifestV1, ChunkIndex, ChunkSizesBinaryCodec.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import CorruptCheckpointError, UnsupportedFormatError
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.format.zstd import ZstdError, frame_decompressor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.errors import LogPosition

_MAX_INT: Final = 2**31 - 1
_MAX_CODED: Final = 10 << 20
"""Bytes of the sizes of chunks before compression, the plugin's own limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentManifest:
    """How the bytes of one segment are stored.

    Attributes:
        size: of the segment in bytes.
        chunk_size: bytes of each chunk of the segment; the last one may be smaller.
        positions: where each stored chunk begins, and where the last one ends.
        is_compressed: whether each stored chunk is a zstd frame.
        epochs: position and size in the ``.indexes`` object of the leader epochs up to its end.
        end_offset: the last offset; None if the manifest does not say.
    """

    size: int
    chunk_size: int
    positions: Sequence[int]
    is_compressed: bool
    epochs: tuple[int, int]
    end_offset: int | None


def parse_segment_manifest(content: bytes, where: LogPosition) -> SegmentManifest:
    """Parse a manifest.

    Raises:
        CorruptCheckpointError: it is not one, or contradicts itself.
        UnsupportedFormatError: another version, or the segment is encrypted.
    """
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CorruptCheckpointError("not JSON", where) from error
    if not isinstance(fields, dict):
        raise CorruptCheckpointError("not a JSON object", where)
    if fields.get("version") != "1":
        raise UnsupportedFormatError("a manifest of another version than 1", where)
    if fields.get("encryption") is not None:
        raise UnsupportedFormatError("the plugin encrypted this segment", where)
    return _Fields(where).manifest(fields)


@dataclass(frozen=True, slots=True)
class _Fields:
    where: LogPosition

    def manifest(self, fields: dict[str, Any]) -> SegmentManifest:
        index = self._object(fields, "chunkIndex")
        chunk_size = self._integer(index, "originalChunkSize", 1)
        size = self._integer(index, "originalFileSize")
        count = -(-size // chunk_size)
        if count > _MAX_CODED:
            raise self._corrupt(f"{count:,} chunks, more than the plugin writes")
        is_compressed = fields.get("compression")
        if not isinstance(is_compressed, bool):
            raise self._corrupt("compression is not true or false")
        sizes = self._stored_sizes(index, count)
        if not is_compressed and sum(sizes) != size:
            raise self._corrupt(
                f"not compressed, but its chunks have {sum(sizes):,} bytes of {size:,}"
            )
        epochs = self._object(self._object(fields, "segmentIndexes"), "leaderEpoch")
        return SegmentManifest(
            size=size,
            chunk_size=chunk_size,
            positions=tuple(accumulate(sizes, initial=0)),
            is_compressed=is_compressed,
            epochs=(self._integer(epochs, "position"), self._integer(epochs, "size")),
            end_offset=self._end_offset(fields),
        )

    def _stored_sizes(self, index: dict[str, Any], count: int) -> list[int]:
        kind = index.get("type")
        if kind == "fixed":
            each = self._integer(index, "transformedChunkSize")
            last = self._integer(index, "finalTransformedChunkSize")
            return [*[each] * (count - 1), last] if count else []
        if kind != "variable":
            raise UnsupportedFormatError("a chunkIndex neither fixed nor variable", self.where)
        sizes = self._decoded_sizes(index.get("transformedChunks"), count)
        if len(sizes) != count:
            raise self._corrupt(f"{len(sizes):,} chunks where {count:,} are expected")
        return sizes

    def _decoded_sizes(self, coded: object, count: int) -> list[int]:
        if not isinstance(coded, str):
            raise self._corrupt("transformedChunks is not text")
        try:
            packed = base64.b64decode(coded, validate=True)
            sizes = frame_decompressor().decompress(packed, max_length=_MAX_CODED + 1)
        except (binascii.Error, ValueError, ZstdError) as error:
            raise self._corrupt("transformedChunks cannot be decoded") from error
        length = int.from_bytes(sizes[:4], "big")
        if length <= 1:
            expected, found = 4 + 4 * length, [int.from_bytes(sizes[4:8], "big")][:length]
        else:
            base, width = int.from_bytes(sizes[4:8], "big"), sizes[8] if len(sizes) > 8 else 0
            expected = 13 + (length - 1) * width
            steps = range(9, 9 + (length - 1) * width, width) if 1 <= width <= 4 else range(0)
            if len(sizes) != expected or not steps or length != count:
                raise self._corrupt(f"transformedChunks does not hold {count:,} sizes")
            found = [base + int.from_bytes(sizes[at : at + width], "big") for at in steps]
            found.append(int.from_bytes(sizes[-4:], "big"))
        if len(sizes) != expected or any(each > _MAX_INT for each in found):
            raise self._corrupt(f"transformedChunks does not hold {count:,} sizes")
        return found

    def _end_offset(self, fields: dict[str, Any]) -> int | None:
        if fields.get("remoteLogSegmentMetadata") is None:
            return None
        metadata = self._object(fields, "remoteLogSegmentMetadata")
        return self._integer(metadata, "endOffset", most=MAX_OFFSET - 1)

    def _object(self, fields: dict[str, Any], name: str) -> dict[str, Any]:
        found = fields.get(name)
        if not isinstance(found, dict):
            raise self._corrupt(f"no object {name}")
        return found

    def _integer(
        self, fields: dict[str, Any], name: str, least: int = 0, most: int = _MAX_INT
    ) -> int:
        found = fields.get(name)
        if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
            raise self._corrupt(f"{name} is not a number from {least} to {most}")
        return found

    def _corrupt(self, problem: str) -> CorruptCheckpointError:
        return CorruptCheckpointError(problem, self.where)
