from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import UsageError
from spark_datasource.paths import parse_metrics_path, parse_paths

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("/mnt/b1", "/mnt/b1", id="absolute"),
        pytest.param("logs", "{here}/logs", id="relative"),
        pytest.param("1=logs", "1={here}/logs", id="numbered"),
        pytest.param("old=/mnt/b*/logs", "old=/mnt/b*/logs", id="labelled_glob"),
        pytest.param("b{1,2}/*", "{here}/b{{1,2}}/*", id="relative_glob"),
        pytest.param("file:/mnt/b1", "file:/mnt/b1", id="scheme"),
        pytest.param("1=file:///mnt/b1", "1=file:///mnt/b1", id="numbered_scheme"),
        pytest.param("s3a://bucket/x", "s3a://bucket/x", id="foreign_scheme"),
        pytest.param("", "", id="empty"),
        pytest.param("a\0b", "a\0b", id="nul"),
    ],
)
def test_a_path_becomes_absolute_and_nothing_else(text: str, expected: str) -> None:
    assert parse_paths({"path": text}) == (expected.format(here=os.getcwd()),)  # noqa: PTH109


def test_a_file_whose_name_looks_like_a_number_and_a_path_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "1=logs").mkdir()
    assert parse_paths({"path": "1=logs"}) == (str(tmp_path / "1=logs"),)


def test_several_paths_arrive_as_json() -> None:
    assert parse_paths({"paths": '["/mnt/b1","2=/mnt/b2"]'}) == ("/mnt/b1", "2=/mnt/b2")


@pytest.mark.parametrize("text", ["/mnt/b1", '{"a": 1}', "[1]", '"/mnt/b1"', "[" * 100_000])
def test_paths_that_are_not_a_list_of_names_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"option paths: .*write JSON like"):
        parse_paths({"paths": text})


@pytest.mark.parametrize("given", [{}, {"paths": "[]"}], ids=["none", "empty_list"])
def test_a_read_without_a_path_says_how_to_give_one(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="no path given"):
        parse_paths(given)


@pytest.mark.parametrize("path", ["/mnt/b1", "1=/mnt/b1", "/mnt/b*", "old=/mnt/b?/"])
def test_metrics_are_not_written_into_what_is_read(path: str) -> None:
    for inside in ("/mnt/b1", "/mnt/b1/metrics", "/mnt/b1/x/../y/z"):
        with pytest.raises(UsageError, match=r"option metricsPath: .* which is only read"):
            parse_metrics_path({"path": path, "metricsPath": inside})
    for outside in ("/mnt", "/mnt/c1", "/else/mnt/b1"):
        assert parse_metrics_path({"path": path, "metricsPath": outside}) == outside


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "hdfs://host/folder", "file:/metrics"])
def test_metrics_need_a_folder_that_executors_can_write_to(text: str) -> None:
    with pytest.raises(UsageError, match="is not a folder that executors can write to"):
        parse_metrics_path({"path": "/mnt/b1", "metricsPath": text})


def test_metrics_are_written_only_on_request(tmp_path: Path) -> None:
    assert parse_metrics_path({"path": "/mnt/b1"}) is None
    assert parse_metrics_path({"path": "/mnt/b1", "metricsPath": "m"}) == str(tmp_path / "m")
