"""The interpreted kernel gives the same rows as the compiled one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import kafkalog_reader
from fixtures import captures

CAPTURE = captures.path("everything/running")
READ = """
import sys
import pyarrow as pa
import kafkalog_reader
from kafkalog_reader.kernel import record_batches_cy, records_cy

assert record_batches_cy.__file__.endswith(".py"), record_batches_cy.__file__
assert records_cy.__file__.endswith(".py"), records_cy.__file__
capture, output, *tables = sys.argv[1:]
for name in tables:
    rows = kafkalog_reader.open(capture).table(name)
    with pa.ipc.new_file(f"{output}/{name}.arrow", rows.schema) as file:
        for batch in rows:
            file.write_batch(batch)
"""
TABLES = ("records", "batches", "replicas")


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows that an installation without compiled modules reads."""
    folder = tmp_path_factory.mktemp("interpreted")
    package = Path(kafkalog_reader.__file__).parent
    shutil.copytree(
        package,
        folder / package.name,
        ignore=shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__"),
    )
    done = subprocess.run(
        [sys.executable, "-c", READ, str(CAPTURE), str(folder), *TABLES],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("table", TABLES)
def test_interpreted_kernel_reads_the_same_rows(interpreted: Path, table: str) -> None:
    compiled = kafkalog_reader.open(str(CAPTURE)).table(table).to_arrow()
    with pa.ipc.open_file(interpreted / f"{table}.arrow") as file:
        assert file.read_all().equals(compiled)
    assert compiled.num_rows > 0
