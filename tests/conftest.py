"""Fixtures of all tests: the only Spark session of a run, and signals as on a terminal."""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from fixtures import live
from fixtures.object_store.bad_proxy import BadProxy
from fixtures.object_store.server import CREDENTIALS, S3Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent

# The same examples in each run, so that a change fails for its own faults only. New examples:
# ``pytest --hypothesis-profile=random``. A busy machine is slow to generate them, which is not a
# defect of the program.
BUSY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("random", BUSY)
settings.register_profile("repeatable", BUSY, derandomize=True)
settings.register_profile("quick", BUSY, derandomize=True, max_examples=10)  # see tests/chosen
settings.load_profile("repeatable")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which scenarios on real brokers had to be set up more than once."""
    for line in live.missed:
        terminalreporter.write_line(f"missed and set up anew: {line}")


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Restore SIGINT, which a shell without job control ignores for background processes."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _logging_is_left_alone() -> Iterator[None]:
    """Fail the test that silences the log for all later tests, instead of those."""
    ours = logging.getLogger("kafkalog_reader")
    before = (logging.root.manager.disable, ours.propagate, ours.disabled)
    yield
    after = (logging.root.manager.disable, ours.propagate, ours.disabled)
    logging.disable(before[0])
    ours.propagate, ours.disabled = before[1:]
    assert after == before, "this test changed logging and did not restore it"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Two cores, UTC, on loopback; started for the first test that uses it.

    There is no register call, because Spark finds ``pyspark_kafkalog`` as it does for users.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.update(CREDENTIALS)  # workers inherit them; see the fixture ``s3``
    # Workers must import this checkout, even if another one is installed.
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    from pyspark.sql import SparkSession

    warehouse = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("kafkalog tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(warehouse))
        .config("spark.python.worker.faulthandler.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")  # expected failures would print Java stack traces
    yield session
    session.stop()


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """An S3 server without buckets; each test makes its own."""
    with S3Server() as server:
        yield server


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the S3 server, in the environment."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def proxy(s3: S3Server, credentials: None) -> Iterator[BadProxy]:
    """A proxy in front of the S3 server."""
    with BadProxy(s3.port) as running:
        yield running
