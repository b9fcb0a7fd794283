"""One Kafka broker on loopback that serves the benchmark's segments, started as Kafka starts it.

The brokers of the test fixtures are no fair peer: they are set up to start fast (first-level
compiler, small heap).
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # lists no names to export
    AdminClient,
    NewTopic,
    OffsetSpec,
)

from benchmarks.segments import TOPIC, Segments
from fixtures.jars import class_path

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTER_ID: Final = "a2Fma2Fsb2ctYmVuY2htYQ"
START_TIMEOUT: Final = 120
JAVA: Final = ["java", "-Xmx1g", "-Xms1g"]  # kafka-server-start's own heap


class BrokerFailedError(Exception):
    """The broker did not start, or does not serve the segments."""


@contextmanager
def live_broker(segments: Segments) -> Iterator[tuple[str, Path]]:
    """Start a broker that leads the partition; yield its address and its partition directory."""
    with tempfile.TemporaryDirectory(prefix="kafkalog-bench-") as scratch:
        directory = Path(scratch)
        address, properties = _configure(directory)
        _run(directory, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", properties)
        partition = directory / "log" / f"{TOPIC}-0"
        with _running(directory, properties):
            _create_topic(address)
        _place(segments, partition)
        with _running(directory, properties):
            _wait_for_log_end(address, segments.records)
            yield address, partition


def _configure(directory: Path) -> tuple[str, str]:
    address, controller = (f"127.0.0.1:{port}" for port in _free_ports(2))
    properties = directory / "server.properties"
    properties.write_text(
        f"""\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{controller}
listeners=PLAINTEXT://{address},CONTROLLER://{controller}
controller.listener.names=CONTROLLER
log.dirs={directory / "log"}
offsets.topic.replication.factor=1
log.retention.ms=-1
"""
    )  # the records are as old as their seed says; retention would delete them
    return address, str(properties)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _run(directory: Path, main_class: str, *arguments: str) -> None:
    with (directory / "output.txt").open("ab") as output:
        command = [*JAVA, "-cp", class_path(), main_class, *arguments]
        subprocess.run(command, check=True, stdout=output, stderr=subprocess.STDOUT)


@contextmanager
def _running(directory: Path, properties: str) -> Iterator[None]:
    with (directory / "output.txt").open("ab") as output:
        command = [*JAVA, "-cp", class_path(), "kafka.Kafka", properties]
        broker = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield
    finally:
        broker.send_signal(signal.SIGTERM)
        try:
            broker.wait(30)
        except subprocess.TimeoutExpired:
            broker.kill()
            broker.wait()


def _create_topic(address: str) -> None:
    admin = _admin(address)
    topic = NewTopic(TOPIC, num_partitions=1, replication_factor=1)
    admin.create_topics([topic], request_timeout=START_TIMEOUT)[TOPIC].result(START_TIMEOUT)
    _wait_for_log_end(address, 0)  # the directory is there


def _place(segments: Segments, partition: Path) -> None:
    """Give a stopped broker the records; it rebuilds the indexes when it starts."""
    (partition.parent / ".kafka_cleanshutdown").unlink()
    for file in partition.iterdir():
        if file.name != "partition.metadata":
            file.unlink()
    for segment in segments.partition_directory().glob("*.log"):
        shutil.copyfile(segment, partition / segment.name)


def _wait_for_log_end(address: str, log_end: int) -> None:
    admin, partition = _admin(address), TopicPartition(TOPIC, 0)
    deadline = time.monotonic() + START_TIMEOUT
    found: int | None = None
    while time.monotonic() < deadline:
        try:
            latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # has no types
            listed = admin.list_offsets({partition: latest})
            found = listed[partition].result(5).offset
        except (KafkaException, TimeoutError):
            pass  # not there yet
        if found == log_end:
            return
        time.sleep(0.2)
    raise BrokerFailedError(f"the broker serves up to offset {found}, not {log_end}")


def _admin(address: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": address, "log_level": 0})
