"""Errors say where they are, on one line, and survive the way from one process to another."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader import errors
from kafkalog_reader.errors import (
    CorruptIndexError,
    CorruptLogError,
    KafkaLogError,
    LocatedError,
    LogPosition,
    MissingPackageError,
    OptionError,
    OutdatedKernelError,
    UsageError,
    as_given,
    show_as,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

WHERE = LogPosition("/data/t-0/0.log", 61, 7)


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Names of folders that only one test knows."""
    monkeypatch.setattr(errors, "_shown_as", {})
    return


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (WHERE, "/data/t-0/0.log at position 61 (offset 7)"),
        (LogPosition("0.log", 0, 0), "0.log at position 0 (offset 0)"),
        (LogPosition("0.log", 61), "0.log at position 61"),
        (LogPosition("0.log", None, 7), "0.log (offset 7)"),
        (LogPosition("0.log"), "0.log"),
        (LogPosition("a\nb.log", 1), "a\\nb.log at position 1"),
    ],
)
def test_a_place_has_the_file_then_the_byte_then_the_offset(where: LogPosition, text: str) -> None:
    assert str(where) == text
    assert str(CorruptLogError("the length is 0", where)) == f"{text}: the length is 0"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t-0", "t-0"),
        ("Grüße 日本", "Grüße 日本"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\tb\r\n", "a\\tb\\r\\n"),
        ("\u202egol.0", "\\u202egol.0"),
        ("\udc80\udcff", "\\x80\\xff"),  # what os.fsdecode makes of bytes that are not UTF-8
        ("\udc7f\udd00", "\\udc7f\\udd00"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_names_are_on_one_line_and_move_no_cursor(name: str, text: str) -> None:
    assert shown(name) == text
    assert shown(name).isprintable()


def test_a_folder_is_shown_under_the_name_that_was_given() -> None:
    show_as("/tmp/unpacked", "broker.tar.xz")
    show_as("/tmp/other", "other.zip")
    assert as_given("/tmp/unpacked/t-0 and /tmp/other") == "broker.tar.xz/t-0 and other.zip"
    assert as_given("/data/t-0") == "/data/t-0"
    assert str(LogPosition("/tmp/unpacked/0.log", 3)) == "broker.tar.xz/0.log at position 3"


@pytest.mark.parametrize(
    "error",
    [
        CorruptIndexError("an entry is cut short", WHERE),
        MissingPackageError("duckdb", "sql"),
        OptionError("mode", "'X' is not a mode"),
        UsageError("no such table"),
    ],
)
def test_an_error_of_a_worker_is_the_same_for_the_driver(error: KafkaLogError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_an_option_is_named_as_it_was_typed() -> None:
    error = OptionError("from_offset", "-1 is below 0")
    assert str(error) == "option from_offset: -1 is below 0"
    assert error.spelled("--from-offset") == "--from-offset: -1 is below 0"


def test_a_missing_package_comes_with_its_extra() -> None:
    assert str(MissingPackageError("duckdb", "sql")) == (
        "duckdb is not installed: pip install 'kafkalog[sql]'"
    )


def test_the_tree_of_the_docstring_is_the_tree_of_the_classes() -> None:
    """Each line is a class; the bars before it show how deep it is below its base."""
    assert errors.__doc__ is not None
    above: list[str] = []
    listed = set()
    for line in errors.__doc__.splitlines():
        name = line.lstrip("│├└─ ").split(" ")[0]
        if not name.endswith("Error"):
            continue
        depth = (len(line) - len(line.lstrip("│├└─ "))) // 4
        del above[depth:]
        listed.add(name)
        bases = [each.__name__ for each in getattr(errors, name).__mro__]
        assert set(above) <= set(bases), name
        above.append(name)
    declared = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, KafkaLogError)
    }
    assert declared - listed == {"LocatedError"}
    assert issubclass(OutdatedKernelError, ImportError)
    assert issubclass(CorruptLogError, LocatedError)


def test_without_pyspark_the_data_source_names_its_extra() -> None:
    program = (
        "import sys\n"
        "sys.modules['pyspark'] = None\n"
        "try:\n"
        "    import spark_datasource\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "pyspark is not installed: pip install 'kafkalog[spark]'\n"
