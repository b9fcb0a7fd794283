"""Whether what was named exists: a mistyped topic must not give an empty result."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from kafkalog_reader.errors import OptionError, UsageError
from kafkalog_reader.format.broker_words import joined_ids
from kafkalog_reader.io.names import METADATA_TOPIC, shown
from kafkalog_reader.io.remote_part import with_remote
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from kafkalog_reader.io.checkpoints import TopicPartition
    from kafkalog_reader.io.evidence import Evidence


def selects_partitions(evidence: Evidence, request: ReadRequest) -> bool:
    """Whether brokers may have other partitions: some were chosen, by options or as paths."""
    if request.topics is not None or request.partitions is not None:
        return True
    return bool({*evidence.log_directories} - {*evidence.roots})


def check_selection(
    evidence: Evidence,
    request: ReadRequest,
    *,
    selects_directories: bool = True,
    lost: Callable[[], Iterable[TopicPartition]] = tuple,
) -> None:
    """Refuse names that do not exist in the evidence.

    Args:
        evidence: the supplied paths.
        request: the requested topics, partitions and brokers.
        selects_directories: whether topics and partitions are directories; those of a commit may
            be elsewhere.
        lost: called where something does not exist: partitions without a copy that the caller
            reports all the same.

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
    problem = _problem(request, topics, named, found)
    if problem:
        problem = _problem(request, topics, named, found | {*lost()})
    if problem:
        raise UsageError(f"{problem}{_elsewhere(evidence, request, topics, found)}")


def _problem(
    request: ReadRequest,
    topics: Collection[str],
    named: Iterable[TopicPartition],
    found: Collection[tuple[str, int | None]],
) -> str:
    """The first name that does not exist; empty if all do."""
    known = {topic for topic, _ in found}
    for topic in sorted({*topics} - known):
        return f"no topic {topic!r} in the given paths{nearest(topic, known)}"
    asked = request.topics
    there = {partition for topic, partition in found if asked is None or topic in asked}
    for partition in sorted(request.partitions or ()):
        if partition not in there:
            of = "" if asked is None else f" of topic {', '.join(sorted(asked))}"
            return f"no partition {partition}{of} in the given paths"
    for topic, partition in sorted(named):
        if (topic, partition) not in found:
            return f"no partition {partition} of topic {topic!r} in the given paths"
        if not request.selects(topic, partition):
            return f"offsets are given for {topic}-{partition}, which is not subscribed"
    return ""


def _elsewhere(
    evidence: Evidence,
    request: ReadRequest,
    topics: Collection[str],
    found: Collection[tuple[str, int | None]],
) -> str:
    """Where partitions that were named are by the metadata log; empty if it does not know them."""
    from kafkalog_reader.tables.assigned_replicas import assigned_replicas

    left = {
        (topic, partition): brokers
        for (_, topic, partition), brokers in assigned_replicas(evidence).items()
        if topic in topics and request.selects(topic, partition) and (topic, partition) not in found
    }
    if not left:
        return ""
    (topic, partition), brokers = min(left.items())
    more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
    return (
        f": according to the metadata log {shown(topic)}-{partition} is on {joined_ids(brokers)}, "
        f"and no copy of it{more} was supplied (kafkalog verify says whether it is lost)"
    )


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


def without_metadata(evidence: Evidence, request: ReadRequest) -> ReadRequest:
    """Leave out the quorum's log, unless its topic or folder is named, or it is the only log."""
    if request.topics is not None or request.assigned is not None or request.excluded_topics:
        return request
    if any(each.topic == METADATA_TOPIC for each in evidence.given):
        return request
    replicas = (each for each in evidence.unordered_directories(request) if each.is_replica)
    is_all = all(each.topic == METADATA_TOPIC for each in chain(evidence.remote, replicas))
    return request if is_all else replace(request, excluded_topics=frozenset([METADATA_TOPIC]))
