"""Which topic partitions and offsets a request selects."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_reader.errors import CorruptRecordError, LogPosition
from kafkalog_reader.io.progress import ReadMetrics
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.request import ReadRequest


@pytest.mark.parametrize(
    ("request_", "selected"),
    [
        pytest.param({}, "t0 t1 u0 None", id="nothing"),
        pytest.param({"topics": frozenset({"t"})}, "t0 t1", id="topic"),
        pytest.param({"topics": frozenset()}, "", id="no_topic"),
        pytest.param({"excluded_topics": frozenset({"t"})}, "u0 None", id="excluded"),
        pytest.param({"partitions": frozenset({1})}, "t1", id="partition"),
        pytest.param({"partitions": frozenset({0})}, "t0 u0", id="partition_0"),
        pytest.param({"assigned": frozenset({("t", 1), ("u", 1)})}, "t1", id="assigned"),
        pytest.param({"topic_pattern": "^[tu]"}, "t0 t1 u0", id="pattern"),
        pytest.param({"topic_pattern": "u"}, "u0", id="found_anywhere"),
        pytest.param({"topic_pattern": ""}, "t0 t1 u0", id="empty_pattern"),
        pytest.param(
            {"topics": frozenset({"t", "u"}), "partitions": frozenset({0}),
             "excluded_topics": frozenset({"t"})},
            "u0", id="all_together",
        ),
    ],
)  # fmt: skip
def test_topic_partitions_are_selected(request_: dict[str, Any], selected: str) -> None:
    candidates: list[tuple[str | None, int | None]] = [("t", 0), ("t", 1), ("u", 0), (None, None)]
    request = ReadRequest(**request_)
    found = [
        "None" if topic is None else f"{topic}{partition}"
        for topic, partition in candidates
        if request.selects(topic, partition)
    ]
    assert " ".join(found) == selected


@pytest.mark.parametrize(
    ("request_", "offsets"),
    [
        pytest.param({}, (0, None), id="nothing"),
        pytest.param({"from_offset": 5, "to_offset": 9}, (5, 9), id="for_all"),
        pytest.param({"to_offset": 0}, (0, 0), id="nothing_at_all"),
        pytest.param({"starting_offsets": {("t", 1): 7}}, (7, None), id="of_the_partition"),
        pytest.param({"starting_offsets": {("t", 0): 7}}, (0, None), id="of_another"),
        pytest.param({"from_offset": 5, "starting_offsets": {("t", 1): 7}}, (7, None), id="later"),
        pytest.param({"from_offset": 9, "starting_offsets": {("t", 1): 7}}, (9, None), id="last"),
        pytest.param({"ending_offsets": {("t", 1): 7}}, (0, 7), id="end_of_the_partition"),
        pytest.param({"to_offset": 5, "ending_offsets": {("t", 1): 7}}, (0, 5), id="earlier"),
        pytest.param({"to_offset": 9, "ending_offsets": {("t", 1): 7}}, (0, 7), id="first"),
        pytest.param({"ending_offsets": {("t", 1): 0}}, (0, 0), id="end_at_0"),
    ],
)
def test_narrower_bound_holds(request_: dict[str, Any], offsets: tuple[int, int | None]) -> None:
    assert ReadRequest(**request_).offsets_of("t", 1) == offsets


def test_folder_without_names_has_the_bounds_of_all() -> None:
    request = ReadRequest(from_offset=5, starting_offsets={("t", 0): 7})
    assert request.offsets_of(None, None) == (5, None)


def test_damage_is_counted_where_asked() -> None:
    error = CorruptRecordError("torn", LogPosition("segment.log"))
    metrics = ReadMetrics()
    ReadRequest(mode=Mode.DROPMALFORMED).damage_counted_in(metrics).left_out(error)
    assert metrics.damaged_regions == 1
    with pytest.raises(CorruptRecordError):
        ReadRequest().damage.left_out(error)
