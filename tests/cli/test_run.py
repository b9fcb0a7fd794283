from __future__ import annotations

import logging
import os
import signal
import sys

import click
import pytest

from kafkalog_reader.cli.run import session, status, verbose_option
from kafkalog_reader.errors import CorruptRecordError, KafkaLogError, LogPosition


def outcome(
    command: click.Command, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    code = status(command, arguments)
    return code, *capsys.readouterr()


def raising(error: BaseException) -> click.Command:
    @click.command("tool")
    @verbose_option()
    def tool() -> None:
        click.echo("some rows")
        raise error

    return tool


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            CorruptRecordError("CRC is wrong", LogPosition("a/0.log", 83, 2)),
            "error: a/0.log at position 83 (offset 2): CRC is wrong",
        ),
        (KafkaLogError("a\x1b[2J\nb"), "error: a\\x1b[2J\\nb"),
        (PermissionError(13, "Permission denied", "/x/y"), "error: /x/y: Permission denied"),
        (OSError("odd"), "error: odd"),
        (
            click.UsageError("no such thing"),
            "error: no such thing. See `tool --help`.",
        ),
    ],
)
def test_errors_are_one_line_and_status_2(
    error: BaseException, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(raising(error), capsys) == (2, "some rows\n", f"{line}\n")


def test_verbose_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(raising(KafkaLogError("why")), capsys, "--verbose")
    assert code == 2
    assert err.startswith("Traceback")
    assert err.endswith("error: why\n")


def test_a_bug_is_not_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(raising(ValueError("oops")), capsys)
    assert code == 2
    assert err.startswith("error: unexpected ValueError: oops")


def test_what_an_outdated_kernel_explains_is_not_a_bug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    advice = "the compiled kernel is older than its sources: rebuild it"
    monkeypatch.setattr("kafkalog_reader.kernel.build.rebuild_advice", lambda: advice)
    assert outcome(raising(TypeError("oops")), capsys) == (
        2, "some rows\n", f"error: unexpected TypeError: oops. T{advice[1:]}\n",
    )  # fmt: skip


def test_ctrl_c_says_how_far_the_command_came(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command("tool")
    def tool() -> None:
        session().how_far = lambda: "7 rows written"
        click.echo("row")
        signal.raise_signal(signal.SIGINT)

    code, out, err = outcome(tool, capsys)
    assert (code, out) == (130, "row\n")
    assert err.strip() == "interrupted: 7 rows written"


def test_warnings_of_the_library_are_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command("tool")
    def tool() -> None:
        logger = logging.getLogger("kafkalog_reader.tables.anything")
        for number in (1, 2, 1):
            logger.warning("torn batch %d\x1b", number)
        logger.info("not this")

    assert outcome(tool, capsys) == (
        0, "", "warning: torn batch 1\\x1b\nwarning: torn batch 2\\x1b\n",
    )  # fmt: skip
    assert logging.getLogger("kafkalog_reader").handlers == []


@pytest.mark.parametrize("verbose", [False, True])
def test_many_warnings_of_a_kind_are_counted(
    capsys: pytest.CaptureFixture[str], verbose: bool
) -> None:
    @click.command("tool")
    def tool() -> None:
        session().verbose = verbose
        logger = logging.getLogger("kafkalog_reader.tables.anything")
        for number in range(12):
            logger.warning("torn batch %d", number)
        logger.warning("an empty folder")

    torn = [f"warning: torn batch {number}\n" for number in range(12)]
    other = "warning: an empty folder\n"
    _, _, err = outcome(tool, capsys)
    if verbose:
        assert err == "".join([*torn, other])
    else:
        assert err == "".join([*torn[:3], other, "warning: 9 more like these (--verbose)\n"])


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (1, 1)])
def test_status_is_what_the_command_returns(
    returned: int | None, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    command = click.Command("tool", callback=lambda: returned)
    assert outcome(command, capsys)[0] == code


def test_unwritable_standard_output_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command("tool")
    def tool() -> None:
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as gone:
            gone.write("row\n")

    assert outcome(tool, capsys) == (141, "", "")
    assert sys.stdout is not None
