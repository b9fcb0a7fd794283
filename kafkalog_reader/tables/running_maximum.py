"""The running maximum of columns that nearly always rise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def running_maximum(
    values: NDArray[Any], before: int | None = None, *, rises: bool = False
) -> NDArray[Any]:
    """The greatest value up to each entry; ``values`` itself, not a copy, if they rise.

    ``before``: the greatest value before the first; ``rises``: the values are known to rise.

    Checking that they rise is about ten times as fast as accumulating the maximum.
    """
    rises = rises or bool((values[1:] >= values[:-1]).all())
    if rises and (before is None or not len(values) or values[0] >= before):
        return values
    greatest: NDArray[Any] = values if rises else np.maximum.accumulate(values)
    return greatest if before is None else np.maximum(greatest, before)
