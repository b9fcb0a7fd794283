"""The effect of the options of a read, and options that are refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fixtures.both_sources.cases import DIFFERENCES
from kafkalog_reader import registry
from kafkalog_reader.errors import UsageError
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.options import OPTIONS
from kafkalog_reader.tables.request import ReadRequest
from spark_datasource.option_names import KNOWN, OF_STREAMS, READING, applies
from spark_datasource.options import SourceOptions, parse_options, parse_stream_options
from spark_datasource.projection import KAFKA_COLUMNS
from spark_datasource.source import KafkaLogDataSource


def test_the_default_is_what_the_kafka_source_shows() -> None:
    assert parse_options({"path": "/mnt/b1"}) == SourceOptions(
        table="records",
        paths=("/mnt/b1",),
        columns=KAFKA_COLUMNS,
        has_columns=False,
        cluster_id=None,
        follow_links=False,
        metrics_path=None,
        min_partitions=None,
        unused=(),
        named={},
        request=ReadRequest(
            replica="best",
            log_range_only=True,
            include_control_records=False,
            offsets_from_headers=True,
        ),
    )


def test_other_tables_are_for_looking_at_evidence() -> None:
    options = parse_options({"path": "/mnt/b1", "table": "segments", "mode": "permissive"})
    assert options.columns is None
    assert options.request == ReadRequest(mode=Mode.PERMISSIVE)


def test_names_are_compared_without_case() -> None:
    options = parse_options({"PATH": "/mnt/b1", "includeheaders": "True", "FOLLOWLINKS": "true"})
    assert options.columns == (*KAFKA_COLUMNS, "headers")
    assert options.follow_links


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("64m", 64 << 20), ("2 GiB", 2 << 30), ("128MB", 128 << 20), ("5kb", 5 << 10)],
)
def test_sizes_are_written_as_in_sparks_settings(text: str, size: int) -> None:
    options = parse_options({"path": "/mnt/b1", "maxPartitionBytes": text})
    assert options.request.max_partition_bytes == size


def test_how_much_a_batch_may_become_is_an_option_of_records() -> None:
    assert parse_options({"path": "/mnt/b1"}).request.max_batch_bytes is None
    options = parse_options({"path": "/mnt/b1", "maxBatchBytes": "1g"})
    assert options.request.max_batch_bytes == 1 << 30
    with pytest.raises(UsageError, match="maxBatchBytes does not apply to table batches"):
        parse_options({"path": "/mnt/b1", "table": "batches", "maxBatchBytes": "1g"})


def test_options_about_brokers_are_taken_and_named() -> None:
    options = parse_options(
        {
            "path": "/mnt/b1",
            "kafka.bootstrap.servers": "b:9092",
            "kafka.Isolation.level": "read_committed",
            "groupidprefix": "g",
            "kafkaConsumer.pollTimeoutMs": "1",
            "fetchOffset.numRetries": "1",
            "fetchOffset.retryIntervalMs": "1",
        }
    )
    assert options.request.isolation == "read_committed"
    assert options.unused == (
        "fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "groupidprefix",
        "kafka.bootstrap.servers", "kafkaConsumer.pollTimeoutMs",
    )  # fmt: skip


def test_planning_names_them_once(evidence: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = KafkaLogDataSource({"path": str(evidence), "kafka.bootstrap.servers": "b:9092"})
    reader = source.reader(source.schema())
    tasks = reader.partitions()
    rows = sum(found.num_rows for task in tasks for found in reader.read(task))
    assert rows == 21
    assert [each for each in caplog.messages if "kafka.bootstrap.servers" in each] == [
        "ignored, because kafkalog reads files and contacts no broker: kafka.bootstrap.servers"
    ]


@pytest.mark.parametrize("name", OF_STREAMS)
def test_options_of_streams_are_ignored_as_the_kafka_source_does(name: str) -> None:
    assert parse_options({"path": "/mnt/b1", name: "1"}).unused == (name,)


def test_one_message_names_everything_that_is_refused() -> None:
    wrong = {"kafka.auto.offset.reset": "latest", "tabel": "x", "kafka.Enable.auto.commit": "true"}
    with pytest.raises(UsageError) as caught:
        parse_options({"path": "/mnt/b1", **wrong})
    assert str(caught.value) == (
        "option kafka.auto.offset.reset is refused, as by Spark's Kafka source: startingOffsets "
        "says where to start; no option named 'tabel'. Did you mean 'table'?; "
        "option kafka.Enable.auto.commit is refused, as by Spark's Kafka source: nothing is "
        "committed here"
    )
    with pytest.raises(UsageError) as caught:
        parse_options({"path": "/mnt/b1", "table": "segments", "deep": "true", "until": "logEnd"})
    assert str(caught.value) == "options deep, until do not apply to table segments"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"startingOffset": "earliest"},
            "no option named 'startingOffset'. Did you mean 'startingOffsets'?",
        ),
        ({"tabel": "records"}, "no option named 'tabel'. Did you mean 'table'?"),
        ({"table": "recrods"}, "no table named 'recrods'. Did you mean 'records'?"),
        ({"columns": "offsets"}, "table records has no column 'offsets'. Did you mean 'offset'?"),
        (
            {"columns": "key,,value"},
            "option columns: 'key,,value': write kafka, all, or names separated by commas",
        ),
        ({"columns": "key,key"}, "option columns: key,key: a column is named twice"),
        (
            {"columns": "kafka", "table": "batches"},
            "option columns: kafka: only table records has these columns",
        ),
        (
            {"columns": "key", "includeHeaders": "true"},
            "option includeHeaders adds to columns=kafka",
        ),
        ({"includeHeaders": "yes"}, "option includeHeaders: 'yes' is neither true nor false"),
        (
            {"subscribe": "a", "assign": '{"a": [0]}'},
            "options subscribe and assign exclude each other",
        ),
        ({"subscribe": " , "}, "option subscribe: ' , ': names no topic"),
        (
            {"metricsPath": "/mnt/b1/metrics"},
            "option metricsPath: '/mnt/b1/metrics' is inside /mnt/b1, which is only read",
        ),
        ({"metricsPath": "s3://m"}, "option metricsPath: 's3://m' is not a folder that executors"),
        ({"subscribePattern": ""}, "option subscribePattern: it is empty"),
        (
            {"kafka.isolation.level": "READ_COMMITTED"},
            "option kafka.isolation.level: 'READ_COMMITTED' is neither read_uncommitted nor",
        ),
        ({"subscribePattern": "("}, "option subscribePattern: (: "),
        (
            {"startingOffsets": '{"orders": {"3": -7}}'},
            'option startingOffsets: {"orders": {"3": -7}}: an offset is 0 or greater',
        ),
        (
            {"endingOffsets": "earliest"},
            "option endingOffsets: earliest: every log begins there; write latest, or offsets as "
            "JSON",
        ),
        ({"replica": "leader"}, "option replica: 'leader' is not one of all, best, broker:N"),
        ({"replica": "broker:x"}, "option replica: 'broker:x' is not one of all, best, broker:N"),
        (
            {"mode": "FAILSAFE"},
            "option mode: 'FAILSAFE' is not one of FAILFAST, PERMISSIVE, DROPMALFORMED",
        ),
        (
            {"maxPartitionBytes": "-1"},
            "option maxPartitionBytes: '-1' is not a size: write 50MB, 64m or a number of bytes",
        ),
        ({"minPartitions": "0"}, "option minPartitions: '0' is not a number from 1 to 2147483647"),
        ({"minPartitions": "x"}, "option minPartitions: 'x' is not a number from 1 to 2147483647"),
        (
            {"fromTime": "2026-01-02", "toTime": "2026-01-01"},
            "option fromTime: the range ends before it begins",
        ),
        ({"failOnDataLoss": "no"}, "option failOnDataLoss: 'no' is neither true nor false"),
        (
            {"kafka.isolation.level": "committed"},
            "option kafka.isolation.level: 'committed' is neither read_uncommitted nor",
        ),
        (
            {"kafka.isolation.level": "read_committed", "table": "batches"},
            "option kafka.isolation.level does not apply to table batches",
        ),
        (
            {"replica": "all", "table": "segments"},
            "option replica does not apply to table segments",
        ),
        (
            {"includeHeaders": "true", "table": "batches"},
            "option includeHeaders does not apply to table batches",
        ),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options({"path": "/mnt/b1", **options})
    assert str(caught.value).startswith(message)


def test_a_range_of_time_is_for_tables_that_know_one() -> None:
    given = {"path": "/mnt/b1", "table": "findings", "fromTime": "1000", "toTime": "2026-11-21"}
    request = parse_options(given).request
    assert (request.from_timestamp, request.to_timestamp) == (1000, 1795219200000)
    with pytest.raises(UsageError, match="fromTime does not apply to table batches"):
        parse_options({"path": "/mnt/b1", "table": "batches", "fromTime": "0"})
    with pytest.raises(UsageError, match="fromTime: 'yesterday'"):
        parse_options({"path": "/mnt/b1", "table": "findings", "fromTime": "yesterday"})


def test_the_start_time_is_one_of_tables_that_predict_starts() -> None:
    options = parse_options(
        {"path": "/mnt/b1", "table": "recoveries", "startedAt": "2026-11-21T06:00:00Z"}
    )
    assert options.request.started_at == 1_795_240_800_000
    with pytest.raises(UsageError, match="startedAt does not apply to table records"):
        parse_options({"path": "/mnt/b1", "startedAt": "2026-11-21"})


def rows_of_the_page() -> dict[str, list[str]]:
    """The other cells of each option's row: tables, default, meaning, difference."""
    page = (Path(__file__).parent.parent.parent / "docs" / "spark.md").read_text()
    table = page.partition("## Options")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| `")]
    return {
        name: [cell.strip() for cell in cells]
        for names, *cells in rows
        for name in re.findall("`(.*?)`", names)
    }


PAGE = rows_of_the_page()
IN_WORDS = dict.fromkeys(
    ("subscribe", "subscribePattern", "assign"),
    "all topics except `__cluster_metadata` (other tables: all topics)",
)
"""Defaults that are no value of the option."""


def test_the_page_has_every_option_and_no_other() -> None:
    known = {*(set(KNOWN) - {"path", "paths"}), *OF_STREAMS}
    assert set(PAGE) == known, "add or remove its row in docs/spark.md"


@pytest.mark.parametrize("name", PAGE)
def test_the_page_names_the_tables_that_have_an_option(name: str) -> None:
    having = [table for table in registry.TABLES if applies(name, registry.table(table))]
    everything = len(having) == len(registry.TABLES)
    shown = "all" if everything else ", ".join(f"`{table}`" for table in sorted(having))
    assert PAGE[name][0] == shown, f"write these tables in the row of {name} in docs/spark.md"


@pytest.mark.parametrize("name", PAGE)
def test_the_default_on_the_page_is_the_one_that_applies(name: str) -> None:
    default = PAGE[name][1]
    found = re.fullmatch(r"`(.*?)`(?: \(other tables: `(.*?)`\))?", default)
    if found is None:
        declared = OPTIONS[READING[name]].default if name in READING else ""
        assert default == IN_WORDS.get(name, declared), f"{name}: correct docs/spark.md"
        return
    having = [table for table in registry.TABLES if applies(name, registry.table(table))]
    for table in having:
        value = found[2] if found[2] and table != "records" else found[1]
        given = {"path": "/mnt/b1", "table": table}
        if name in OF_STREAMS:
            assert parse_stream_options({**given, name: value}) == parse_stream_options(given)
            continue
        if name == "table":
            given, value = {"path": "/mnt/b1"}, found[1]
        with_default = replace(parse_options({**given, name: value}), has_columns=False)
        assert with_default == parse_options(given)


def test_the_page_lists_every_difference_from_the_kafka_source() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "spark.md").read_text()
    section = page.partition("## Differences from the Kafka source")[2].partition("\n## ")[0]
    listed = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    assert listed[1:] == list(DIFFERENCES)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (None, 900),
        ("7s", 7),
        ("250", 0.25),
        ("250ms", 0.25),
        ("2s", 2),
        ("3 m", 180),
        ("3min", 180),
        ("2h", 7200),
    ],
)  # fmt: skip
def test_a_delay_without_a_unit_is_in_milliseconds(given: str | None, seconds: float) -> None:
    """As Spark's JavaUtils.timeStringAsMs reads it; fifteen minutes are Spark's default."""
    delay = {} if given is None else {"maxTriggerDelay": given}
    options = parse_stream_options({"path": "/x", **delay})
    assert options.max_delay == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("name", "greatest"), [("minPartitions", 2**31 - 1), ("maxRecordsPerPartition", 2**63 - 1)]
)
def test_a_count_is_a_positive_number_of_java(name: str, greatest: int) -> None:
    def parsed(text: str) -> int | None:
        options = parse_options({"path": "/x", name: text})
        return options.min_partitions or options.request.max_records_per_unit

    assert (parsed("1"), parsed(str(greatest))) == (1, greatest)
    for text in ("0", "-1", str(greatest + 1), "x"):
        with pytest.raises(UsageError, match=f"'{text}' is not a number from 1 to {greatest}"):
            parsed(text)


@pytest.mark.parametrize(("least", "most", "is_taken"), [(5, 5, True), (4, 5, True), (6, 5, False)])
def test_a_trigger_may_wait_for_as_many_offsets_as_it_reads(
    least: int, most: int, is_taken: bool
) -> None:
    given = {"minOffsetsPerTrigger": str(least), "maxOffsetsPerTrigger": str(most)}
    if is_taken:
        options = parse_stream_options({"path": "/x", **given})
        assert (options.min_offsets, options.max_offsets) == (least, most)
    else:
        with pytest.raises(UsageError, match="it is above maxOffsetsPerTrigger"):
            parse_stream_options({"path": "/x", **given})


@pytest.mark.parametrize(("end", "is_taken"), [(4, False), (5, True), (6, True)])
def test_a_range_may_be_empty_but_not_end_before_it_begins(end: int, is_taken: bool) -> None:
    given = {"startingOffsets": '{"t": {"0": 5}}', "endingOffsets": f'{{"t": {{"0": {end}}}}}'}
    if is_taken:
        request = parse_options({"path": "/x", **given}).request
        assert (request.starting_offsets, request.ending_offsets) == (
            {("t", 0): 5},
            {("t", 0): end},
        )
    else:
        with pytest.raises(UsageError, match="t-0 would start at 5, above its ending offset 4"):
            parse_options({"path": "/x", **given})


@pytest.mark.parametrize(("given", "size"), [(None, None), ("1k", 1024), ("7", 7)])
def test_a_trigger_may_be_limited_to_bytes(given: str | None, size: int | None) -> None:
    limit = {} if given is None else {"maxBytesPerTrigger": given}
    assert parse_stream_options({"path": "/x", **limit}).max_bytes == size
