"""Why a copy of the metadata log must not lead, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.spans import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.quorum.leading_logs import HeldTopic

_SHOWN: Final = 3


def topics_text(topics: Sequence[HeldTopic]) -> str:
    """``topics a, b and 7 more, of which brokers 1 and 2 have records``."""
    names = [shown(each.topic) for each in topics[:_SHOWN]]
    if more := len(topics) - _SHOWN:
        names += [f"{more:,} more"] if more > 0 else []
    brokers = sorted({each for topic in topics for each in topic.brokers})
    have = "has" if len(brokers) == 1 else "have"
    noun = "topic" if len(topics) == 1 else "topics"
    return f"{noun} {listed(names)}, of which {joined_ids(brokers)} {have} records"
