from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click
import pytest

from fixtures import captures
from kafkalog_reader.cli.options import Rate

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SPLIT: Final = captures.path("s3_2/both-led")


@pytest.mark.parametrize(
    ("text", "rate"),
    [("5B", 5), ("1024", 1024), ("5MB", 5 << 20), ("1k", 1024), ("2 GiB", 2 << 30)],
)
def test_a_rate_is_bytes_a_second(text: str, rate: int) -> None:
    assert Rate().convert(text, None, None) == rate


@pytest.mark.parametrize("text", ["5", "1023"])
def test_a_rate_below_a_kilobyte_says_its_unit(text: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        Rate().convert(text, None, None)
    assert caught.value.message == (
        f"{text} bytes a second? Give a unit: {text}MB, {text}k, or {text}B for bytes"
    )


def test_help_lists_the_tables_that_have_an_option_where_any_can_be_named(run: Run) -> None:
    shown = " ".join(run("table", "--help").out.split())
    assert re.search(r"--as-of TIME\|offset:N .*?\[tables: brokers, group_generations, ", shown)
    assert re.search(r"--last N [^\[]*\[tables: records\]", shown)
    assert "[tables:" not in run("records", "--help").out


@pytest.mark.parametrize("command", ["records", "table", "ls", "verify"])
def test_help_shows_no_conditions_on_numbers(command: str, run: Run) -> None:
    assert "x>=0" not in run(command, "--help").out


def test_a_state_may_be_that_of_a_time_before_now(run: Run) -> None:
    answer = run("table", "brokers", SPLIT, "--as-of", "-1h", "--columns", "brokerId")
    assert answer.status == 0
    assert answer.err.startswith("--as-of -1h: ")


def test_a_negative_number_is_refused_with_what_is_expected(run: Run) -> None:
    answer = run("records", SPLIT, "--limit", "-3")
    assert (answer.status, answer.out) == (2, "")
    assert "'-3' is not a number of 0 or more" in answer.err
