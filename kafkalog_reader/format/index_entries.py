"""Entries of fixed size: those of the three indexes and of a producer snapshot, declared once.

Source: Kafka 4.0, storage OffsetIndex, TimeIndex, AbortedTxn, ProducerSnapshot.json.
"""

from __future__ import annotations

import struct
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

_STRUCT_CODES: Final = {"i2": "h", "i4": "l", "i8": "q"}


class FixedEntry:
    """An entry of fixed size: signed big-endian integers.

    Args:
        fields: name and kind (``i2``, ``i4`` or ``i8``) of each, in file order.

    Attributes:
        names: of the fields.
        struct: reads and writes one entry.
        dtype: of entries in numpy, with the bytes as they are in the file.
        size: bytes of an entry.
    """

    def __init__(self, **fields: str) -> None:
        self.names = tuple(fields)
        self.struct = struct.Struct(">" + "".join(_STRUCT_CODES[kind] for kind in fields.values()))
        self.size = self.struct.size
        self._fields = fields

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """Imports numpy, which the help of the commands does without."""
        import numpy as np

        return np.dtype([(name, f">{kind}") for name, kind in self._fields.items()])


OFFSET_INDEX_ENTRY: Final = FixedEntry(relative_offset="i4", position="i4")
"""Every batch before ``position`` ends below this offset, which counts from the segment's base."""
WIDE_OFFSET_INDEX_ENTRY: Final = FixedEntry(relative_offset="i4", position="i8")
"""The same for segments above 2 GiB (KIP-1333); see ``io/offset_index_layout``."""
TIME_INDEX_ENTRY: Final = FixedEntry(timestamp="i8", relative_offset="i4")
"""Records up to this offset have at most this timestamp, in milliseconds since 1970 UTC."""
TRANSACTION_INDEX_ENTRY: Final = FixedEntry(
    version="i2", producer_id="i8", first_offset="i8", last_offset="i8", last_stable_offset="i8"
)
"""An aborted transaction; its fields are those of ``AbortedTransaction``."""
PRODUCER_ENTRY: Final = FixedEntry(
    producer_id="i8",
    producer_epoch="i2",
    last_sequence="i4",
    last_offset="i8",
    offset_delta="i4",
    timestamp="i8",
    coordinator_epoch="i4",
    current_transaction_first_offset="i8",
)
"""Its fields are those of ``ProducerSnapshotEntry``."""
