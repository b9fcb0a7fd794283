"""Segments of messages of magic 0 and 1: every line equals that of Kafka's own tool."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from fixtures import jars
from fixtures.builder import EPOCH_MILLIS, cluster, message_batch, parse_log, replica
from fixtures.node import JAVA
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RECORDS = [
    Record(offset_delta=0, key=None, value=b""),
    Record(offset_delta=1, timestamp_delta=5, key=b"", value=b"v"),
    Record(offset_delta=3, timestamp_delta=2, key=b"key", value=None),
]


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each magic, codec and timestamp type, with a gap in each wrapper, followed by magic 2."""
    messages: list[bytes] = []
    for magic in (0, 1):
        for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
            for log_append_time in (None, EPOCH_MILLIS + 99) if magic else (None,):
                messages.append(
                    message_batch(
                        4 * len(messages),
                        RECORDS[:1] if codec is Codec.NONE else RECORDS,
                        magic=magic,
                        codec=codec,
                        log_append_time=log_append_time,
                    )
                )
    log = [*messages, *parse_log("a,b@500/e3")]
    return (
        cluster(tmp_path_factory.mktemp("built"), {0: replica(log)}, clean=[0])[0]
        / "t-0"
        / (f"{0:020d}.log")
    )


@pytest.mark.parametrize("options", [[], ["--deep-iteration"], ["--print-data-log"]])
def test_lines_about_messages_are_kafkas(
    options: list[str], segment: Path, run: Callable[..., object]
) -> None:
    kafka = subprocess.run(
        [
            *JAVA, "-cp", jars.class_path(jars.LATEST_TOOLS),
            "org.apache.kafka.tools.DumpLogSegments", *options, "--files", str(segment),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert run("dump", *options, segment).out == kafka.stdout
