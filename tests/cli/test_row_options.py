"""Options that ``kafkalog records`` and ``kafkalog table`` share."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from kafkalog_reader.cli.records import records_command
from kafkalog_reader.cli.row_options import OF_ROWS, offsets, row_options
from kafkalog_reader.cli.table import table_command
from kafkalog_reader.errors import OptionError
from kafkalog_reader.tables.options import OPTIONS


@pytest.mark.parametrize(
    ("from_offset", "last", "keywords"),
    [
        pytest.param(None, None, {"from_offset": None, "last": None}, id="nothing"),
        pytest.param(7, None, {"from_offset": 7, "last": None}, id="offset"),
        pytest.param(0, 10, {"from_offset": 0, "last": 10}, id="offset_and_last"),
        pytest.param("earliest", None, {"log_range_only": True, "last": None}, id="earliest"),
        pytest.param("earliest", 10, {"log_range_only": True, "last": 10}, id="earliest_and_last"),
    ],
)
def test_start_becomes_options_of_a_request(
    from_offset: int | str | None, last: int | None, keywords: dict[str, Any]
) -> None:
    assert offsets(from_offset, last) == keywords


def test_no_record_is_after_the_log_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert offsets("latest", None) == {"last": 0}
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("latest is the log end, where there is no record yet. --last 10 ")


@pytest.mark.parametrize("last", [0, 10])
def test_last_counts_from_the_end_already(last: int) -> None:
    with pytest.raises(OptionError, match="counts from the end") as caught:
        offsets("latest", last)
    assert caught.value.option == "last"


@pytest.mark.parametrize("command", [records_command, table_command], ids=["records", "table"])
def test_both_commands_have_every_option_of_records_in_the_terminal(command: click.Command) -> None:
    having = {
        name
        for name, option in OPTIONS.items()
        if option.is_in_terminal and option.applies_to("records")
    }
    assert having <= {parameter.name for parameter in command.params}


def test_options_are_given_in_the_order_of_the_help() -> None:
    given: list[Any] = []

    @click.command()
    @row_options()
    def command(**options: Any) -> None:
        given.append(options)

    names = [parameter.name for parameter in command.params]
    assert names[:4] == ["output_format", "output", "force", "columns"]
    assert set(names) >= OF_ROWS
    assert names.index("from_offset") < names.index("to_offset") < names.index("last")
    result = CliRunner().invoke(
        command, ["--columns", "offset,key", "--last", "3", "--from-offset", "earliest"]
    )
    assert result.exit_code == 0, result.output
    assert [given[0][name] for name in ("output_format", "force", "columns", "last")] == [
        "text", False, ("offset", "key"), 3,
    ]  # fmt: skip
    assert given[0]["from_offset"] == "earliest"
