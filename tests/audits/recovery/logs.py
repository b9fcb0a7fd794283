"""The small partition of the format reference 14.8, for predictions of starts after damage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fixtures.builder import cluster, replica, small_batches
from kafkalog_reader.audits.log.batch_stream import BatchStream
from kafkalog_reader.audits.log.leader_epoch_cache import LeaderEpochCache
from kafkalog_reader.audits.recovery.load import LogLoad
from kafkalog_reader.audits.recovery.rule import LogConfig
from kafkalog_reader.audits.recovery.start import predict_start
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kafkalog_reader.audits.log.read_segment import ReadSegment
    from kafkalog_reader.audits.recovery.recovery import Recovery

BATCH: Final = 83
END: Final = 23
FIRST: Final = f"{0:020}"
LAST: Final = f"{13:020}"


def write_small(root: Path, *, is_clean: bool, **checkpoints: Any) -> Path:
    """Write a log directory of broker 1 with it; return the partition directory."""
    described = replica(
        small_batches(), segment_bytes=600, index_interval=100, high_watermark=23, **checkpoints
    )
    return cluster(root, {1: described}, clean=[1] if is_clean else [])[1] / "t-0"


def start(root: Path, **arguments: Any) -> Recovery:
    """The prediction for the only replica below a folder."""
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    (recovery,) = predict_start([directory], **arguments)
    return recovery


def starts(root: Path, **arguments: Any) -> Mapping[str, Recovery]:
    """The predictions for all replicas of a folder's only broker, by ``topic-partition``."""
    directories = tuple(discover([str(root)]).partition_directories(ReadRequest()))
    recoveries = predict_start(directories, **arguments)
    return {
        f"{directory.topic}-{directory.partition}": recovery
        for directory, recovery in zip(directories, recoveries, strict=True)
    }


def loaded(root: Path, **arguments: Any) -> LogLoad:
    """The only replica, loaded as by a broker that was killed after a flush at 13."""
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    settings = {"recovery_point": 13, "log_start": 0, "is_clean": False, "config": LogConfig()}
    load = LogLoad(directory, LeaderEpochCache(), **(settings | arguments))
    load.run()
    return load


def known(root: Path) -> Mapping[str, ReadSegment]:
    """What is known of the only replica's segments once they were read whole."""
    (directory,) = discover([str(root)]).partition_directories(ReadRequest())
    stream = BatchStream(directory)
    while not stream.ended:
        stream.advance(stream.left_in_window)
    return stream.read_segments


def put(path: Path, position: int, content: bytes) -> None:
    """Overwrite bytes of a file."""
    with path.open("r+b") as file:
        file.seek(position)
        file.write(content)
