"""``replica-diff`` does not contradict itself if copies agree and records are lost all the same.

The headline, the JSON and the exit status cover the next start of each replica, committed records
that no copy holds, and the possible leaders.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder import Replica, cluster, data_batch, replica
from fixtures.builder.metadata_log import PartitionState, metadata_log
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.run import status
from kafkalog_reader.format.record import Record

AB = "a@0/e0 b@1/e0"
ABC = f"{AB} c@2/e0"
SEGMENT = "00000000000000000000.log"
if TYPE_CHECKING:
    from pathlib import Path

Answer = tuple[int, str]
Run = Callable[..., Answer]


@pytest.fixture
def diff(capfd: pytest.CaptureFixture[str]) -> Run:
    def diff(*arguments: object) -> Answer:
        code = status(replica_diff, [str(argument) for argument in arguments])
        out, _ = capfd.readouterr()
        return code, out

    return diff


def headline(out: str) -> str:
    """Everything above the first empty line, joined into one line."""
    return " ".join(out.partition("\n\n")[0].split())


def document(diff: Run, *arguments: object) -> dict[str, Any]:
    _, out = diff(*arguments, "--topic", "t", "--format", "json")
    (found,) = map(json.loads, out.splitlines())
    return dict(found)


def severities(found: dict[str, Any], code: str) -> set[str]:
    return {each["severity"] for each in found["findings"] if each["code"] == code}


# The next start


def test_a_clean_marker_over_a_torn_log_is_not_sound(diff: Run, tmp_path: Path) -> None:
    """The broker takes the log end from its index and assigns offsets that already exist."""
    log = " ".join(f"0123456789@{offset}/e0" for offset in range(40))
    held = replica(log, recovery_point=40, high_watermark=40, index_interval=200)
    root = cluster(tmp_path, {0: held}, clean=(0,))[0]
    segment = root / "t-0" / SEGMENT
    segment.write_bytes(segment.read_bytes()[: segment.stat().st_size // 2 - 9])
    code, out = diff(tmp_path)
    assert code == 1
    assert "DAMAGED" in headline(out) or "MISSING" in headline(out)
    assert "next start" in headline(out)


def test_a_directory_that_the_start_sets_aside_is_not_sound(diff: Run, tmp_path: Path) -> None:
    held = replica(AB, recovery_point=2, high_watermark=2, files={"partition.metadata": None})
    cluster(tmp_path, {0: held}, clean=(0,))
    code, out = diff(tmp_path)
    assert code == 1
    assert "NOT SOUND" in headline(out) or "MISSING" in headline(out)
    assert "sets the directory aside" in headline(out)
    assert severities(document(diff, tmp_path), "KL-417") == {"C"}


def test_a_retention_that_expires_every_record_is_not_sound(diff: Run, tmp_path: Path) -> None:
    times = {f"{0:020}.timeindex": bytes(12)}  # a last entry of zero is read as 1970
    held = replica(AB, recovery_point=2, high_watermark=2, files=times)
    cluster(tmp_path, {0: held}, clean=(0,))
    code, out = diff(tmp_path)
    assert code == 1
    assert "NOT SOUND" in headline(out) or "MISSING" in headline(out)
    assert "retention deletes" in headline(out)
    found = document(diff, tmp_path)
    assert severities(found, "KL-418") == {"C"}
    assert found["replicas"][0]["start"]["outcome"] == "expired"


def test_identical_copies_of_which_a_start_destroys_one_fail(diff: Run, tmp_path: Path) -> None:
    aside = replica(AB, recovery_point=2, high_watermark=2, files={"partition.metadata": None})
    kept = replica(AB, recovery_point=2, high_watermark=2)
    cluster(tmp_path, {0: aside, 1: kept}, clean=(0, 1))
    code, out = diff(tmp_path)
    assert code == 1
    assert "broker 0: its next start sets the directory aside" in headline(out)
    assert severities(document(diff, tmp_path), "KL-417") == {"H"}  # broker 1 has them


# Committed records that no copy holds


def test_committed_records_on_no_copy_are_the_worst_verdict(diff: Run, tmp_path: Path) -> None:
    short = replica(AB, recovery_point=2, high_watermark=5)
    cluster(tmp_path, {0: short, 1: short}, clean=(0, 1))
    code, out = diff(tmp_path)
    assert code == 1
    assert headline(out).startswith(
        "t-0: COMMITTED RECORDS MISSING: offsets 2–4 were committed according to the "
        "high-watermark checkpoints of brokers 0 and 1, but no supplied copy has them"
    )
    assert "NOT SOUND" in headline(out) or "MISSING" in headline(out)
    found = document(diff, tmp_path)
    assert found["verdict"] == "committed-records-missing"
    assert found["comparedVerdict"] == "consistent"
    assert severities(found, "KL-524") == {"C"}


def test_what_one_copy_holds_is_not_missing(diff: Run, tmp_path: Path) -> None:
    short, long = replica(AB, high_watermark=3), replica(ABC, high_watermark=3)
    cluster(tmp_path, {0: short, 1: long})
    found = document(diff, tmp_path)
    assert (found["verdict"], severities(found, "KL-524")) == ("lagging", set())


def test_a_row_ahead_of_a_copied_log_is_possible_only_without_a_clean_stop(
    diff: Run, tmp_path: Path
) -> None:
    short = replica(AB, high_watermark=5)
    cluster(tmp_path, {0: short, 1: short})
    code, out = diff(tmp_path)
    assert code == 1
    said = " ".join(out.split())  # copies of running brokers, log first (T01)
    assert (
        "of brokers 0 and 1, but no supplied copy has them (if they ran while they were copied, "
        "the checkpoint may be newer than the log: copy again)" in said
    )
    (found,) = (e for e in document(diff, tmp_path)["findings"] if e["code"] == "KL-524")
    assert (found["severity"], found["confidence"]) == ("C", "possible")


def test_rows_ahead_of_logs_copied_while_they_were_written_are_not_a_loss(
    diff: Run, tmp_path: Path
) -> None:
    """File times show it: a record of this minute, and a row written after the log was copied."""
    now = time.time()
    batch = data_batch(0, [Record(offset_delta=0, value=b"a")], base_timestamp=int(now * 1000))
    for root in cluster(
        tmp_path, dict.fromkeys(range(2), replica([batch], high_watermark=5))
    ).values():
        os.utime(root / "replication-offset-checkpoint", (now + 2, now + 2))
    found = document(diff, tmp_path)
    assert (found["verdict"], severities(found, "KL-524")) == ("consistent", set())


# Who may lead


def with_metadata(**given: Any) -> list[Replica]:
    state = PartitionState(
        **{"replicas": (0, 1, 2), "in_sync": (0, 1, 2), "leader": 0, "leader_epoch": 0, **given}
    )
    return [replica(AB, high_watermark=2), metadata_log([state])]


def test_membership_is_reported_in_words(diff: Run, tmp_path: Path) -> None:
    long = replica(ABC, high_watermark=2)
    metadata = with_metadata(in_sync=(1,), leader=1)[1]
    short = replica(AB, high_watermark=2)
    cluster(tmp_path, {0: [long, metadata], 1: short, 2: short})
    _, out = diff(tmp_path, "--topic", "t")
    assert "metadata log: leader 1 (epoch 0), ISR 1, replicas 0, 1 and 2" in out
    ranked = (line for line in out.splitlines() if re.match(r" +\d  broker ", line))
    rows = {line.split()[2]: line for line in ranked}
    assert rows["1"].endswith("in ISR")
    assert rows["0"].endswith("needs an unclean election")


def test_an_unclean_election_is_printed_only_where_it_is_needed(diff: Run, tmp_path: Path) -> None:
    fork = [replica(f"{AB} {end}", high_watermark=2) for end in ("c@2/e1", "d@2/e2")]
    for name, in_sync in (("inside", (1,)), ("outside", (2,)), ("unknown", None)):
        copies: dict[int, Any] = dict(enumerate(fork))
        if in_sync is not None:
            copies[0] = [fork[0], with_metadata(in_sync=in_sync, leader=-1, leader_epoch=2)[1]]
        cluster(tmp_path / name, copies)
        _, out = diff(tmp_path / name, "--topic", "t")
        assert ("--election-type unclean" in out.replace("\\\n", "")) == (name == "outside"), name


def test_one_of_three_replicas_is_not_called_a_sound_partition(diff: Run, tmp_path: Path) -> None:
    cluster(tmp_path, {0: with_metadata()})
    _, out = diff(tmp_path, "--topic", "t")
    assert "1 of 3 replicas supplied" in headline(out)


# Orders


def test_a_partition_orders_no_start_of_brokers(diff: Run, tmp_path: Path) -> None:
    first, second = [replica(f"{AB} {end}", high_watermark=2) for end in ("c@2/e1", "d@2/e2")]
    cluster(tmp_path, {0: first, 1: second})
    _, out = diff(tmp_path)
    assert "start broker" not in out
    assert "should lead this partition" in " ".join(out.split())
    assert out.splitlines()[-1].strip() == f"kafkalog plan {tmp_path}"


def test_a_single_copy_that_its_start_cuts_is_not_to_be_started_first(
    diff: Run, tmp_path: Path
) -> None:
    root = cluster(tmp_path, {0: replica("a@0/e0 b@1/e0 c@2/e0", high_watermark=3)})[0]
    segment = root / "t-0" / SEGMENT
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1  # in the second of three batches: the third is sound
    segment.write_bytes(content)
    code, out = diff(tmp_path)
    assert code == 1
    assert "first and alone" not in out
    assert "should lead" not in out
    assert "do not start broker 0 yet" in " ".join(out.split())


def test_least_is_not_said_on_a_tie(diff: Run, tmp_path: Path) -> None:
    ends = ("c@2/e1", "d@2/e2")
    copies = [replica(f"{AB} {end}", high_watermark=3, recovery_point=3) for end in ends]
    cluster(tmp_path, dict(enumerate(copies)), clean=(0, 1))
    found = document(diff, tmp_path)
    (least,) = (each for each in found["findings"] if each["code"] == "KL-901")
    assert "least" not in least["message"]
    assert "loses least" not in diff(tmp_path)[1]


# A lagging copy


@pytest.mark.parametrize(("in_sync", "severity", "code"), [((0,), "M", 0), (None, "H", 1)])
def test_a_lagging_copy_that_lacks_committed_records_must_not_be_elected(
    diff: Run, tmp_path: Path, in_sync: tuple[int, ...] | None, severity: str, code: int
) -> None:
    long: Any = replica(ABC, high_watermark=3)
    if in_sync is not None:
        long = [long, with_metadata(replicas=(0, 1), in_sync=in_sync)[1]]
    cluster(tmp_path, {0: long, 1: replica(AB, high_watermark=2)})
    answer, out = diff(tmp_path, "--topic", "t")
    assert answer == code
    assert "loses committed ones: do not" in out
    assert "if elected, it loses 1 committed record" in headline(out)
    found = document(diff, tmp_path)
    assert severities(found, "KL-502") == severities(found, "KL-520") == {severity}
    assert diff(tmp_path, "--topic", "t", "--fail-on", "medium")[0] == 1


def test_the_count_of_sound_single_copies_does_not_end_with_the_word_sound(
    diff: Run, tmp_path: Path
) -> None:
    """Behind "1 forked", a last word "sound" reads like the verdict of all."""
    cluster(
        tmp_path,
        {
            1: [replica("a@0/e0 b@1/e1", topic="t"), replica(AB, topic="u")],
            2: [replica("a@0/e0 c@1/e2", topic="t")],
        },
    )
    _, out = diff(tmp_path)
    assert headline(out) == "2 partitions, 2 brokers: 1 forked, 1 sound with one copy supplied"
