"""The Java classes of the benchmark: compiled when they change, run with Kafka's own jars."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from fixtures.jars import LATEST, cache_directory, class_path

SOURCES: Final = Path(__file__).parent / "java"


def bench_directory() -> Path:
    """Where compiled classes and input files are kept between runs; git ignores it."""
    directory = cache_directory() / "benchmarks"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def source_digest(name: str) -> str:
    """A short name of one source's content; classes of an older one are not reused."""
    return hashlib.sha256((SOURCES / f"{name}.java").read_bytes()).hexdigest()[:10]


@cache
def java_command(name: str) -> list[str]:
    """The command that runs one class of ``benchmarks/java``, without its arguments.

    The serial collector is what Java itself chooses on one core; the heap holds the largest input.
    """
    classes = bench_directory() / f"{name}-{LATEST}-{source_digest(name)}"
    if not classes.is_dir():
        with tempfile.TemporaryDirectory(dir=classes.parent, prefix=".javac.") as scratch:
            output = Path(scratch) / "classes"
            javac = ["javac", "-d", str(output), "-cp", class_path(), str(SOURCES / f"{name}.java")]
            subprocess.run(javac, check=True)
            output.rename(classes)
    return ["java", "-XX:+UseSerialGC", "-Xmx1500m", "-cp", f"{classes}:{class_path()}", name]
