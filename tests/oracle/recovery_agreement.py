"""Holds predictions against what a broker did: its log lines, its answers, its files afterwards."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fixtures.recovery.clean_damages import MAX_INDEX_SIZE
from fixtures.recovery.copied_replica import EPOCHS
from fixtures.recovery.start import AFTER, BEFORE, SEEN
from kafkalog_reader.audits.recovery import predict_start
from kafkalog_reader.audits.recovery_outcome import Outcome
from kafkalog_reader.audits.recovery_rule import LogConfig, StartRule
from kafkalog_reader.audits.recovery_topics import read_cluster_topics
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kafkalog_reader.audits.recovery import Recovery

RULE: Final = StartRule(default_config=LogConfig(max_index_size=MAX_INDEX_SIZE))
"""Of the brokers here: ``log.index.size.max.bytes`` is theirs, no topic says it."""
NOT_COUNTED: Final = {"old-messages", "old-messages-damaged", "interrupted-swap-torn"}
"""The first two hold what no broker wrote; nobody can tell damage in a swap from compaction."""
BELOW_THE_LOG_START: Final = "log-start-"
"""Segments below the log start go too, a moment later and whatever the start did."""


@dataclass(frozen=True)
class Case:
    """One replica that was damaged."""

    start: Path
    name: str
    partition: str
    prediction: Recovery
    seen: dict[str, Any]

    @property
    def told(self) -> list[str]:
        """The broker's lines about this replica."""
        words = (f"partition={self.partition},", f"/{self.partition}/", f"/{self.partition} ")
        return [line for line in self.seen["told"] if any(word in line for word in words)]

    @property
    def is_aside(self) -> bool:
        return any((self.start / AFTER).glob(f"{self.partition}.*-stray"))

    def logs(self, when: str) -> dict[str, bytes]:
        """Its logs before the start, and after it, wherever they are then."""
        aside = next((self.start / when).glob(f"{self.partition}.*-stray"), None)
        directory = aside or self.start / when / self.partition
        return {path.name: path.read_bytes() for path in directory.glob("*.log")}


def cases(output: Path) -> Iterator[Case]:
    """Every damaged replica of every start, with its prediction."""
    for seen_path in sorted(output.glob(f"*/{SEEN}")):
        start = seen_path.parent
        seen = json.loads(seen_path.read_text())
        evidence = discover([str(start / BEFORE)])
        replicas = {
            f"{replica.topic}-{replica.partition}": replica
            for replica in evidence.partition_directories(ReadRequest())
            if replica.topic != "__cluster_metadata"
        }
        topics = read_cluster_topics(evidence)
        (cluster_id,) = topics
        predicted = predict_start(tuple(replicas.values()), topics[cluster_id], rule=RULE)
        by_partition = dict(zip(replicas, predicted, strict=True))
        for partition, name in seen["damages"].items():
            yield Case(start, name, partition, by_partition[partition], seen)


def disagreements(output: Path) -> list[str]:
    """What was predicted otherwise than it came, in words; one line each."""
    base = {kind: _batches(output / "base" / kind) for kind in ("killed", "stopped")}
    found = []
    for case in cases(output):
        kind = "stopped" if case.start.name.startswith("clean") else "killed"
        for what, predicted, came in _compared(case, base[kind][case.partition]):
            if predicted != came:
                found.append(
                    f"{case.start.name}/{case.partition} {case.name}: {what}: "
                    f"predicted {predicted}, came {came} ({case.prediction.reason})"
                )
    return found


def _compared(case: Case, base: list[bytes]) -> Iterator[tuple[str, Any, Any]]:
    prediction = case.prediction
    yield "outcome", prediction.outcome, _outcome(case)
    answer = case.seen["offsets"].get(case.partition)
    log_end = None if answer is None or case.is_aside else answer[1]
    yield "log end", prediction.log_end_offset_after_start, log_end
    if not case.seen["cameUp"] or prediction.loaded is None:
        return
    yield "segments read", set(prediction.segments_read), _segments_read(case)
    log = prediction.loaded.log
    if not case.is_aside:
        yield "log start", log.log_start_offset, answer[0]
        yield "epochs", _epochs_predicted(case), _epochs_after(case)
    if case.name.startswith(BELOW_THE_LOG_START) and prediction.outcome is not Outcome.EMPTIED:
        return
    before, after = case.logs(BEFORE), case.logs(AFTER)
    if "swap" not in case.name and "splits" not in prediction.reason:
        lost = sum(map(len, before.values())) - sum(map(len, after.values()))
        yield "bytes cut", prediction.bytes_cut, lost
    if case.name not in NOT_COUNTED:
        was = [batch for batch in base if _holds(case, BEFORE, batch)]
        stays = [batch for batch in was if _holds(case, AFTER, batch)]
        yield "records cut", prediction.records_cut, 4 * (len(was) - len(stays))


def _outcome(case: Case) -> Outcome:
    """What the broker did, from its words and its files alone."""
    lines = case.seen["told"]
    if not case.seen["cameUp"]:
        fatal = any("Encountered fatal fault" in line for line in lines)
        return Outcome.BROKER_ABORTS if fatal else Outcome.DIRECTORY_OFFLINE
    if case.is_aside:
        return Outcome.STRAY
    told = " ".join(case.told)
    if "Deleting all segments" in told:
        return Outcome.EMPTIED
    if "retention time" in told:
        return Outcome.EXPIRED
    before, after = case.logs(BEFORE), case.logs(AFTER)
    is_cut = any(
        len(after.get(name, b"")) < len(content)
        for name, content in before.items()
        if "log start offset" not in told or name in after
    )
    is_merged = "swap" in case.name or "split" in case.prediction.reason
    return (
        Outcome.CUT if (is_cut and not is_merged) or "Corruption found" in told else Outcome.LOADS
    )


def _segments_read(case: Case) -> set[int]:
    unflushed = (re.search(r"Recovering unflushed segment (\d+)\.", line) for line in case.told)
    rebuilt = (
        re.search(r"log file \S+/(\d+)\.log,? .*recovering segment", line) for line in case.told
    )
    return {int(each[1]) for each in (*unflushed, *rebuilt) if each is not None}


def _epochs_after(case: Case) -> list[tuple[int, int]]:
    """Without what the broker added when it became leader, at its log end."""
    path = case.start / AFTER / case.partition / EPOCHS
    rows = [tuple(map(int, line.split())) for line in path.read_text().splitlines()[2:]]
    log_start, log_end = case.seen["offsets"][case.partition]
    return [(epoch, max(start, log_start)) for epoch, start in rows if start < log_end]


def _epochs_predicted(case: Case) -> list[tuple[int, int]]:
    assert case.prediction.loaded is not None
    log = case.prediction.loaded.log
    return [
        (entry.leader_epoch, entry.start_offset)
        for entry in log.cache.entries
        if entry.start_offset < log.log_end_offset
    ]


def _batches(root: Path) -> dict[str, list[bytes]]:
    """The bytes of every batch that clients wrote, by the lengths in them."""
    found: dict[str, list[bytes]] = {}
    for directory in root.glob("*-*/"):
        batches = found.setdefault(directory.name, [])
        for log in sorted(directory.glob("*.log")):
            content, position = log.read_bytes(), 0
            while position < len(content):
                size = 12 + int.from_bytes(content[position + 8 : position + 12], "big")
                batches.append(content[position : position + size])
                position += size
    return found


def _holds(case: Case, when: str, batch: bytes) -> bool:
    """Whether a log holds a batch that can be read: its offset and leader epoch may differ."""
    for content in case.logs(when).values():
        place = content.find(batch[17:])
        if place >= 0 and content[place - 9 : place - 5] == batch[8:12]:
            return 2 <= content[place - 1] < 128
    return False
