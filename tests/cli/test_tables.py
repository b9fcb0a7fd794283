from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kafkalog_reader import registry

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def test_every_table_is_listed_with_all_its_columns(run: Run) -> None:
    lines = run("tables", "--format", "json").out.splitlines()
    listed = {table["table"]: table["columns"] for table in map(json.loads, lines)}
    assert set(listed) == set(registry.TABLES)
    for name, columns in listed.items():
        assert [c["name"] for c in columns] == registry.table(name).schema.names
        assert all(column["type"] and column["doc"] for column in columns)


def test_one_table_is_shown_with_types_and_units(run: Run) -> None:
    lines = run("tables", "batches").out.splitlines()
    assert lines[0].startswith("batches: ")
    rows = {line.split()[0]: line.split()[1] for line in lines[2:] if line}
    assert rows["crc"] == "bigint"
    assert rows["baseTimestamp"] == "timestamp"
    assert rows["isControl"] == "boolean"
    assert next(line for line in lines if line.startswith("  size ")).endswith("[bytes]")


def test_types_are_sparks(run: Run) -> None:
    columns = json.loads(run("tables", "records", "--format", "json").out)["columns"]
    types = {column["name"]: column["type"] for column in columns}
    assert types["headers"] == "array<struct<key string, value binary>>"
    assert types["partition"] == "int"


def test_unknown_table_names_the_nearest(run: Run) -> None:
    answer = run("tables", "replica")
    assert answer.status == 2
    assert "Did you mean 'replicas'?" in answer.err
