"""What an installation leaves: modules that Spark and the shell find from any directory."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_spark_finds_the_data_source_from_any_directory(tmp_path: Path) -> None:
    # As pyspark.sql.worker.lookup_data_sources does it.
    program = (
        "import pkgutil; "
        "print(*(found.name for found in pkgutil.iter_modules() if found.name[:8] == 'pyspark_'))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["pyspark_kafkalog"]
