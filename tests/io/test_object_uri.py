"""URIs of object stores. Which ones there are is what pyarrow documents for ``from_uri``."""

from __future__ import annotations

import pytest

from kafkalog_reader.errors import LogLayoutError, redacted, shown
from kafkalog_reader.io.object_uri import ObjectUri, parse_object_uri


@pytest.mark.parametrize(
    ("text", "root", "key", "query"),
    [
        ("s3://bucket/backup/broker-1", "s3://bucket", "backup/broker-1", ""),
        ("s3://bucket", "s3://bucket", "", ""),
        ("S3a://bucket//x/", "s3://bucket", "x", ""),
        ("s3:/bucket/x", "s3://bucket", "x", ""),  # as pathlib writes it
        ("s3://b/a%20b/c d?scheme=http&region=x", "s3://b", "a b/c d", "?scheme=http&region=x"),
        ("gs://anonymous@bucket/x", "gs://anonymous@bucket", "x", ""),
        ("abfss://c@a.dfs.core.windows.net/x", "abfss://c@a.dfs.core.windows.net", "x", ""),
        ("hdfs://host:9000/logs", "hdfs://host:9000", "logs", ""),
    ],
)
def test_uri_is_taken_apart(text: str, root: str, key: str, query: str) -> None:
    assert parse_object_uri(text) == ObjectUri(root=root, key=key, query=query)


@pytest.mark.parametrize("text", ["/mnt/logs", "logs", "file:///mnt/logs", "a:b", "7=/mnt"])
def test_local_path_is_no_uri(text: str) -> None:
    assert parse_object_uri(text) is None


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("s3://AKIA:hushhush@b/x", "s3://AKIA:***@b/x: "),
        ("s3://AKIA:hush/hush+@b/x", "s3://AKIA:***@b/x: "),
        ("s3:/AKIA:hushhush@b/x", "s3:/AKIA:***@b/x: "),
        ("s3://b/x?scheme=http&secret_key=hushhush", "s3://b/x?scheme=http&secret_key=***: "),
        ("abfs://c@a.net/x?sas_token=hushhush", "abfs://c@a.net/x?sas_token=***: "),
        ("abfs://:hushhush@a.net/c", "abfs://:***@a.net/c: "),
    ],
)
def test_credentials_are_refused_and_not_repeated(text: str, visible: str) -> None:
    with pytest.raises(LogLayoutError, match="credentials are not read from a path") as caught:
        parse_object_uri(text)
    assert str(caught.value).startswith(visible)
    assert "hush" not in str(caught.value)
    assert "hush" not in shown(f"within {text} a sentence")


def test_what_is_public_stays() -> None:
    for text in (
        "s3://b/x?endpoint_override=127.0.0.1:9000&scheme=http&region=eu-west-1",
        "abfs://a@127.0.0.1:10000/b?enable_tls=false&credential_kind=anonymous",
        "hdfs://host:9000/a@b",
        "/mnt/a:b@c?key=value",
        "abfs://container@account.dfs.core.windows.net/x",
    ):
        assert redacted(text) == text


def test_fragment_is_refused() -> None:
    with pytest.raises(LogLayoutError, match="write %23 for a #"):
        parse_object_uri("s3://b/a#b")


@pytest.mark.parametrize(
    "key", ["..", "a/../b", "a/%2E%2E/b", "a//b", "a/./b", "a%00b", "a/..", "{..,b}/a"]
)
def test_key_that_leads_out_of_the_store_is_refused(key: str) -> None:
    with pytest.raises(LogLayoutError, match="cannot be a path"):
        parse_object_uri(f"s3://bucket/{key}")
