"""Holds predictions against what a broker did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fixtures.recovery.clean_damages import MAX_INDEX_SIZE
from kafkalog_reader.audits.metadata_log import read_cluster_metadata
from kafkalog_reader.audits.recovery import predict_start
from kafkalog_reader.audits.recovery_rule import LogConfig, StartRule
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from fixtures.recovery.observation import Observation
    from kafkalog_reader.audits.recovery import Recovery

RULE: Final = StartRule(default_config=LogConfig(max_index_size=MAX_INDEX_SIZE))
"""Of the brokers here: ``log.index.size.max.bytes`` is theirs, no topic says it."""


def predictions(log_directory: Path) -> dict[str, Recovery]:
    """The start of the one broker whose log directory this is, by ``topic-partition``."""
    evidence = discover([str(log_directory)])
    replicas = {
        f"{replica.topic}-{replica.partition}": replica
        for replica in evidence.partition_directories(ReadRequest())
        if replica.topic != "__cluster_metadata"
    }
    (metadata,) = read_cluster_metadata(evidence).values()
    recoveries = predict_start(tuple(replicas.values()), metadata.topics(), rule=RULE)
    return dict(zip(replicas, recoveries, strict=True))


def disagreements(
    observed: Iterable[Observation], predicted: Mapping[str, Recovery]
) -> Iterator[str]:
    """Yield what came otherwise than it was predicted, in words; None is not known and agrees."""
    for each in observed:
        prediction = predicted[each.partition]
        for what, expected, came in _compared(prediction, each):
            if expected != came:
                yield (
                    f"{each.start}/{each.partition} {each.damage}: {what}: predicted {expected}, "
                    f"came {came} ({prediction.reason})"
                )


def _compared(prediction: Recovery, came: Observation) -> Iterator[tuple[str, Any, Any]]:
    yield "outcome", prediction.outcome.value, came.outcome
    yield "log end", prediction.log_end_offset_after_start, came.log_end
    known = {
        "segments read": (prediction.segments_read, came.segments_read),
        "bytes cut": (prediction.bytes_cut, came.bytes_cut),
        "records cut": (prediction.records_cut, came.records_cut),
    }
    if prediction.loaded is not None:
        log = prediction.loaded.log
        entries = (entry for entry in log.cache.entries if entry.start_offset < log.log_end_offset)
        epochs = tuple((entry.leader_epoch, entry.start_offset) for entry in entries)
        known["epochs"] = epochs, came.epochs
        known["log start"] = log.log_start_offset, came.log_start
    yield from ((what, *pair) for what, pair in known.items() if pair[1] is not None)
