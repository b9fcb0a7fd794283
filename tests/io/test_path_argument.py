"""PATH arguments of every command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.errors import LogLayoutError
from kafkalog_reader.io.path_argument import (
    PathArgument,
    absolute_argument,
    has_magic,
    parse_path_arguments,
)
from kafkalog_reader.io.read_context import ReadContext

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def parsed(text: str) -> PathArgument:
    (argument,) = parse_path_arguments([text], ReadContext())
    assert argument.text == text
    return argument


@pytest.mark.parametrize(
    ("text", "path", "broker_id", "label"),
    [
        pytest.param("broker-1", "broker-1", None, None, id="path"),
        pytest.param("broker-1///", "broker-1", None, None, id="slashes"),
        pytest.param("7=broker-1", "broker-1", 7, None, id="node_id"),
        pytest.param("0=broker-1", "broker-1", 0, None, id="smallest"),
        pytest.param("2147483647=broker-1", "broker-1", 2147483647, None, id="greatest"),
        pytest.param("+7=broker-1", "broker-1", 7, None, id="sign"),
        pytest.param("east=broker-1", "broker-1", None, "east", id="label"),
        pytest.param("1a=broker-1", "broker-1", None, "1a", id="no_number"),
        pytest.param("./a=b", "./a=b", None, None, id="equals_in_a_path"),
        pytest.param("c=d", "c=d", None, None, id="file_wins_over_a_name"),
    ],
)
def test_path_may_have_a_name(
    tree: Callable[..., Path], text: str, path: str, broker_id: int | None, label: str | None
) -> None:
    tree("broker-1/", "a=b/", "c=d/", "d/")
    argument = parsed(text)
    assert argument.paths == (path,)
    assert (argument.broker_id, argument.broker_label) == (broker_id, label)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a path"),
        ("a\0b", "not a path"),
        ("missing", "missing: no such file or directory"),
        ("-1=broker-1", "a node id is 0 to 2147483647"),
        ("2147483648=broker-1", "a node id is 0 to 2147483647"),
        ("broker-[9]", "nothing matches this pattern"),
        ("dbfs:/logs", "neither a local path nor a store that pyarrow reads"),
        ("east=http://host/logs", "neither a local path nor a store that pyarrow reads"),
        ("1=", "1=: no such file or directory"),
    ],
)
def test_other_arguments_are_refused(tree: Callable[..., Path], text: str, problem: str) -> None:
    tree("broker-1/")
    with pytest.raises(LogLayoutError) as caught:
        parsed(text)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("broker-*", ["broker-1", "broker-2", "broker-30"]),
        ("broker-?", ["broker-1", "broker-2"]),
        ("broker-[!1]", ["broker-2"]),
        ("broker-{2,1}", ["broker-1", "broker-2"]),
        ("broker-{1,?,30}", ["broker-1", "broker-2", "broker-30"]),
        ("{broker-{1,2},x}", ["broker-1", "broker-2", "x"]),
    ],
)
def test_patterns_are_expanded_in_order_and_once(
    tree: Callable[..., Path], pattern: str, found: list[str]
) -> None:
    tree("broker-1/", "broker-2/", "broker-30/", "x/")
    assert list(parsed(pattern).paths) == found
    assert list(parsed(f"7={pattern}").paths) == found


def test_name_with_signs_of_a_pattern_is_a_path_if_it_exists(tree: Callable[..., Path]) -> None:
    tree("a[1]/", "a1/")
    assert parsed("a[1]").paths == ("a[1]",)


@pytest.mark.parametrize("slashes", ["", "//", "///"])
def test_url_of_a_file_is_a_path(tmp_path: Path, slashes: str) -> None:
    (tmp_path / "with blank").mkdir()
    url = f"file:{slashes or '/'}{str(tmp_path).lstrip('/')}/with%20blank"
    assert parsed(url).paths == (str(tmp_path / "with blank"),)
    assert parsed(f"FILE:{url.removeprefix('file:')}").paths == (str(tmp_path / "with blank"),)


@pytest.mark.parametrize(
    ("text", "magic"),
    [("a*", True), ("a?", True), ("[a]", True), ("{a,b}", True), ("{a}", False), ("a", False)],
)
def test_patterns_are_recognised(text: str, magic: bool) -> None:
    assert has_magic(text) is magic


@pytest.mark.parametrize("text", ["logs", "1=logs", "l*s", "east=l{og,ag}s", "./logs/../logs"])
def test_an_absolute_argument_names_the_same_from_another_folder(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder whose name would be a pattern itself."""
    here = tmp_path / "set [1] of b*"
    (here / "logs").mkdir(parents=True)
    monkeypatch.chdir(here)
    before = parsed(text)
    absolute = absolute_argument(text)
    monkeypatch.chdir(tmp_path)
    after = parsed(absolute)
    assert [Path(each).resolve() for each in after.paths] == [here / "logs"]
    assert (after.broker_id, after.broker_label) == (before.broker_id, before.broker_label)


@pytest.mark.parametrize("text", ["", "a\0b", "file:/mnt/b1", "1=s3a://bucket/x"])
def test_an_argument_that_is_no_local_path_stays(text: str) -> None:
    assert absolute_argument(text) == text
