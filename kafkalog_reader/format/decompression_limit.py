"""How much one payload may grow to: a batch of a few kilobytes can announce terabytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LimitReachedError

if TYPE_CHECKING:
    from kafkalog_reader.errors import LogPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one batch, or one wrapper message, may decompress to.

    Attributes:
        batch_bytes: of one batch; producers send 1 MiB unless told otherwise, a batch of 133 MB
            was seen in the wild.
        ratio, ratio_from_bytes: at most so many times the compressed size, where more than so
            many bytes come out: zeros in zstd are 20,972 : 1, but a megabyte of them harms nobody.
        zstd_window: the largest window, zstd-jni's limit and hence Kafka's.
    """

    batch_bytes: int = 512 << 20
    ratio: int = 1000
    ratio_from_bytes: int = 16 << 20
    zstd_window: int = 128 << 20

    @classmethod
    def allowing(cls, batch_bytes: int | None) -> Limits:
        """So many bytes a batch, whatever the ratio: somebody has said what the memory bears."""
        if batch_bytes is None:
            return cls()
        return cls(batch_bytes=batch_bytes, ratio_from_bytes=batch_bytes)

    def largest_output(self, compressed_size: int) -> int:
        """How many bytes a payload of that size may become."""
        return min(self.batch_bytes, max(self.ratio_from_bytes, self.ratio * compressed_size))


DEFAULT_LIMITS: Final = Limits()


def checked_size(size: int, limit: int, where: LogPosition) -> int:
    """Return ``size``, the bytes known so far, unless it is above ``limit``.

    Raises:
        LimitReachedError: it is above; the batch may be sound, but it was not looked at.
    """
    if size > limit:
        raise LimitReachedError(
            f"decompresses to more than {limit:,} bytes, the limit (max_batch_bytes)", where
        )
    return size


def window_too_large(error: Exception, limit: int, where: LogPosition) -> LimitReachedError | None:
    """What zstd's error is when a frame asks for more memory than it was allowed, else None."""
    if "too much memory" not in str(error):
        return None
    return LimitReachedError(f"the zstd window is larger than {limit:,} bytes, the limit", where)
