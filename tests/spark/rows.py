"""Helpers to compare rows in the Spark tests: places of records, and last lines of errors."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    Read = Callable[..., DataFrame]

# (topic, partition, offset) of each record, once, as the evidence fixture describes them.
EACH_RECORD_ONCE = Counter(
    [("forked", 0, offset) for offset in range(4)]
    + [("lagging", 0, offset) for offset in range(2, 10)]
    + [("lagging", 1, offset) for offset in range(5)]
    + [("transactions", 0, offset) for offset in (0, 2)]
    + [("headers", 0, offset) for offset in range(2)]
)


def places(frame: DataFrame) -> Counter[tuple[str, int, int]]:
    return Counter(tuple(row) for row in frame.select("topic", "partition", "offset").collect())


def failure(action: Callable[[], object]) -> str:
    """The text after our error condition in Spark's error: one line without Python's traceback."""
    with pytest.raises(PySparkException) as caught:
        action()
    text = str(caught.value)
    assert "Traceback" not in text.partition("JVM stacktrace:")[0], text
    lines = [line for line in text.splitlines() if "[KAFKALOG." in line]
    assert lines, text
    return lines[0].split("[KAFKALOG.", 1)[1].split("] ", 1)[1]
