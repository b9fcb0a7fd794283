"""The small partition of the format reference 14.8, for predictions of starts after damage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fixtures.builder import cluster, replica, small_batches
from kafkalog_reader.audits.recovery.start import predict_start
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kafkalog_reader.audits.recovery.recovery import Recovery

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
