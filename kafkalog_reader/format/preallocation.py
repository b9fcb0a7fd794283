"""The zeros behind the last real entry of an offset or time index that is still written to.

Kafka creates the indexes of an active segment at their full size and trims them when it rolls or
stops in order; a copy of a live or killed broker keeps the zeros.
"""

from __future__ import annotations


def used_entries(content: bytes, entry_size: int) -> int:
    """Count the entries before the trailing all-zero ones, a last partial entry not included.

    An entry of zeros that others follow is counted: it is damage, not preallocation.
    """
    whole = len(content) // entry_size * entry_size
    used = len(content[:whole].rstrip(b"\0"))
    return -(-used // entry_size)
