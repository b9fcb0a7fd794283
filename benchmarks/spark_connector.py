"""The jars of Spark's own Kafka source, from Maven Central, kept between runs."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

import pyspark

from benchmarks.java import bench_directory

VERSIONS: Final = (pyspark.__version__, "4.0.0")
"""Spark's own version first; a mirror may lack it, and 4.0.0 runs on 4.3 as well."""
SPARK_HAS: Final = (
    "spark-tags_2.13,scala-library,hadoop-client-api,hadoop-client-runtime,slf4j-api,jsr305"
)
POM: Final = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkalog</groupId>
  <artifactId>spark-connector</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.spark</groupId>
      <artifactId>spark-sql-kafka-0-10_2.13</artifactId>
      <version>{version}</version>
    </dependency>
  </dependencies>
</project>
"""


class NoConnectorError(Exception):
    """Maven has none of the versions."""


def connector() -> tuple[str, list[Path]]:
    """Return the connector's version and its jars, less those that Spark brings."""
    for version in VERSIONS:
        jars = bench_directory() / f"spark-connector-{version}"
        if jars.is_dir() or _download(version, jars):
            return version, sorted(jars.glob("*.jar"))
    raise NoConnectorError(f"Maven has no spark-sql-kafka-0-10 of {' or '.join(VERSIONS)}")


def _download(version: str, jars: Path) -> bool:
    with tempfile.TemporaryDirectory(dir=jars.parent, prefix=".connector.") as scratch:
        pom, output = Path(scratch) / "pom.xml", Path(scratch) / "jars"
        pom.write_text(POM.format(version=version))
        command = [
            "mvn", "--quiet", "--batch-mode", "--file", str(pom),
            "dependency:copy-dependencies", "-DincludeScope=runtime",
            f"-DexcludeArtifactIds={SPARK_HAS}", f"-DoutputDirectory={output}",
        ]  # fmt: skip
        if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode:
            return False
        output.rename(jars)
        return True
