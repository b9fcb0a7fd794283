"""Run the Spark tests on the newest patch of every Spark release that is supported.

    python tests/spark_matrix.py             all of them: make spark-matrix
    python tests/spark_matrix.py 4.0 4.2     these

Each release gets a virtual environment below .cache/spark-matrix, which the next run keeps and
updates. The tests run on this checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / ".cache" / "spark-matrix"
RELEASES = ("4.0", "4.1", "4.2", "4.3")


def main(releases: list[str]) -> int:
    """Test the releases one after another; return 1 if one failed."""
    failed = []
    for release in releases:
        python = prepare(release)
        print(f"== Spark {installed_version(python)}", flush=True)  # noqa: T201  its output
        # Spark 4.0 leaves the socket of a collected result to the garbage collector.
        unclosed = "ignore:unclosed <socket:ResourceWarning"
        tests = [str(python), "-m", "pytest", "-q", "-W", unclosed, "tests/spark"]
        # Workers run the interpreter that the session fixture names, never another on the PATH.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYSPARK_")}
        if subprocess.run(tests, cwd=ROOT, env=environment, check=False).returncode != 0:
            failed.append(release)
    print(f"failed: {', '.join(failed)}" if failed else f"passed: {', '.join(releases)}")  # noqa: T201
    return 1 if failed else 0


def prepare(release: str) -> Path:
    """Prepare an environment with the newest patch of a release; return its interpreter."""
    environment = ENVIRONMENTS / release
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    wanted = [".[spark,test]", f"pyspark=={release}.*"]
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--upgrade", *wanted], cwd=ROOT, check=True
    )
    return python


def installed_version(python: Path) -> str:
    """The version that was installed."""
    asked = [str(python), "-c", "import pyspark; print(pyspark.__version__)"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(RELEASES)))
