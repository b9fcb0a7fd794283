"""Every log of the acceptance scenarios, with its epochs, can be written in the notation."""

from __future__ import annotations

import pytest

from fixtures.builder import replica
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.record_batch_header import parse_record_batch_header

A_B = "a@0/e0 b@1/e0"


@pytest.mark.parametrize(
    ("log", "epochs", "log_end"),
    [
        pytest.param(f"{A_B} m*2@2/e0", "0:0", 4, id="S1"),
        pytest.param(f"{A_B} c@2/e1 d@3/e1", "0:0 1:2", 4, id="S3.1"),
        pytest.param(f"{A_B} c@2/e0 d@3/e0 e@4/e0", "0:0", 5, id="S3.2_A"),
        pytest.param(f"{A_B} c*4@2/e0 d*4@6/e0 e*4@10/e0", "0:0", 14, id="S3.2_B"),
        pytest.param(f"{A_B} f@2/e2 g@3/e2", "0:0 2:2 3:4", 4, id="S3.2_E"),
        pytest.param(f"{A_B} d@2/e2", "0:0 2:2", 3, id="S5.2_C"),
        pytest.param(f"{A_B} m@2/e0 m@3/e1", "0:0 1:3", 4, id="H4"),
        pytest.param("x@0/e2", "2:0 4:1", 1, id="M1"),
        pytest.param("p@0/e3 q@1/e6 r@2/e6 s@3/e6", "3:0 6:1 9:4", 4, id="M2"),
        pytest.param("x@0/e2", "4:1", 1, id="M3"),
        pytest.param("a@0/e0", "0:0 1:1 2:1", 1, id="M4"),
        pytest.param("10-19/e3", "3:10", 20, id="M5"),
        pytest.param("0-9/e0 10-14/e0", "0:0", 15, id="M6"),
        pytest.param("0-9/e0[0,4,9]", "0:0", 10, id="M7"),
        pytest.param("0-9/e0 12-13/e1", "0:0 1:12", 14, id="M8"),
        pytest.param("", "4:0", 0, id="M9"),
        pytest.param("a@0/e0", "0:0 1:1", 1, id="M10"),
    ],
)
def test_replica_of_a_scenario_ends_where_the_scenario_says(
    log: str, epochs: str, log_end: int
) -> None:
    described = replica(log, epochs=epochs)
    files = described.build(is_clean=False)
    lines = [entry.replace(":", " ") for entry in epochs.split()]
    assert files["leader-epoch-checkpoint"].decode().splitlines() == ["0", str(len(lines)), *lines]
    assert described.log_end == log_end
    content = next(content for name, content in files.items() if name.endswith(".log"))
    ends = [0]
    position = 0
    while position < len(content):
        header = parse_record_batch_header(content[position:], LogPosition("t", position))
        ends.append(header.next_offset)
        position += header.size_in_bytes
    assert ends[-1] == log_end
