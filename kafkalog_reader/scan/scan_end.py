"""Why reading a segment ended."""

from __future__ import annotations

from enum import Enum


class ScanEnd(Enum):
    """Why a scan ended where it did."""

    COMPLETE = "complete"
    """At the end of the file: every byte belongs to a batch."""
    TORN = "torn"
    """The last batch needs more bytes than there are."""
    ZEROS = "zeros"
    """Nothing but zeros from here on: preallocated, or never written before a crash."""
    IMPOSSIBLE_LENGTH = "impossible length"
    UNKNOWN_MAGIC = "unknown magic"
    WRONG_CRC = "wrong CRC"
    """Ends the tail that a broker's recovery would keep, not a scan."""
    REFUSED = "refused"
    """The operating system cannot read it. It ends what an audit knows of a log, not a scan."""
