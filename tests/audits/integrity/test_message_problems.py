"""KL-808: records of internal topics that no coordinator can load, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from fixtures.synthetic.internal_records import INTERNAL_RECORDS
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.synthetic.internal_records import InternalRecord


def findings(root: Path, *, deep: bool = True) -> list[dict[str, Any]]:
    rows = kafkalog_reader.open(str(root)).table("findings", deep=deep).to_arrow().to_pylist()
    return [row for row in rows if row["code"] == "KL-808"]


@pytest.mark.parametrize("record", INTERNAL_RECORDS, ids=lambda record: record.id)
def test_what_a_coordinator_cannot_load_is_found(record: InternalRecord, tmp_path: Path) -> None:
    found = findings(record.write(tmp_path))
    assert {(row["code"], row["firstOffset"]) for row in found} == record.expected
    for row in found:
        evidence = {each["name"]: each["value"] for each in row["evidence"]}
        assert evidence["offset"] == "1"


def test_records_are_read_only_if_that_was_requested(tmp_path: Path) -> None:
    (record,) = (each for each in INTERNAL_RECORDS if each.id == "Q17b")
    assert findings(record.write(tmp_path), deep=False) == []


def test_a_topic_with_a_similar_name_has_records_of_its_own(tmp_path: Path) -> None:
    batch = data_batch(0, [Record(offset_delta=0, key=b"\0\1", value=b"\0\x09")])
    cluster(tmp_path, {0: [replica([batch], topic="consumer_offsets", high_watermark=1)]})
    assert findings(tmp_path) == []


@pytest.mark.parametrize("state", ["everything/stopped", "everything/killed", "s3_2/healed"])
def test_what_brokers_wrote_can_be_loaded(state: str) -> None:
    assert findings(captures.path(state)) == []
