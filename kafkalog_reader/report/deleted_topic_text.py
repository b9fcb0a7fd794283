"""What a plan says about topics that are being deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.io.names import shown
from kafkalog_reader.report.open_finding_text import partitions_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_reader.audits.plan.plan import Plan


def deleted_texts(plan: Plan) -> Iterator[str]:
    """Which topics, what is deleted when, and how to keep their records."""
    by_topic: dict[str, list[str]] = {}
    for each in plan.deleted:
        by_topic.setdefault(each.topic, []).append(each.name)
    for topic, names in by_topic.items():
        of_topic = [each for each in plan.deleted if each.topic == topic]
        marked = joined_ids(sorted({broker for each in of_topic for broker in each.marked_on}))
        live = joined_ids(sorted({broker for each in of_topic for broker in each.live_on}))
        yield shown(
            f"The topic {topic} is being deleted: {marked} marked it (-delete), and nobody elects "
            f"a leader of {partitions_text(names)}. A minute after the start the marked folders "
            f"are gone, and the live copies of {live} follow once all brokers of the topic run. If "
            "that is a mistake, start no broker before you have moved the marked folders aside: "
            f"kafkalog verify --topic {topic} prints the commands (KL-010)."
        )
