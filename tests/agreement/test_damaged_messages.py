"""Copies of a log of compressed messages, each damaged at another place: no fork."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fixtures.builder import cluster, message_batch, replica
from fixtures.builder.compression import Codec
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.format.record import Record
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

IN_EACH = 4
WRAPPERS = 6


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY])
def test_what_follows_damage_begins_where_other_copies_say(codec: Codec, tmp_path: Path) -> None:
    """A wrapper stores its last offset only, and what was before it cannot be read here.

    The zeros hide the borders of wrappers 1 and 2 on broker 1, and of 3 and 4 on broker 2.
    """
    log = [
        message_batch(
            number * IN_EACH,
            [Record(offset_delta=n, value=b"%d-%d" % (number, n)) for n in range(IN_EACH)],
            codec=codec,
        )
        for number in range(WRAPPERS)
    ]
    ends = [0]
    for batch in log:
        ends.append(ends[-1] + len(batch.build()))
    copy = replica(log, high_watermark=WRAPPERS * IN_EACH, recovery_point=WRAPPERS * IN_EACH)
    paths = cluster(tmp_path, {1: copy, 2: copy}, clean=(1, 2))
    for first, path in zip((1, 3), paths.values(), strict=True):
        segment = path / "t-0" / f"{0:020}.log"
        content = bytearray(segment.read_bytes())
        content[ends[first] + 8 : ends[first + 2] - 3] = bytes(ends[first + 2] - ends[first] - 11)
        segment.write_bytes(content)
    status, text = asked(replica_diff, *map(str, paths.values()), "--format", "json")
    (compared,) = map(json.loads, text.splitlines())
    assert status == 1
    assert compared["forkOffset"] is None
    assert {each["code"] for each in compared["findings"]}.isdisjoint({"KL-513", "KL-516"})
    ranges = {(each["firstOffset"], each["nextOffset"]) for each in compared["differences"]}
    assert ranges == {(4, 12), (12, 20)}
