"""Compares predictions with what a broker did."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from fixtures.recovery.base import CONFIG
from fixtures.recovery.clean_damages import MAX_INDEX_SIZE
from kafkalog_reader.audits.election.metadata_log import read_cluster_metadata
from kafkalog_reader.audits.recovery.outcome import StartOutcome
from kafkalog_reader.audits.recovery.rule import (
    SINCE_0_10_1,
    SINCE_0_11,
    SINCE_2_8,
    LogConfig,
    StartRule,
)
from kafkalog_reader.audits.recovery.start import predict_start
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from fixtures.recovery.observation import Observation
    from kafkalog_reader.audits.recovery.recovery import Recovery

RULE: Final = StartRule(default_config=LogConfig(max_index_size=MAX_INDEX_SIZE))
"""Configuration of these brokers: they set ``log.index.size.max.bytes``, not their topics."""
_INTERVAL: Final = int(CONFIG["index.interval.bytes"])
OLD_RULES: Final = {
    version: replace(
        rule,
        default_config=LogConfig(max_index_size=MAX_INDEX_SIZE, index_interval=_INTERVAL),
    )
    for version, rule in (
        ("2.8.2", SINCE_2_8),
        ("0.11.0.3", SINCE_0_11),
        ("0.10.2.2", SINCE_0_10_1),
    )
}
"""Rules of releases that keep topic configurations in ZooKeeper, which is not supplied."""


def predictions(
    log_directory: Path,
    release: str | None = None,
    started_at: int | None = None,
    *,
    is_before_4_4: bool = False,
) -> dict[str, Recovery]:
    """The predicted start of the broker that owns a log directory, by ``topic-partition``.

    Args:
        log_directory: of the broker.
        release: of the broker; None: the newest.
        started_at: milliseconds; None: when the files were last modified, which is just before the
            start.
        is_before_4_4: the newest rule, as releases 4.0 to 4.3 follow it.
    """
    if started_at is None:
        times = (path.stat().st_mtime for path in log_directory.rglob("*"))
        started_at = int(max(times) * 1000)
    evidence = discover([str(log_directory)])
    found = [
        each
        for each in evidence.partition_directories(ReadRequest())
        if each.topic != "__cluster_metadata"
    ]
    replicas = {f"{each.topic}-{each.partition}": each for each in found if each.is_replica}
    others = [each for each in found if not each.is_replica]
    if release is None:
        (metadata,) = read_cluster_metadata(evidence).values()
        rule = replace(RULE, started_at=started_at, reads_whole_version=not is_before_4_4)
        recoveries = predict_start(
            tuple(replicas.values()), metadata.topics(), others=others, rule=rule
        )
    else:
        rule = replace(OLD_RULES[release], started_at=started_at)
        recoveries = predict_start(tuple(replicas.values()), others=others, rule=rule)
    return dict(zip(replicas, recoveries, strict=True))


def disagreements(
    observed: Iterable[Observation], predicted: Mapping[str, Recovery]
) -> Iterator[str]:
    """Yield differences from the prediction as text; None means unknown and never differs."""
    for each in observed:
        prediction = predicted[each.partition]
        for what, expected, came in _compared(prediction, each):
            if expected != came:
                yield (
                    f"{each.start}/{each.partition} {each.damage}: {what}: predicted {expected}, "
                    f"came {came} ({prediction.reason})"
                )


def _compared(prediction: Recovery, came: Observation) -> Iterator[tuple[str, Any, Any]]:
    predicted = prediction.outcome
    unprinted = (StartOutcome.LOADS, StartOutcome.HIDDEN, StartOutcome.BROKER_ABORTS)
    is_named = came.is_logged or predicted in unprinted
    yield "outcome", predicted.value if is_named else StartOutcome.CUT.value, came.outcome
    yield "log end", prediction.log_end_offset_after_start, came.log_end
    known = {
        "segments read": (prediction.segments_read, came.segments_read),
        "bytes cut": (prediction.bytes_cut, came.bytes_cut),
        "records cut": (prediction.records_cut, came.records_cut),
    }
    if prediction.loaded is not None:
        log = prediction.loaded.log
        entries = (entry for entry in log.cache.entries if entry.start_offset < log.log_end_offset)
        start = log.log_start_offset  # as observed, see ``fixtures.recovery.observation``
        epochs = tuple((entry.leader_epoch, max(entry.start_offset, start)) for entry in entries)
        known["epochs"] = epochs, came.epochs
        known["log start"] = log.log_start_offset, came.log_start
    yield from ((what, *pair) for what, pair in known.items() if pair[1] is not None)
