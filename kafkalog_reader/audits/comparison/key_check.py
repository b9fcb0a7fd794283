"""What the keys of a cleaned partition say, where it was cleaned at all.

Most partitions were not: for those, what compares keys (``cleaned_records``, and Arrow's functions
behind it) is not even imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.difference import DifferenceKind, KeyCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.comparison.difference import Comparison
    from kafkalog_reader.io.evidence import PartitionDirectory


def check_keys(
    directories: Sequence[PartitionDirectory],
    histories: Sequence[History],
    comparison: Comparison,
) -> KeyCheck:
    """Look at the keys of a partition that was cleaned; of others nothing is read.

    What is damaged or cannot be read is left out here: it has findings of its own.

    Args:
        directories: of the replicas.
        histories: of the replicas.
        comparison: of the same.
    """
    cleaned = [d for d in comparison.differences if d.kind is DifferenceKind.CLEANED]
    if not cleaned:
        return KeyCheck()
    from kafkalog_reader.audits.comparison.cleaned_records import compare_keys

    return compare_keys(directories, histories, comparison, cleaned)
