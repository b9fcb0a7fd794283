"""Base offsets that are wrong, as the batches before and after them prove.

No checksum covers the base offset of a batch. Whoever finds a wrong one, in a controller's log or
in that of a partition, asks here what the right one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIELD: Final = (1 << 64) - 1


def restored_offsets(
    base_offset: NDArray[np.int64],
    last_offset: NDArray[np.int64],
    start: int,
    stop: int | None = None,
    *,
    is_gapless: bool = False,
) -> list[tuple[int, int, int]]:
    """Correct wrong base offsets in the columns: row, stored and right one of each.

    A base offset is wrong that is not the one due, if the next batch begins where it would with the
    one due. Compaction leaves gaps between batches, so in a log with gaps a single wrong bit must
    explain it, too. In a log without, it is enough for the last batch, after which nothing begins.

    Args:
        base_offset: of all batches, in file order.
        last_offset: of the same batches.
        start: where the first one begins.
        stop: where the batch after the last one begins; None if that is unknown.
        is_gapless: whether no offset may be missing between two batches.
    """
    found = []
    before = np.concatenate([[start], last_offset[:-1] + 1])[: len(base_offset)]
    for row in map(int, np.flatnonzero(base_offset != before)):
        stored = int(base_offset[row])
        due = int(last_offset[row - 1]) + 1 if row else start
        if stored == due:
            continue
        following = due + int(last_offset[row]) - stored + 1
        is_last = row + 1 == len(base_offset)
        next_base = stop if is_last else int(base_offset[row + 1])
        is_one_bit = ((stored ^ due) & _FIELD).bit_count() == 1
        fits = is_gapless if next_base is None else next_base == following
        if fits and (is_one_bit or (is_gapless and not is_last)):
            found.append((row, stored, due))
            base_offset[row], last_offset[row] = due, following - 1
    return found
