"""A column or JSON name has one value, whichever command shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures import captures
from fixtures.faults.catalogue import FAULTS
from fixtures.synthetic import SCENARIOS
from fixtures.synthetic.across_replicas import CROSS_FAULTS
from kafkalog_reader.cli.ls import ls_command
from kafkalog_reader.cli.table import table_command
from tests.agreement.commands import asked, objects, replica_diff_documents
from tests.agreement.faulty_copy import base_of, faulty_copy

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.faults.fault import Fault
    from fixtures.synthetic.across_replicas import CrossFault

_OF_OTHER_THINGS = {"replicas"}
"""A number in the table partitions, a list in the JSON of replica-diff."""


def _replica(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("clusterId", "topic", "partition", "brokerId", "brokerLabel", "logDirectory")
    return tuple(row[name] for name in names)


def _partition(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["clusterId"], row["topic"], row["partition"]


def different(path: str) -> list[str]:
    """The names whose values differ between replica-diff and the tables of the same files."""
    listed = objects(asked(ls_command, path, "--format", "json")[1])
    replicas = {_replica(row): row for row in listed if row["state"] is None}
    rows = objects(asked(table_command, "partitions", path, "--format", "json")[1])
    partitions = {_partition(row): row for row in rows}
    found = []
    for document in replica_diff_documents(path):
        pairs = [(replicas[_replica(each)], each) for each in document["replicas"]]
        pairs.append((partitions[_partition(document)], document))
        for row, compared in pairs:
            found += [
                f"{document['topic']}: {name} is {row[name]}, by replica-diff {compared[name]}"
                for name in row.keys() & compared.keys() - _OF_OTHER_THINGS
                # ls does not know the end of a log that goes on in a format it does not read
                if row[name] != compared[name] and row.get("logEndOffset", 0) is not None
            ]
    return found


@pytest.mark.parametrize("state", captures.states())
def test_names_mean_one_thing_in_what_brokers_left(state: str) -> None:
    assert different(str(captures.path(state))) == []


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_names_mean_one_thing_in_a_scenario(name: str, tmp_path: Path) -> None:
    assert different(str(SCENARIOS[name].write(tmp_path))) == []


@pytest.mark.parametrize("fault", CROSS_FAULTS, ids=lambda fault: fault.id)
def test_names_mean_one_thing_in_a_fault_across_replicas(fault: CrossFault, tmp_path: Path) -> None:
    assert different(str(fault.write(tmp_path))) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_names_mean_one_thing_in_a_fault_of_one_copy(fault: Fault, tmp_path: Path) -> None:
    """The base depends on KAFKALOG_SEED."""
    assert different(faulty_copy(fault, base_of(fault), tmp_path)) == []


def test_a_bound_by_all_copies_is_not_in_what_one_copy_proves() -> None:
    """Broker 1 was cut off with two records that no other copy has: 2 to 4 by its own files."""
    path = str(captures.path("s1/stale"))
    assert "highWatermarkHigh" not in asked(ls_command, path, "--format", "json")[1]
    lines = asked(ls_command, path, "--topic", "t")[1].splitlines()
    assert [line.split()[4:6] for line in lines[1:4]] == [["≥2", "≥2"], ["2", "2"], ["≥2", "≥2"]]
    (document,) = [each for each in replica_diff_documents(path) if each["topic"] == "t"]
    assert document["highWatermarkHigh"] == 2
