from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

import kafkalog_reader
from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Answer, Run

LOG = Path("broker-1", "t-0", "00000000000000000000.log")
SECOND_BATCH = 69
"""Position of the batch at offset 1; each batch holds one record of one byte without a key."""


def offsets(answer: Answer) -> list[int]:
    return [json.loads(line)["offset"] for line in answer.out.splitlines()]


def test_every_record_of_every_replica_is_shown(untouched: Path, run: Run) -> None:
    answer = run("table", "records", untouched, "--format", "json")
    assert (answer.status, answer.err) == (0, "")
    shown = [json.loads(line) for line in answer.out.splitlines()]
    assert [(row["brokerId"], row["offset"]) for row in shown] == [
        *((1, offset) for offset in range(5)),
        *((broker, offset) for broker in (2, 3) for offset in range(4)),
    ]
    assert shown[4]["value"] == "ZQ=="
    assert shown[4]["key"] is None
    assert shown[0]["timestamp"] == "2023-11-14T22:13:20.000Z"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--from-offset", "3"], [3, 4, 3, 3]),
        (["--to-offset", "1"], [0, 0, 0]),
        (["--limit", "2"], [0, 1]),
        (["--limit", "0"], []),
        (["--replica", "best"], [0, 1, 2, 3]),
        (["--replica", "broker:1"], [0, 1, 2, 3, 4]),
        (["--topic", "t", "--partition", "0", "--replica", "broker:2"], [0, 1, 2, 3]),
    ],
)
def test_selections_narrow_the_rows(
    options: list[str], expected: list[int], untouched: Path, run: Run
) -> None:
    answer = run("table", "records", untouched, "--format", "json", *options)
    assert answer.status == 0
    assert offsets(answer) == expected


@pytest.mark.parametrize(
    "moment", ["2023-11-14T22:13:22Z", "2023-11-14T23:13:22+01:00", str(EPOCH_MILLIS + 2000)]
)
def test_times_are_utc_text_or_milliseconds(moment: str, tmp_path: Path, run: Run) -> None:
    record = Record(offset_delta=0, value=b"v")
    log = [data_batch(n, [record], base_timestamp=EPOCH_MILLIS + 1000 * n) for n in range(4)]
    cluster(tmp_path, {1: replica(log)})
    answer = run("table", "records", tmp_path, "--format", "json", "--from-time", moment)
    assert offsets(answer) == [2, 3]
    answer = run("table", "records", tmp_path, "--format", "json", "--to-time", moment)
    assert offsets(answer) == [0, 1]


def test_seconds_taken_for_milliseconds_are_reported(untouched: Path, run: Run) -> None:
    answer = run("table", "records", untouched, "--from-time", "1763769600")
    assert answer.status == 0
    assert "1970-01-21" in answer.err
    assert "1763769600000" in answer.err
    assert not run("table", "records", untouched, "--from-time", "1763769600000").err


def test_columns_are_shown_in_the_order_requested(untouched: Path, run: Run) -> None:
    options = ["--columns", "value,offset", "--limit", "2"]
    assert run("table", "records", untouched, *options).out.splitlines() == [
        "value  offset", "a           0", "b           1",
    ]  # fmt: skip
    csv = run("table", "records", untouched, "--format", "csv", *options).out
    assert csv.splitlines() == ['"value","offset"', '"YQ==",0', '"Yg==",1']
    hexadecimal = run("table", "records", untouched, "--render", "hex", *options).out
    assert hexadecimal.splitlines()[1] == "61          0"


def test_arrow_and_parquet_hold_what_python_reads(
    untouched: Path, tmp_path: Path, run: Run
) -> None:
    expected = kafkalog_reader.open(str(untouched)).table("records").to_arrow()
    for output_format in ("arrow", "parquet"):
        target = tmp_path / f"records.{output_format}"
        answer = run("table", "records", untouched, "--format", output_format, "--output", target)
        assert (answer.status, answer.out) == (0, "")
        read = (
            pa.ipc.open_stream(target.read_bytes()).read_all()
            if output_format == "arrow"
            else parquet.read_table(io.BytesIO(target.read_bytes()))
        )
        assert read.equals(expected)


def test_output_is_never_an_input(untouched: Path, run: Run) -> None:
    answer = run("table", "records", untouched / LOG, "--output", untouched / LOG, "--force")
    assert answer.status == 2
    assert "never overwritten" in answer.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["recrods", "."], "no table named 'recrods'. Did you mean 'records'? `kafkalog tables`"),
        (["records", ".", "--columns", "ofset"], "has no column 'ofset'. Did you mean 'offset'?"),
        (["records", ".", "--columns", "a,,b"], "empty column name"),
        (["records", ".", "--columns", "key,key"], "names a column twice"),
        (["records", ".", "--from-offset", "-7"], "'-7' is not an offset; --last 7 counts"),
        (["records", ".", "--from-offset", "x7"], "an offset is 0 or greater"),
        (["records", ".", "--to-offset", str(2**63)], "--to-offset: 9223372036854775808 is no"),
        (["records", ".", "--from-time", "yesterday"], "--from-time: 'yesterday' is not a time"),
        (["offset_index", ".", "--from-offset", "3"], "--from-offset: does not apply to table"),
        (["records", ".", "--replica", "worst"], "--replica: 'worst' is not one of all, best"),
        (["records", ".", "--mode", "SLOPPY"], "--mode: 'SLOPPY' is not one of FAILFAST"),
        (["records", ".", "--format", "parquet"], "--format parquet needs --output FILE"),
        (["records", ".", "--format", "yaml"], "'yaml' is not one of"),
    ],
)
def test_wrong_questions_are_refused_before_anything_is_read(
    arguments: list[str], message: str, run: Run
) -> None:
    answer = run("table", *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert message in answer.err


def test_grouped_offsets_are_taken_as_we_print_them(untouched: Path, run: Run) -> None:
    answer = run("table", "records", untouched, "--from-offset", "1,000")
    assert (answer.status, answer.err) == (0, "")


def missing(root: Path) -> Path:
    return root / "nowhere"


def empty_directory(root: Path) -> Path:
    (root / "empty").mkdir()
    return root / "empty"


def no_log(root: Path) -> Path:
    (root / "notes.txt").write_text("hello")
    return root / "notes.txt"


@pytest.mark.parametrize("make", [missing, empty_directory, no_log])
@pytest.mark.parametrize("command", [["ls"], ["table", "records"]])
def test_a_path_that_holds_no_log_is_reported_with_its_path(
    make: Callable[[Path], Path], command: list[str], tmp_path: Path, run: Run
) -> None:
    path = make(tmp_path)
    answer = run(*command, path)
    assert (answer.status, answer.out) == (2, "")
    assert re.fullmatch(rf"error: {re.escape(str(path))}: .+\n", answer.err)


def test_an_unreadable_file_is_reported_with_its_path(
    brokers: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # root may read everything, so a directory in its place makes reading fail
    (brokers / LOG).unlink()
    (brokers / LOG).mkdir()
    answer = run("table", "records", brokers / "broker-1")
    assert answer.status in (0, 2)
    assert str(brokers / LOG) in answer.err


def changed(log: Path, position: int, byte: int) -> None:
    content = bytearray(log.read_bytes())
    content[position] = byte
    log.write_bytes(content)


DAMAGE = {
    "CRC": (SECOND_BATCH + 30, 0x55),
    "unknown magic 3": (SECOND_BATCH + 16, 3),
    "batch length": (SECOND_BATCH + 8, 0x80),
}


@pytest.mark.parametrize("problem", DAMAGE)
@pytest.mark.parametrize("name", ["records", "batches"])
def test_damage_is_reported_with_file_position_and_offset(
    problem: str, name: str, brokers: Path, run: Run
) -> None:
    changed(brokers / LOG, *DAMAGE[problem])
    answer = run("table", name, brokers / LOG, "--format", "json")
    if (problem, name) == ("CRC", "batches"):  # in this table the CRC is a column
        valid = [json.loads(line)["crcValid"] for line in answer.out.splitlines()]
        assert (answer.status, valid) == (0, [True, False, True, True, True])
        return
    assert answer.status == 2
    where = f"{brokers / LOG} at position {SECOND_BATCH} (offset 1): "
    assert answer.err.startswith(f"error: {where}")
    assert problem in answer.err
    assert [line for line in answer.err.splitlines() if "--mode PERMISSIVE" not in line] == [
        answer.err.splitlines()[0]
    ]


def test_unknown_codec_is_reported_with_file_position_and_offset(tmp_path: Path, run: Run) -> None:
    record = Record(offset_delta=0, value=b"v")
    batches = [data_batch(0, [record]), data_batch(1, [record], attributes=7)]
    cluster(tmp_path, {1: replica(batches)})
    answer = run("table", "records", tmp_path / LOG, "--format", "json")
    assert answer.status == 2
    assert answer.err.startswith(f"error: {tmp_path / LOG} at position {SECOND_BATCH} (offset 1): ")
    assert "codec 7" in answer.err


def test_permissive_leaves_damage_out_and_says_so_once(brokers: Path, run: Run) -> None:
    changed(brokers / LOG, *DAMAGE["CRC"])
    arguments = ["table", "records", brokers / LOG, "--format", "json", "--mode"]
    answer = run(*arguments, "permissive")
    assert answer.status == 1
    assert offsets(answer) == [0, 2, 3, 4]
    warning, not_known = answer.err.splitlines()
    assert re.fullmatch(
        rf"warning: {re.escape(str(brokers / LOG))} at position 69 \(offset 1\): .*CRC.*", warning
    )
    assert not_known.startswith("Not known: offset 1 of ")
    assert not_known.endswith("at position 69): records there are not in this answer")
    silent = run(*arguments, "dropmalformed")
    assert (silent.status, offsets(silent), silent.err) == (1, [0, 2, 3, 4], "")


def test_torn_last_batch_ends_the_log_with_a_warning(brokers: Path, run: Run) -> None:
    log = brokers / LOG
    log.write_bytes(log.read_bytes()[:-5])
    answer = run("table", "records", log, "--format", "json")
    assert answer.status == 0
    assert offsets(answer) == [0, 1, 2, 3]
    assert answer.err.startswith(f"warning: {log} at position 276")
    assert answer.err.count("\n") == 1


def test_findings_reach_fail_on(brokers: Path, run: Run) -> None:
    changed(brokers / LOG, *DAMAGE["CRC"])
    for options, status in (
        ([], 1), (["--fail-on", "never"], 0), (["--columns", "code"], 1),
        (["--columns", "code", "--fail-on", "never"], 0),
    ):  # fmt: skip
        answer = run("table", "findings", brokers, "--format", "json", *options)
        assert answer.status == status, answer.err
    assert {tuple(json.loads(line)) for line in answer.out.splitlines()} == {("code",)}
