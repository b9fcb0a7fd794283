"""The advice of findings: the same wording in all commands, and none that misleads."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import kafkalog_reader
from fixtures import captures
from kafkalog_reader.audits.catalogue.actions import (
    ACTIONS,
    FETCH_METADATA_AGAIN,
    FINISH_COPY,
    FORCE_RECOVERY,
    KEEP_DELETED_FOLDER,
    LEAVE_ONE_OUT,
    LET_BEST_LEAD,
    MOVE_FUTURE_COPY,
    NOTHING_TO_DO,
    REBUILD_INDEX,
    REBUILT_AT_START,
    RENAME_STRAY,
    REPLACE_METADATA_LOG,
    RETURN_DIRECTORY,
    SET_NO_OFFSET_YET,
    SUPPLY_WHAT_IS_MISSING,
)
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.input_rules import MIXED_CLUSTERS, TOPIC_ID_MISMATCH
from kafkalog_reader.cli.verify import verify_command

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = "codec-none"
SEGMENT = f"{TOPIC}-0/00000000000000000024"
SEGMENT_AT_END = f"{TOPIC}-0/00000000000000000048"
BROKERS = ("this broker", "broker 1", "brokers 1 and 2")


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    root = tmp_path / "broker-0"
    shutil.copytree(captures.path("everything/stopped/broker-0"), root)
    return root


def verified(root: Path) -> str:
    result = CliRunner().invoke(
        verify_command, [str(root), "--topic", TOPIC], standalone_mode=False
    )
    return " ".join(result.output.split())


@pytest.mark.parametrize("code", ACTIONS)
def test_an_action_reads_the_same_about_any_broker(code: str) -> None:
    for where in BROKERS:
        text = ACTIONS[code].text(where, "broker 3", are_several=where.startswith("brokers"))
        assert "{" not in text
        assert text[0].islower()
        assert not text.endswith(".")


@pytest.mark.parametrize("code", ACTIONS)
def test_an_action_is_requested_by_a_rule(code: str) -> None:
    asked = {action for rule in CATALOGUE.values() for action in rule.actions}
    by_place = {
        NOTHING_TO_DO,
        REBUILD_INDEX,
        FETCH_METADATA_AGAIN,
        REPLACE_METADATA_LOG,
        MOVE_FUTURE_COPY,
        RENAME_STRAY,
        RETURN_DIRECTORY,
        KEEP_DELETED_FOLDER,
        FINISH_COPY,
        SET_NO_OFFSET_YET,
    }
    assert code in asked | by_place


def test_a_missing_offset_index_is_not_to_be_removed(broker: Path) -> None:
    (broker / f"{SEGMENT}.index").unlink()
    text = verified(broker)
    assert f"{SEGMENT.partition(chr(47))[2]}.index missing; the broker rebuilds it" in text
    assert ACTIONS[REBUILT_AT_START].text() in text
    assert "aside" not in text


def test_a_missing_time_index_comes_back_only_without_the_offset_index(broker: Path) -> None:
    """LogSegment.sanityCheck, Kafka 4.3: only a missing offset index makes a start recover."""
    (broker / f"{SEGMENT}.timeindex").unlink()
    text = verified(broker)
    assert "creates an empty one at its start" in text
    assert ACTIONS[REBUILD_INDEX].text("broker 0") in text


def test_zeros_that_end_a_stopped_log_are_not_nothing_to_do(broker: Path) -> None:
    with (broker / f"{SEGMENT_AT_END}.log").open("ab") as segment:
        segment.write(bytes(4096))
    text = verified(broker)
    assert "KL-104" in text
    assert ACTIONS[FORCE_RECOVERY].text("broker 0") in text
    assert ACTIONS[NOTHING_TO_DO].text() not in text


def outcome(root: Path) -> tuple[str, int]:
    """The outcome of the partition's next start, and how many records it removes."""
    rows = kafkalog_reader.open(str(root)).table("recoveries").to_arrow().to_pylist()
    ((outcome, records),) = {
        (row["outcome"], row["recordsCut"]) for row in rows if row["topic"] == TOPIC
    }
    return outcome, records


@pytest.mark.parametrize(
    ("content", "with_marker"), [(bytes(300), "brokerAborts"), (b"\0" * 8 + b"\1", "loads")]
)
def test_without_the_marker_a_bad_end_goes_and_no_record(
    broker: Path, content: bytes, with_marker: str
) -> None:
    """As predicted; the oracle of recoveries compares the prediction with real brokers."""
    with (broker / f"{SEGMENT_AT_END}.log").open("ab") as segment:
        segment.write(content)
    assert outcome(broker)[0] == with_marker
    (broker / ".kafka_cleanshutdown").unlink()
    assert outcome(broker) == ("cut", 0)


@pytest.mark.parametrize("code", [MIXED_CLUSTERS, TOPIC_ID_MISMATCH])
def test_what_does_not_belong_is_left_out_and_nothing_supplied(code: str) -> None:
    assert LEAVE_ONE_OUT in CATALOGUE[code].actions
    assert SUPPLY_WHAT_IS_MISSING not in CATALOGUE[code].actions


def test_one_copy_alone_names_no_broker_to_start_first() -> None:
    """The replica that loses least is known only if several were compared."""
    assert [
        code for code, rule in CATALOGUE.items() if LET_BEST_LEAD in rule.actions and code < "KL-5"
    ] == []
