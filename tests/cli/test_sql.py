"""``kafkalog sql``: what DuckDB computes is compared with what other commands print."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

from fixtures import captures, truth
from kafkalog_reader import registry
from kafkalog_reader.cli.sql import query_and_paths
from kafkalog_reader.errors import UsageError
from tests.cli.conftest import Answer

if TYPE_CHECKING:
    from tests.cli.conftest import Run

MANUAL = Path(__file__).parents[2] / "docs" / "commands.md"
LOG = Path("broker-1", "t-0", "00000000000000000000.log")
SECOND_BATCH = 69


def rows(answer: Answer) -> list[dict[str, object]]:
    assert (answer.status, answer.err) == (0, "")
    return [json.loads(line) for line in answer.out.splitlines()]


def test_a_query_sees_what_the_table_has(untouched: Path, run: Run) -> None:
    table = run("table", "records", untouched, "--format", "json")
    assert rows(run("sql", "SELECT * FROM records", untouched, "--format", "json")) == rows(table)


def test_tables_can_be_joined(untouched: Path, run: Run) -> None:
    query = (
        'SELECT brokerId, count(*) n, max(r."offset") last FROM records r '
        "JOIN batches b USING (brokerId, topic, partition) "
        'WHERE r."offset" BETWEEN b.baseOffset AND b.lastOffset GROUP BY ALL ORDER BY 1'
    )
    assert rows(run("sql", query, untouched, "--format", "json")) == [
        {"brokerId": 1, "n": 5, "last": 4},
        {"brokerId": 2, "n": 4, "last": 3},
        {"brokerId": 3, "n": 4, "last": 3},
    ]


def test_the_conditions_of_the_manual_leave_what_a_consumer_got(run: Run) -> None:
    """Without transaction markers, and without what is below the log start."""
    (query,) = re.findall(r"```sql\n(SELECT.*?)```", MANUAL.read_text(), flags=re.DOTALL)
    truth_of = truth.load(captures.path("everything")).captures["stopped"]
    consumed = Counter((each.topic, each.partition) for each in truth_of.records())
    logs = captures.path("everything/stopped")
    answer = run("sql", query, logs, "--replica", "best", "--format", "json")
    counted = {(row["topic"], row["partition"]): row["count_star()"] for row in rows(answer)}
    assert counted == consumed


METADATA = "__cluster_metadata"


@pytest.mark.parametrize(
    ("where", "topics"),
    [
        ("", ["t"]),
        ("WHERE topic <> 'x'", ["t"]),
        ("WHERE topic >= '_'", ["t"]),
        (f"WHERE topic = '{METADATA}'", [METADATA]),
        (f"WHERE topic IN ('t', '{METADATA}')", [METADATA, "t"]),
        ("WHERE topic LIKE '%METADATA'", []),
        ("WHERE topic ILIKE '%METADATA'", [METADATA]),
        ("WHERE topic LIKE '\\_\\_%' ESCAPE '\\'", [METADATA]),
        ("WHERE starts_with(topic, '__c')", [METADATA]),
        ("JOIN cluster_metadata USING (clusterId) WHERE NOT isControl", ["t"]),
    ],
)
def test_records_of_the_metadata_log_are_those_of_a_query_that_names_it(
    where: str, topics: list[str], run: Run
) -> None:
    query = f"SELECT DISTINCT topic FROM records {where} ORDER BY 1"
    answer = run("sql", query, captures.path("s3_2/both-led"), "--format", "json")
    assert [row["topic"] for row in rows(answer)] == topics


def test_a_view_or_the_paths_can_name_the_metadata_log(run: Run) -> None:
    logs = captures.path("s3_2/both-led")
    view = f"CREATE VIEW m AS FROM records WHERE topic = '{METADATA}'"
    query = f"{view}; SELECT DISTINCT topic FROM m"
    assert rows(run("sql", query, logs, "--format", "json")) == [{"topic": METADATA}]
    query = "SELECT DISTINCT topic FROM records"
    (folder, *_) = sorted(logs.glob(f"*/{METADATA}-0"))
    for asked in ((folder,), (logs, "--topic", METADATA)):
        answer = run("sql", query, *asked, "--format", "json")
        assert rows(answer) == [{"topic": METADATA}]


@pytest.mark.parametrize("table", registry.TABLES)
def test_every_table_is_a_relation(table: str, untouched: Path, run: Run) -> None:
    counted = rows(run("sql", f"SELECT count(*) n FROM {table}", untouched, "--format", "json"))
    answer = run("table", table, untouched, "--format", "json")
    assert counted == [{"n": len(answer.out.splitlines())}]


def test_options_select_copies(untouched: Path, run: Run) -> None:
    query = "SELECT count(*) n FROM records"
    best = run("sql", query, untouched, "--format", "json", "--replica", "best")
    assert (best.status, json.loads(best.out)) == (0, {"n": 4})
    assert "read from broker 2, which lacks offsets of other copies" in best.err
    one = run("sql", query, untouched, "--format", "json", "--broker", "1")
    assert rows(one) == [{"n": 5}]


def test_each_query_of_several_statements_is_shown(untouched: Path, run: Run) -> None:
    statements = (
        "CREATE TABLE a AS SELECT 7 n; SELECT n FROM a; DROP TABLE a; SELECT 2 two, 3 three"
    )
    expected = [{"n": 7}, {"two": 2, "three": 3}]
    assert rows(run("sql", statements, untouched, "--format", "json")) == expected
    answer = run("sql", statements, untouched)
    assert answer.out.split("\n\n") == ["n\n7", "two  three\n  2      3\n"]


def test_what_a_statement_changed_is_no_result(untouched: Path, run: Run) -> None:
    statements = "CREATE TABLE a (n INT); SET threads = 1; INSERT INTO a VALUES (7) RETURNING n"
    assert rows(run("sql", statements, untouched, "--format", "json")) == [{"n": 7}]


def test_rows_of_several_parts_are_aligned(untouched: Path, run: Run) -> None:
    """The rows of each broker come by themselves: the first ones are not the widest."""
    query = "SELECT repeat('x', brokerId) x, 7 seven FROM records"
    lines = run("sql", query, untouched).out.splitlines()
    assert len(lines) == 1 + 13
    assert {len(line) for line in lines} == {len("xxx  seven")}


@pytest.mark.parametrize("output_format", ["csv", "arrow", "parquet"])
def test_formats_of_one_result_refuse_several(
    output_format: str, untouched: Path, tmp_path: Path, run: Run
) -> None:
    target = tmp_path / "rows"
    options = ("--format", output_format, "--output", target)
    answer = run("sql", "SELECT 1; SELECT 2", untouched, *options)
    assert answer.status == 2
    assert f"--format {output_format} has one result, and 2 statements are queries" in answer.err
    assert not target.exists()
    assert run("sql", "CREATE TABLE a (n INT); SELECT 2", untouched, *options).status == 0


def test_statements_are_read_from_standard_input(untouched: Path) -> None:
    program = "from kafkalog_reader.cli.scripts import kafkalog; kafkalog()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "sql", str(untouched), "--format", "csv"],
        input=b"SELECT count(*) AS n FROM batches", capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b'"n"\r\n13\r\n', b"")


def piped(path: Path, text: str, *options: str) -> Answer:
    program = "from kafkalog_reader.cli.scripts import kafkalog; kafkalog()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "sql", str(path), *options],
        input=text, text=True, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return Answer(ended.returncode, ended.stdout, ended.stderr)


def test_standard_input_takes_the_commands_of_the_prompt(untouched: Path) -> None:
    answer = piped(untouched, ".tables")
    assert (answer.status, answer.err) == (0, "")
    assert [line.split()[0] for line in answer.out.splitlines()] == list(registry.TABLES)


def test_commands_stand_between_statements(untouched: Path) -> None:
    """A line inside of a statement is no command, although it begins with a dot."""
    text = ".rows 2\nSELECT *\nFROM range(5);\n.rows 0\nSELECT .5 AS half,\n.25 AS b;\n"
    answer = piped(untouched, f"{text}.quit\nSELECT 7")
    assert (answer.status, answer.err) == (0, "")
    words = answer.out.split()
    assert words[:4] == ["range", "0", "1", "(2"]
    assert words[-6:] == ["half", "b", "0.5", "0.25", "(1", "row)"]


def test_an_error_in_standard_input_ends_it(untouched: Path) -> None:
    answer = piped(untouched, "SELECT 1 AS one;\n.columns nope\nSELECT 2 AS two;")
    assert answer.status == 2
    assert "no table named 'nope'" in answer.err
    assert "one" in answer.out
    assert "two" not in answer.out


def test_commands_of_the_prompt_have_no_format(untouched: Path) -> None:
    answer = piped(untouched, ".tables\n", "--format", "csv")
    assert (answer.status, answer.out) == (2, "")
    assert "commands of the prompt print text" in answer.err


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT offset FROM records", 'is a keyword of SQL: write "offset"'),
        ("SELECT brokr FROM records", 'column "brokr" not found'),
        ("SELECT * FROM recrds", 'Did you mean "records"'),
        ("SELECT topic::INT FROM records", "Could not convert string 't' to INT32"),
        ("SELEC 1 ", "syntax error"),
        ("/* none */ ", "no query"),
    ],
)
def test_a_wrong_query_is_one_line(query: str, said: str, untouched: Path, run: Run) -> None:
    answer = run("sql", query, untouched)
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1


def test_damage_is_reported_as_by_the_table(brokers: Path, run: Run) -> None:
    log = brokers / LOG
    content = bytearray(log.read_bytes())
    content[SECOND_BATCH + 30] ^= 1
    log.write_bytes(content)
    answer = run("sql", "SELECT * FROM records WHERE topic = 't'", brokers)
    assert answer.status == 2
    assert f"{log} at position 69 (offset 1): CRC is wrong" in answer.err
    assert "Traceback" not in answer.err
    query = "SELECT count(*) n FROM records"
    permissive = run("sql", query, brokers, "--mode", "PERMISSIVE", "--format", "json")
    assert (permissive.status, json.loads(permissive.out)) == (1, {"n": 12})
    assert "position 69" in permissive.err


def test_damage_of_a_broker_that_is_not_asked_for_is_not_met(brokers: Path, run: Run) -> None:
    (brokers / LOG).write_bytes(b"x" * 200)
    query = "SELECT count(*) n FROM records WHERE brokerId = 2"
    assert rows(run("sql", query, brokers, "--format", "json")) == [{"n": 4}]


@pytest.mark.parametrize("output_format", ["arrow", "parquet"])
def test_types_survive_in_arrow_and_parquet(
    output_format: str, untouched: Path, tmp_path: Path, run: Run
) -> None:
    target = tmp_path / "rows"
    query = 'SELECT "offset", value, timestamp FROM records'
    answer = run("sql", query, untouched, "--format", output_format, "--output", target)
    assert (answer.status, answer.out, answer.err) == (0, "", "")
    found = (
        parquet.read_table(target)
        if output_format == "parquet"
        else pa.ipc.open_stream(io.BytesIO(target.read_bytes())).read_all()
    )
    assert found.schema.types == [pa.int64(), pa.binary(), pa.timestamp("us", "UTC")]
    assert found.num_rows == 13


@pytest.mark.parametrize("output_format", ["text", "json", "csv"])
def test_types_that_no_table_has_are_shown_as_text(
    output_format: str, untouched: Path, run: Run
) -> None:
    query = (
        "SELECT INTERVAL 1 DAY i, TIME '10:00' t, {a: TIME '10:00'} s, MAP {1: 2} m, "
        "DATE '2026-11-24' d, 1.5::DECIMAL(4, 2) n FROM brokers RIGHT JOIN (SELECT 1) ON true"
    )
    answer = run("sql", query, untouched, "--format", output_format)
    assert (answer.status, answer.err) == (0, "")
    assert "1 day" in answer.out
    if output_format == "json":
        found = json.loads(answer.out)
        assert (found["i"], found["t"], found["m"]) == ("1 day", "10:00:00", "{1=2}")
        assert (found["d"], found["n"]) == ("2026-11-24", 1.5)


def test_a_query_is_what_no_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    assert query_and_paths([str(folder), "b"]) == (None, (str(folder), "b"))
    assert query_and_paths(["/mnt/b1", "/mnt/b2"]) == (None, ("/mnt/b1", "/mnt/b2"))
    assert query_and_paths(["SELECT 1", "/mnt/b1"]) == ("SELECT 1", ("/mnt/b1",))
    assert query_and_paths([f"SELECT {'1' * 5000}", "b"])[1] == ("b",)
    with pytest.raises(UsageError, match="no PATH after the query"):
        query_and_paths(["SELECT 1"])
    with pytest.raises(UsageError, match="write the query before the paths"):
        query_and_paths([str(folder), "b", "select 1"])
    assert query_and_paths(["b", "my disk/*"]) == (None, ("b", "my disk/*"))
