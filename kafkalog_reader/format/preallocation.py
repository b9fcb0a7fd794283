"""The zeros after the last real entry of an offset or time index that is still being written.

Kafka creates the indexes of an active segment at their full size and trims them when it rolls the
segment or shuts down; a copy of a live or killed broker keeps the zeros.
"""

from __future__ import annotations


def used_entries(content: bytes, entry_size: int) -> int:
    """Count the entries before the all-zero ones at the end, without a last partial entry.

    A zero entry before other entries is counted: it is damage, not preallocation.
    """
    whole = len(content) // entry_size * entry_size
    used = len(content[:whole].rstrip(b"\0"))
    return -(-used // entry_size)
