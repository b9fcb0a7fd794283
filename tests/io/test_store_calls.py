"""Calls to stores: which errors are tried again, and what is said of those that stay."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from pyarrow import ArrowException, fs

from kafkalog_reader.errors import LogLayoutError, UnreadableFileError
from kafkalog_reader.io.store_calls import connected, reason, tried

if TYPE_CHECKING:
    from collections.abc import Callable


def failing(*errors: OSError) -> tuple[Callable[[], str], list[OSError]]:
    """A call that raises these errors, one after another, and then answers."""
    left = list(errors)

    def call() -> str:
        if left:
            raise left.pop(0)
        return "answer"

    return call, left


def test_error_that_passes_is_tried_again_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    call, left = failing(OSError("AWS Error SLOW_DOWN"), OSError("reset"))
    assert tried(call, "s3://b/x", 7) == "answer"
    assert not left
    assert caplog.messages == [
        "s3://b/x at position 7: AWS Error SLOW_DOWN; tried again",
        "s3://b/x at position 7: reset; tried again",
    ]


def test_fifth_failure_is_the_last() -> None:
    call, left = failing(*[OSError("reset")] * 9)
    started = time.monotonic()
    with pytest.raises(UnreadableFileError, match=r"s3://b/x: reset; given up after 5 attempts in"):
        tried(call, "s3://b/x")
    assert len(left) == 4
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "Path does not exist 'b/x'"),
        PermissionError(13, "refused"),
        OSError("AWS Error ACCESS_DENIED during HeadObject operation: No response body."),
        OSError("AWS Error NO_SUCH_BUCKET during ListObjectsV2 operation"),
        OSError("AWS Error UNKNOWN (HTTP status 403) during GetObject operation"),
        OSError("google::cloud::Status(PERMISSION_DENIED: no)"),
        OSError("404 The specified container does not exist."),
        ArrowException(
            "Unknown error: Check failed: N5Azure4Core11Credentials23Authentication"
            "ExceptionE: Failed to get token from DefaultAzureCredential."
        ),
    ],
)
def test_error_that_stays_is_not_tried_again(error: OSError) -> None:
    call, left = failing(error, error)
    with pytest.raises(UnreadableFileError) as caught:
        tried(call, "s3://b/x")
    assert len(left) == 1
    assert "attempts" not in str(caught.value)


def test_message_is_one_line_without_credentials() -> None:
    text = reason(OSError("a\n b s3://K:hush@b/x?token=hush " + "y" * 1000))
    assert text.startswith("a b s3://K:***@b/x?token=*** yy")
    assert "hush" not in text
    assert len(text) <= 300
    assert "hush" not in reason(OSError("y" * 285 + " s3://K:hushhushhush@b"))


def test_connection_is_made_once_and_has_limits() -> None:
    uri = "s3://b/?endpoint_override=127.0.0.1:1&scheme=http&region=eu-west-3"
    files, bucket = connected(uri)
    assert connected(uri)[0] is files
    assert bucket == "b"
    assert isinstance(files, fs.S3FileSystem)
    assert files.region == "eu-west-3"


@pytest.mark.parametrize("uri", ["dbfs:///x/", "s3://b/?colour=blue", "http://host/"])
def test_uri_that_pyarrow_does_not_read_is_refused(uri: str) -> None:
    with pytest.raises(LogLayoutError, match="a store that pyarrow reads"):
        connected(uri)


def test_message_of_a_library_is_without_what_is_only_for_itself() -> None:
    azure = "Unknown error: Check failed: N5Azure4Core11Credentials23AuthenticationExceptionE: No"
    assert reason(ArrowException(azure)) == "Check failed: No"
    google = (
        "google::cloud::Status(NOT_FOUND: no bucket error_info={reason=, domain=, metadata={}})"
    )
    assert reason(OSError(google)) == "google::cloud::Status(NOT_FOUND: no bucket"
