"""Which partition of an internal topic its coordinator uses for a name.

Source: Kafka 4.4, Utils.abs, GroupCoordinatorService.partitionFor; java.lang.String.hashCode.
"""

from __future__ import annotations

from typing import Final

_LEAST: Final = -(1 << 31)


def java_hash(text: str) -> int:
    """``String.hashCode``: over UTF-16 code units, as a signed 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    found = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        found = (31 * found + (high << 8 | low)) & 0xFFFF_FFFF
    return found - (1 << 32) if found >> 31 else found


def coordinator_partition(name: str, partitions: int) -> int:
    """The partition of a group, or of a transactional id, in its topic.

    The absolute value of the hash, and 0 for the least number, which has none; masking the sign
    instead gives other partitions for half of all names.
    """
    found = java_hash(name)
    return (0 if found == _LEAST else abs(found)) % partitions
