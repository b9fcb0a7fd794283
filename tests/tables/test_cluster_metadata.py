"""Records of ``__cluster_metadata`` as JSON."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster, data_batch, replica
from fixtures.dump import dump_log_segments
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = "__cluster_metadata"
STATES = [each for each in captures.states() if list(captures.path(each).glob(f"*/{TOPIC}-0"))]


def rows_of(path: Path, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        kafkalog_reader.open(str(path)).table("cluster_metadata", **options).to_arrow().to_pylist()
    )
    return rows


def written(root: Path, value: bytes | None) -> dict[str, Any]:
    log = [data_batch(0, [Record(offset_delta=0, key=None, value=value)])]
    cluster(root, {0: [replica(log, topic=TOPIC, high_watermark=1)]})
    (row,) = rows_of(root)
    return row


def test_a_record_has_its_type_version_and_fields(tmp_path: Path) -> None:
    # frame version 1, NoOpRecord (20), version 0, no tagged fields
    row = written(tmp_path, b"\x01\x14\x00\x00")
    assert (row["offset"], row["type"], row["typeName"], row["version"]) == (0, 20, "NoOpRecord", 0)
    assert (row["json"], row["problem"], row["value"]) == ("{}", None, None)


@pytest.mark.parametrize(
    ("value", "number", "problem"),
    [
        pytest.param(b"\x01\x63\x02ab", 99, "record type 99", id="unknown type"),
        pytest.param(b"\x01\x14\x09", None, "version 9", id="unknown version"),
        pytest.param(b"\x07\x14\x00\x00", None, "frame version 7", id="unknown frame"),
        pytest.param(b"\x01\x14\x00\x00\x00", None, "1 more bytes", id="bytes after it"),
        pytest.param(b"\x01", None, "ends within its frame", id="cut short"),
        pytest.param(b"", None, "ends within its frame", id="empty"),
        pytest.param(None, None, "ends within its frame", id="null"),
        pytest.param(b"\x01\x14\x00\x01\x09\x01x", 20, None, id="unknown tag"),
    ],
)
def test_what_is_not_known_stays_as_stored(
    tmp_path: Path, value: bytes | None, number: int | None, problem: str | None
) -> None:
    row = written(tmp_path, value)
    assert (row["type"], row["value"]) == (number, value)
    assert (problem or "None") in str(row["problem"])


def test_topics_select_the_metadata_log_itself(tmp_path: Path) -> None:
    log = [data_batch(0, [Record(offset_delta=0, key=None, value=b"\x01\x14\x00\x00")])]
    metadata = replica(log, topic=TOPIC, high_watermark=1)
    cluster(tmp_path, {0: [metadata, replica("1-3/e0", high_watermark=4)]})
    assert len(rows_of(tmp_path, topic=TOPIC)) == 1
    assert rows_of(tmp_path, topic="t") == []


@pytest.mark.oracle
def test_records_are_those_that_kafkas_tool_decodes(tmp_path: Path) -> None:
    compared, in_snapshots = 0, 0
    for state in STATES:
        for path in captures.path(state).glob(f"*/{TOPIC}-0"):
            name = f"{state.replace('/', '-')}-{path.parent.name}"
            shutil.copytree(path, tmp_path / name / path.parent.name / path.name)
    for copy in sorted(tmp_path.iterdir()):
        text = dump_log_segments(
            tmp_path, [copy.name], [".checkpoint", ".log"], ["--cluster-metadata-decoder"]
        )
        expected = []
        end_offset = None
        for line in text.splitlines():
            if found := re.match(r"Dumping .*/(\d+)(-\d+\.checkpoint|\.log)$", line):
                end_offset = int(found[1]) if "checkpoint" in found[2] else None
            if found := re.search(r"\| offset: (\d+) .* payload: (\{.*)", line):
                payload = json.loads(found[2])
                if "data" in payload:  # records of a snapshot's header and footer have none
                    kind, version, data = (payload[name] for name in ("type", "version", "data"))
                    expected.append((end_offset, int(found[1]), kind, version, data))
        rows = [
            (
                row["snapshotEndOffset"],
                row["offset"],
                re.sub(r"(?<=[a-z])(?=[A-Z])", "_", row["typeName"]).upper(),
                row["version"],
                json.loads(row["json"]),
            )
            for row in rows_of(copy)
            if row["controlType"] is None
        ]
        assert sorted(rows, key=str) == sorted(expected, key=str)
        compared += len(rows)
        in_snapshots += sum(row[0] is not None for row in rows)
    assert compared > in_snapshots > 0
