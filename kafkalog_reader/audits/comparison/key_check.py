"""Compares the keys of a partition, if it was cleaned.

Most partitions were not cleaned: for those, ``cleaned_records`` and the Arrow functions that it
uses are not even imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.comparison.difference import DifferenceKind, KeyCheck

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.comparison.committed import History
    from kafkalog_reader.audits.comparison.compared_replicas import Comparison
    from kafkalog_reader.audits.log.replica import Replica


def check_keys(
    histories: Mapping[Replica, History],
    comparison: Comparison,
) -> KeyCheck:
    """Compare the keys of a partition if it was cleaned; otherwise read nothing.

    Damaged and unreadable records are left out here: they have findings of their own.

    Args:
        directories: one for each replica.
        histories: one for each replica.
        comparison: of the same replicas.
    """
    cleaned = [d for d in comparison.differences if d.kind is DifferenceKind.CLEANED]
    if not cleaned:
        return KeyCheck()
    from kafkalog_reader.audits.comparison.cleaned_records import compare_keys

    return compare_keys(histories, comparison, cleaned)
