"""Retries planted in logs of few different values are found where a person could tell them.

That is judged without the program: in hundreds of sound logs of the same application, does it ever
happen that a batch is there again? If it never does, every planted one must be found; if it does,
nothing but planted ones may be.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from fixtures.builder import EPOCH_MILLIS, cluster, data_batch, replica
from kafkalog_reader.format.batch_fields import LOG_APPEND_TIME_BIT
from kafkalog_reader.format.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fixtures.builder import Batch
    from tests.cli.conftest import Run

SOUND_LOGS: Final = 100
BATCHES: Final = 200
RETRIES: Final = 4
Sent = tuple[tuple[int, str], ...]
"""The time and value of each record of a batch."""


@dataclass(frozen=True, slots=True)
class Application:
    """What sends the records.

    Attributes:
        values: how many different ones.
        records: in a batch.
        pause: mean milliseconds between records.
        keeps: the probability that a value is that of the record before.
    """

    values: int
    records: int
    pause: float
    keeps: float = 0

    def sends(self, seed: int) -> list[Sent]:
        """Its batches."""
        return list(self._batches(Random(seed)))

    def _batches(self, chance: Random) -> Iterator[Sent]:
        time, value = 0.0, 0
        for _ in range(BATCHES):
            batch = []
            for _ in range(self.records):
                time += chance.expovariate(1 / self.pause)
                if chance.random() >= self.keeps:
                    value = chance.randrange(self.values)
                batch.append((int(time), str(value)))
            yield tuple(batch)


CLEAR: Final = [
    Application(values=10**9, records=1, pause=0.3),
    Application(values=10**9, records=1, pause=300),
    Application(values=4, records=20, pause=0.1),
    Application(values=2, records=40, pause=0.05),
    Application(values=20, records=6, pause=1),
    Application(values=10**6, records=1, pause=20),
    Application(values=50, records=8, pause=0.05, keeps=0.3),
]
UNCLEAR: Final = [
    Application(values=1, records=1, pause=0.4),
    Application(values=2, records=2, pause=0.2),
    Application(values=10, records=1, pause=0.3),
    Application(values=10, records=1, pause=3),
    Application(values=5, records=3, pause=0.1, keeps=0.98),
    Application(values=1000, records=1, pause=0.1, keeps=0.98),
]
HOW: Final = ("whole", "divided", "with others", "in a row", "appended")


def has_equal(batches: list[Sent]) -> bool:
    """Whether a batch is there twice."""
    return len(set(batches)) < len(batches)


def planted(batches: list[Sent], how: str, seed: int) -> tuple[list[Sent], list[bool]]:
    """The log with some batches sent again, soon after the first; and which records those are."""
    chance = Random(seed)
    places = range(10, BATCHES - 30, (BATCHES - 40) // RETRIES)
    again = {place + chance.randrange(20): place for place in places}
    log: list[Sent] = []
    is_copy: list[bool] = []

    def store(batch: Sent, *, copies: int = 0) -> None:
        log.append(batch)
        is_copy.extend(number < copies for number in range(len(batch)))

    waiting: Sent = ()
    for number, batch in enumerate(batches):
        if waiting:  # librdkafka puts what came meanwhile behind what it sends again
            store(waiting + batch, copies=len(waiting))
            waiting = ()
        else:
            store(batch)
        if number not in again:
            continue
        first = batches[again[number]]
        if how == "divided":
            half = len(first) // 2
            store(first[:half], copies=half)
            store(first[half:], copies=len(first) - half)
        elif how == "with others":
            waiting = first
        elif how == "in a row":
            for each in batches[again[number] : number + 1]:
                store(each, copies=len(each))
        else:
            store(first, copies=len(first))
    return log, is_copy


def stored(log: list[Sent], *, is_append_time: bool) -> Iterator[Batch]:
    offset = now = 0
    for batch in log:
        begin = batch[0][0]
        now = max(now, batch[-1][0])
        records = [
            Record(offset_delta=number, timestamp_delta=time - begin, value=value.encode())
            for number, (time, value) in enumerate(batch)
        ]
        more = {"flags": LOG_APPEND_TIME_BIT, "max_timestamp": EPOCH_MILLIS + now + 2}
        yield data_batch(
            offset, records, base_timestamp=EPOCH_MILLIS + begin, **more if is_append_time else {}
        )
        offset += len(batch)


def found(run: Run, folder: Path, log: list[Sent], how: str) -> set[int]:
    """The offsets of what is there again."""
    batches = list(stored(log, is_append_time=how == "appended"))
    cluster(folder, {1: replica(batches, topic="t", high_watermark=batches[-1].next_offset)})
    answer = run("duplicates", folder, "--by", "record", "--format", "json")
    return {json.loads(line)["offset"] for line in answer.out.splitlines()}


def says_retries(run: Run, folder: Path) -> bool:
    return "KL-601" in run("verify", folder).out


@pytest.mark.parametrize("application", CLEAR, ids=str)
def test_sound_logs_of_these_applications_have_no_equal_batches(application: Application) -> None:
    assert not any(has_equal(application.sends(seed)) for seed in range(SOUND_LOGS))


@pytest.mark.parametrize("application", UNCLEAR, ids=str)
def test_sound_logs_of_those_applications_have_some(application: Application) -> None:
    assert sum(has_equal(application.sends(seed)) for seed in range(20)) > 10


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("application", CLEAR, ids=str)
def test_every_retry_that_can_be_told_is_found(
    application: Application, how: str, tmp_path: Path, run: Run
) -> None:
    """Of those that are stored with other borders, verify knows nothing."""
    if how == "divided" and application.records == 1:
        pytest.skip("one record cannot be divided")
    log, is_copy = planted(application.sends(1), how, seed=2)
    expected = {offset for offset, each in enumerate(is_copy) if each}
    assert len(expected) >= RETRIES * application.records
    assert found(run, tmp_path, log, how) == expected
    assert says_retries(run, tmp_path) == (how not in ("divided", "with others"))


@pytest.mark.parametrize("application", [*CLEAR, *UNCLEAR], ids=str)
def test_sound_logs_have_no_retries(application: Application, tmp_path: Path, run: Run) -> None:
    for seed, how in enumerate(("whole", "appended")):
        folder = tmp_path / how
        assert found(run, folder, application.sends(seed), how) == set()
        assert not says_retries(run, folder)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("application", UNCLEAR, ids=str)
def test_what_cannot_be_told_is_not_claimed(
    application: Application, how: str, tmp_path: Path, run: Run
) -> None:
    """Chance puts equal batches in these logs, too; only those that came late can be told."""
    if how == "divided" and application.records == 1:
        pytest.skip("one record cannot be divided")
    log, is_copy = planted(application.sends(1), how, seed=2)
    claimed = found(run, tmp_path, log, how)
    assert claimed <= {offset for offset, each in enumerate(is_copy) if each}


def test_a_run_of_batches_can_be_told_where_one_cannot(tmp_path: Path, run: Run) -> None:
    """A producer with several requests in flight sends all of them again, in their order."""
    application = Application(values=10, records=1, pause=3)
    log = application.sends(3)
    assert has_equal(log)
    again = log[100:120]
    assert len(set(pairwise(again))) > 15
    log[120:120] = again
    assert found(run, tmp_path, log, "whole") == set(range(120, 140))
    assert says_retries(run, tmp_path)
