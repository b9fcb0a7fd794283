"""Whether what was named exists: a mistyped topic must not give an empty result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.io.names import METADATA_TOPIC
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import Evidence


def check_selection(
    evidence: Evidence, request: ReadRequest, *, selects_directories: bool = True
) -> None:
    """Refuse names that do not exist in the evidence.

    Args:
        evidence: the supplied paths.
        request: the requested topics, partitions and brokers.
        selects_directories: whether topics and partitions are directories; those of a commit may
            be elsewhere.

    Raises:
        UsageError: a topic or partition that is nowhere in the evidence.
        OptionError: a broker that is not among those supplied.
        UnreadableFileError: a log directory cannot be listed.
    """
    _check_brokers(evidence, request)
    named = {*request.starting_offsets, *request.ending_offsets, *(request.assigned or ())}
    topics = {topic for topic, _ in named} | set(request.topics or ())
    if not selects_directories or not (topics or request.partitions):
        return
    everything = with_remote(evidence).partition_directories(ReadRequest())
    found = {(each.topic, each.partition) for each in everything if each.topic is not None}
    known = {topic for topic, _ in found}
    for topic in sorted(topics - known):
        raise UsageError(f"no topic {topic!r} in the given paths{nearest(topic, known)}")
    _check_partitions(request, found)
    for topic, partition in sorted(named):
        if (topic, partition) not in found:
            raise UsageError(f"no partition {partition} of topic {topic!r} in the given paths")
        if not request.selects(topic, partition):
            raise UsageError(f"offsets are given for {topic}-{partition}, which is not subscribed")


def no_partition(to_do: str, evidence: Evidence) -> UsageError:
    """The error of a command that found no partition: an empty result would look like success.

    Args:
        to_do: what there is nothing of, such as ``check``.
        evidence: the supplied paths.
    """
    if evidence.remote:
        return UsageError(
            "only remote storage in the given paths, which holds no replica: "
            f"nothing to {to_do}; give the brokers' directories"
        )
    return UsageError(f"no partition in the given paths: nothing to {to_do}")


def _check_brokers(evidence: Evidence, request: ReadRequest) -> None:
    numbers = {root.broker_id for root in evidence.log_directories}
    brokers = sorted(number for number in numbers if number is not None)
    there = ", ".join(map(str, brokers)) or "without a known node id"
    if request.replica.startswith("broker:") and int(request.replica[7:]) not in brokers:
        problem = f"no {request.replica}: the given paths are of brokers {there}"
        raise OptionError("replica", problem)
    for broker in sorted(request.brokers or ()):
        if broker not in brokers:
            raise OptionError(
                "broker", f"no broker {broker}: the given paths are of brokers {there}"
            )


def _check_partitions(request: ReadRequest, found: set[tuple[str, int | None]]) -> None:
    topics = request.topics
    there = {partition for topic, partition in found if topics is None or topic in topics}
    for partition in sorted(request.partitions or ()):
        if partition not in there:
            of = "" if topics is None else f" of topic {', '.join(sorted(topics))}"
            raise UsageError(f"no partition {partition}{of} in the given paths")


def without_metadata(evidence: Evidence, request: ReadRequest) -> ReadRequest:
    """Leave out the quorum's log, as Spark does, unless it is named or the only log."""
    if request.topics is not None:
        return request
    supplied = with_remote(evidence)
    topics = {topic for (_, topic, _), _ in supplied.topic_partitions(request)}
    is_all = topics <= {METADATA_TOPIC}
    return request if is_all else replace(request, excluded_topics=frozenset([METADATA_TOPIC]))
