"""Object stores as paths in Spark: listed by the driver, read by tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.captures import path as capture_path
from fixtures.object_store.bad_proxy import Spoilt

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from fixtures.object_store.bad_proxy import BadProxy
    from fixtures.object_store.server import S3Server

FOLDER = capture_path("s1") / "shrunk"


@pytest.fixture(scope="module")
def bucket(s3: S3Server) -> str:
    s3.upload(FOLDER, "queries")
    return "queries"


def test_store_has_the_rows_of_the_folder(
    spark: SparkSession, s3: S3Server, bucket: str, proxy: BadProxy
) -> None:
    read = spark.read.format("kafkalog").option("subscribe", "t")
    expected = sorted(map(str, read.load(str(FOLDER)).collect()))
    assert expected
    uri = s3.uri(bucket, port=proxy.port)
    assert sorted(map(str, read.load(uri).collect())) == expected
    one_broker = [s3.uri(f"{bucket}/broker-{number}") for number in (0, 1, 2)]
    assert sorted(map(str, read.load(one_broker).collect())) == expected


def test_answer_that_ends_half_way_changes_no_row(
    spark: SparkSession, s3: S3Server, bucket: str, proxy: BadProxy
) -> None:
    read = spark.read.format("kafkalog").option("subscribe", "t")
    expected = sorted(map(str, read.load(str(FOLDER)).collect()))
    spoilt: set[str] = set()

    def spoil_first(request: object) -> Spoilt | None:
        key = f"{request}"
        if "Range" in key or getattr(request, "range", None) is None or key in spoilt:
            return None
        spoilt.add(key)
        return Spoilt.CUT if len(spoilt) % 2 else Spoilt.SHORT

    proxy.spoil = spoil_first
    assert sorted(map(str, read.load(s3.uri(bucket, port=proxy.port)).collect())) == expected
    assert spoilt


def test_credentials_are_refused_at_load_and_in_no_message(
    spark: SparkSession, s3: S3Server, bucket: str
) -> None:
    start, _, query = s3.uri(bucket).partition("?")
    for path in (
        f"s3://kafkalog-test:hush-hush@{start.removeprefix('s3://')}?{query}",
        f"{start}?{query}&secret_key=hush-hush",
    ):
        for paths in (path, [path, path]):
            with pytest.raises(Exception, match="credentials are not read from a path") as caught:
                spark.read.format("kafkalog").load(paths)
            assert "hush" not in str(caught.value)


def test_credentials_are_in_no_plan_under_a_schema_of_the_user(
    spark: SparkSession, s3: S3Server, bucket: str, capsys: pytest.CaptureFixture[str]
) -> None:
    start, _, query = s3.uri(bucket).partition("?")
    path = f"{start}?{query}&secret_key=hush-hush"
    rows = spark.read.format("kafkalog").schema("offset bigint").load(path)
    rows.explain(extended=True)
    printed = capsys.readouterr().out
    assert "kafkalog" in printed
    assert "hush" not in printed
    with pytest.raises(Exception, match="credentials are not read from a path") as caught:
        rows.count()
    assert "hush" not in str(caught.value)


def test_stream_reads_what_was_uploaded_since(
    spark: SparkSession, s3: S3Server, credentials: None, tmp_path: Path
) -> None:
    log = "b/t-0/00000000000000000000.log"
    content = (FOLDER / "broker-0" / "t-0" / "00000000000000000000.log").read_bytes()
    first = int.from_bytes(content[8:12], "big") + 12
    for name, part in (("v1", content[:first]), ("v2", content)):
        (tmp_path / name / log).parent.mkdir(parents=True)
        (tmp_path / name / log).write_bytes(part)
    read = (
        spark.readStream.format("kafkalog")
        .option("startingOffsets", "earliest")
        .option("until", "logEnd")
        .load(s3.uri("growing"))
    )
    offsets = []
    for name in ("v1", "v2"):
        s3.upload(tmp_path / name, "growing")
        query = (
            read.writeStream.trigger(availableNow=True)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start(str(tmp_path / "rows"))
        )
        assert query.awaitTermination(120)
        rows = spark.read.parquet(str(tmp_path / "rows")).select("offset").collect()
        offsets.append(sorted(row.offset for row in rows))
    local = spark.read.format("kafkalog").option("until", "logEnd").load(str(tmp_path / "v2"))
    every = sorted(row.offset for row in local.select("offset").collect())
    assert offsets == [[0], every]
    assert len(every) > 1
