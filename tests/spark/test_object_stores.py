"""Object stores as paths in Spark: listed by the driver, read by tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.captures import path as capture_path
from fixtures.object_store.bad_proxy import Spoilt

if TYPE_CHECKING:
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
