"""Commands on URIs of object stores say what they say about the folder that was uploaded."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest

from fixtures.captures import path as capture_path
from fixtures.object_store.bad_proxy import Spoilt

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.object_store.bad_proxy import BadProxy
    from fixtures.object_store.server import S3Server
    from tests.cli.conftest import Run

FOLDER = capture_path("s1") / "shrunk"
LOG = "broker-0/t-0/00000000000000000000.log"


@pytest.fixture(scope="module")
def bucket(s3: S3Server) -> str:
    s3.upload(FOLDER, "commands")
    return "commands"


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (("ls",), ""),
        (("records", "--topic", "t", "--format", "json"), ""),
        (("verify",), ""),
        (("dump", "--print-data-log", "--files"), LOG),
        (("inspect",), LOG),
        (("table", "replicas", "--columns", "topic,brokerId,logEndOffset"), "broker-[12]"),
        (("plan",), ""),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_command_says_the_same_as_of_the_folder(
    command: tuple[str, ...], key: str, run: Run, s3: S3Server, bucket: str, credentials: None
) -> None:
    uri = s3.uri(bucket)
    start, _, query = uri.partition("?")
    expected = run(*command, f"{FOLDER}/{key}")
    found = run(*command, f"{start}/{key}?{query}")
    assert found.status == expected.status
    assert found.err == ""
    assert folded(found.out, start) == folded(expected.out, str(FOLDER))


def folded(text: str, start: str) -> str:
    """The text without line breaks, which depend on the lengths of paths."""
    return re.sub(r"\s+", " ", text).replace(start, "BACKUP")


def test_find_names_files_from_the_partition_on(
    run: Run, s3: S3Server, bucket: str, credentials: None
) -> None:
    expected = run("find", FOLDER, "--topic", "t", "--value", "a")
    assert "t-0/00000000000000000000.log  " in expected.out
    assert run("find", s3.uri(bucket), "--topic", "t", "--value", "a").out == expected.out


def test_redacted_report_has_no_bucket(
    run: Run, s3: S3Server, bucket: str, credentials: None, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    for name in ("", "7="):
        path = f"{name}{s3.uri(f'{bucket}/broker-0' if name else bucket)}"
        answer = run("report", path, "--redact", "--output", page, "--force")
        assert answer.status in (0, 1)
        assert f"s3://{bucket}" not in page.read_text()
        assert str(s3.port) not in page.read_text()
        assert "LOG-DIRECTORY-1" in page.read_text()


def test_credentials_are_never_printed(run: Run, s3: S3Server, bucket: str) -> None:
    start, _, query = s3.uri(bucket).partition("?")
    for path in (
        f"s3://kafkalog-test:hush-hush@{start.removeprefix('s3://')}?{query}",
        f"{start}?{query}&secret_key=hush-hush",
        f"{start}?{query}&access_key=hush-hush",
    ):
        for command in (["ls"], ["verify", "--verbose"], ["dump", "--files"]):
            answer = run(*command, path)
            assert answer.status == 2
            assert "credentials are not read from a path" in " ".join(answer.err.split())
            assert "hush" not in answer.out + answer.err


def test_store_that_fails_half_way_is_an_error_and_not_a_short_answer(
    run: Run, s3: S3Server, bucket: str, proxy: BadProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafkalog_reader.io.store_calls.PATIENCE_SECONDS", 0.0)
    proxy.spoil = lambda request: (
        Spoilt.SHORT if request.range and "broker-2/t-0" in request.path else None
    )
    answer = run("records", "--topic", "t", s3.uri(bucket, port=proxy.port), "--replica", "all")
    assert answer.status not in (0, 1)
    assert "s3://commands/broker-2/t-0/00000000000000000000.log" in answer.err
    assert "shorter than the range that was requested" in answer.err


def test_hashes_of_a_report_are_those_of_the_files(
    run: Run, s3: S3Server, bucket: str, credentials: None, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    run("report", s3.uri(f"{bucket}/broker-0"), "--hashes", "--output", page)
    content = (FOLDER / LOG).read_bytes()
    assert content
    assert hashlib.sha256(content).hexdigest() in page.read_text()


def test_audit_reports_what_could_not_be_fetched(
    run: Run, s3: S3Server, bucket: str, proxy: BadProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafkalog_reader.io.store_calls.PATIENCE_SECONDS", 0.0)
    key = "broker-1/t-0/00000000000000000000.log"
    proxy.spoil = lambda request: Spoilt.SHORT if request.range and key in request.path else None
    answer = run("verify", s3.uri(bucket, port=proxy.port), "--verbose")
    assert answer.status == 2
    said = " ".join(answer.out.split())
    assert "not read in full" in said
    assert "shorter than the range that was requested" in said
    assert "t-0/00000000000000000000.log" in said
