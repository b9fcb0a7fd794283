"""Registrations of brokers in the metadata log."""

from __future__ import annotations

import json

from fixtures import captures
from tests.tables.metadata_logs import rows_of


def test_a_crashed_broker_is_fenced_and_one_that_came_back_is_not() -> None:
    """Capture s5_2: broker 1 crashed and came back; then broker 0 crashed."""
    rows = rows_of(captures.path("s5_2/c-written"), "brokers")
    assert [(row["nodeId"], row["isFenced"], row["isRegistered"]) for row in rows] == [
        (0, True, True),
        (1, False, True),
    ]
    # The broker epoch is the offset of the registration (BrokerRegistration#epoch).
    assert all(row["brokerEpoch"] == row["registrationOffset"] for row in rows)
    assert all(row["registrationTime"] < row["timestamp"] for row in rows)


def test_brokers_and_their_directories_are_those_of_the_files() -> None:
    path = captures.path("s1")
    expected = json.loads((path / "expected.json").read_text())
    for name in expected["captures"]:
        rows = rows_of(path / name, "brokers")
        assert [row["nodeId"] for row in rows] == expected["brokers"]
        for row in rows:
            properties = (path / name / f"broker-{row['nodeId']}" / "meta.properties").read_text()
            (directory_id,) = row["logDirectories"]
            assert f"directory.id={directory_id}" in properties


def test_as_of_gives_the_brokers_of_that_time() -> None:
    path = captures.path("s5_2/c-written")
    (crash,) = (
        row["offset"]
        for row in rows_of(path, "cluster_metadata")
        if row["typeName"] == "PartitionChangeRecord" and json.loads(row["json"])["isr"] == [0]
    )
    fenced = {
        row["nodeId"]: row["isFenced"]
        for row in rows_of(path, "brokers", as_of=f"offset:{crash + 1}")
    }
    assert fenced == {0: False, 1: True}
