"""What Spark ships to a worker names kafkalog if it is missing there or has another version."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from pyspark import cloudpickle

import kafkalog_reader
from spark_datasource.source import KafkaLogDataSource

if TYPE_CHECKING:
    from pathlib import Path

HIDING = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("kafkalog_reader", "spark_datasource"):
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Hidden())
"""
LOAD = """
import pickle
pickle.load(sys.stdin.buffer)
"""


def loaded_elsewhere(program: str, content: bytes, folder: Path) -> str:
    """The last line that a Python prints when it unpickles the content after ``program``."""
    done = subprocess.run(
        [sys.executable, "-c", program + LOAD],
        input=content, cwd=folder, env=dict(os.environ), capture_output=True, check=False,
    )  # fmt: skip
    return (done.stderr.decode().strip().splitlines() or ["loaded"])[-1]


@pytest.fixture(params=["source", "reader", "stream"])
def shipped(request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    source = KafkaLogDataSource({"path": str(tmp_path)})
    made = {
        "source": lambda: source,
        "reader": lambda: source.reader(source.schema()),
        "stream": lambda: source.streamReader(source.schema()),
    }
    return bytes(cloudpickle.dumps(made[request.param]()))


def test_a_worker_with_the_same_version_loads_it(shipped: bytes, tmp_path: Path) -> None:
    assert loaded_elsewhere("import sys\n", shipped, tmp_path) == "loaded"


def test_a_worker_without_kafkalog_names_it(shipped: bytes, tmp_path: Path) -> None:
    message = loaded_elsewhere(HIDING, shipped, tmp_path)
    assert "[KAFKALOG.NOT_INSTALLED]" in message
    assert f"{sys.executable} on " in message
    assert "cannot import kafkalog (No module named 'kafkalog_reader')." in message
    assert f"Install kafkalog {kafkalog_reader.__version__} there" in message


def test_a_worker_with_another_version_names_both(shipped: bytes, tmp_path: Path) -> None:
    other = "import sys, kafkalog_reader\nkafkalog_reader.__version__ = '0.0.1'\n"
    message = loaded_elsewhere(other, shipped, tmp_path)
    assert "[KAFKALOG.VERSION_MISMATCH]" in message
    assert f"has kafkalog 0.0.1, but the driver has {kafkalog_reader.__version__}." in message
