"""Limits the size of decompressed payloads: a batch of a few kilobytes can announce terabytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LimitReachedError

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Maximum size to which one batch, or one wrapper message, may decompress.

    Attributes:
        batch_bytes: maximum for one batch; producers send 1 MiB by default, but a batch of 133 MB
            was seen in production.
        ratio, ratio_from_bytes: maximum factor of the compressed size, if the output is larger than
            ``ratio_from_bytes``: zeros in zstd have a ratio of 20,972, but a megabyte of them is
            harmless.
        zstd_window: maximum window, which is zstd-jni's limit and therefore Kafka's.
    """

    batch_bytes: int = 512 << 20
    ratio: int = 1000
    ratio_from_bytes: int = 16 << 20
    zstd_window: int = 128 << 20

    @classmethod
    def allowing(cls, batch_bytes: int) -> Limits:
        """Limits for an explicit maximum of bytes per batch, with any ratio."""
        return cls(batch_bytes=batch_bytes, ratio_from_bytes=batch_bytes)

    def largest_output(self, compressed_size: int) -> int:
        """Maximum output for a payload of that size."""
        return min(self.batch_bytes, max(self.ratio_from_bytes, self.ratio * compressed_size))


DEFAULT_LIMITS: Final = Limits()


def checked_size(size: int, limit: int, where: LogPosition) -> int:
    """Return ``size``, the bytes known so far, unless it is above ``limit``.

    Raises:
        LimitReachedError: it is above; the batch may be sound, but was not checked.
    """
    if size > limit:
        raise LimitReachedError(
            f"decompresses to more than {limit:,} bytes, the limit (max_batch_bytes)", where
        )
    return size


def window_too_large(error: Exception, limit: int, where: LogPosition) -> LimitReachedError | None:
    """The error if zstd failed because a frame needs more memory than allowed, else None."""
    if "too much memory" not in str(error):
        return None
    return LimitReachedError(f"the zstd window is larger than {limit:,} bytes, the limit", where)
