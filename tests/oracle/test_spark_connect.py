"""Spark Connect: tables, views, streams and errors, through its client and server."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from fixtures import captures
from fixtures.spark_cluster import environment, plain, wheel

pytestmark = pytest.mark.oracle

CONNECT = ("pandas", "grpcio", "grpcio-status", "googleapis-common-protos", "zstandard")
"""What Spark Connect needs beyond pyspark: its extra ``connect``."""
CAPTURE = "s3_2/both-led"
PROGRAM = """
import json, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[2]").getOrCreate()
path = sys.argv[1]
def read(**options):
    return spark.read.format("kafkalog").options(**options).load(path)
rows = sorted((row.offset, bytes(row.value).decode()) for row in read().collect())
codes = sorted({row.code for row in read(table="findings").collect()})
spark.sql(
    "CREATE TEMPORARY VIEW replicas USING kafkalog OPTIONS (table 'replicas', path '" + path + "')"
)
ends = sorted(
    (row.brokerId, row.logEndOffset)
    for row in spark.sql("SELECT * FROM replicas WHERE topic = 't'").collect()
)
stream = spark.readStream.format("kafkalog").options(startingOffsets="earliest").load(path)
query = stream.writeStream.format("memory").queryName("streamed")
query.option("checkpointLocation", "checkpoint").trigger(availableNow=True).start()
for each in spark.streams.active:
    each.awaitTermination()
streamed = sorted(row.offset for row in spark.table("streamed").collect())
try:
    read(startingOffset="earliest").collect()
    error = ""
except Exception as raised:
    error = f"{type(raised).__name__}: {raised}"
session = type(spark).__module__
print(json.dumps({
    "rows": rows, "codes": codes, "ends": ends, "streamed": streamed, "error": error,
    "session": session,
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program prints: only the server's Python has kafkalog, from its wheel."""
    folder = tmp_path_factory.mktemp("connect")
    client = environment(folder / "client", None, *CONNECT)
    server = environment(folder / "server", wheel(folder / "wheel"))
    done = subprocess.run(
        [str(client), "-c", PROGRAM, str(captures.path(CAPTURE))],
        cwd=folder,
        env=plain({"PYSPARK_PYTHON": str(server), "SPARK_TESTING": "1"}),  # a free port
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if '"rows"' in line]
    answer: dict[str, Any] = json.loads(line[line.index("{") :])
    return answer


def test_it_is_a_session_of_spark_connect(found: dict[str, Any]) -> None:
    assert found["session"] == "pyspark.sql.connect.session"


def test_tables_views_and_streams_are_read(found: dict[str, Any]) -> None:
    known = json.loads(captures.path("s3_2/expected.json").read_text())["captures"]["both-led"]
    replicas = known["replicas"]
    leader = replicas[str(known["leader"])]
    assert found["rows"] == [[each["offset"], each["value"]] for each in leader["records"]]
    assert found["streamed"] == [offset for offset, _ in found["rows"]]
    assert found["ends"] == [[int(id_), each["logEnd"]] for id_, each in sorted(replicas.items())]
    assert "KL-503" in found["codes"]  # the fork


def test_a_wrong_option_is_one_sentence(found: dict[str, Any]) -> None:
    assert found["error"].startswith("AnalysisException: [PYTHON_DATA_SOURCE_ERROR]")
    assert "no option named 'startingoffset'. Did you mean 'startingOffsets'?" in found["error"]
