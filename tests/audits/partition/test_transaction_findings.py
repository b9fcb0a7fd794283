"""KL-702, KL-703, KL-710, KL-712: what the coordinator and the time prove of open transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import EPOCH_MILLIS
from fixtures.synthetic.transaction_states import TRANSACTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.synthetic.transaction_states import OpenTransaction


def findings(root: Path) -> list[dict[str, Any]]:
    rows = kafkalog_reader.open(str(root)).table("findings").to_arrow().to_pylist()
    return [row for row in rows if row["code"].startswith("KL-7")]


@pytest.mark.parametrize("state", TRANSACTIONS, ids=lambda state: state.id)
def test_each_state_has_its_findings_and_no_others(state: OpenTransaction, tmp_path: Path) -> None:
    found = findings(state.write(tmp_path))
    assert {(row["code"], row["firstOffset"]) for row in found} == state.expected
    first_actions = {row["actions"][0] for row in found}
    assert first_actions == ({state.action} if state.action else set())


def test_what_waits_behind_a_transaction_is_counted(tmp_path: Path) -> None:
    """Its first offset is 1, and the log ends at 5."""
    (state,) = (each for each in TRANSACTIONS if each.id == "Q25a")
    cause, stalled = sorted(findings(state.write(tmp_path)), key=lambda row: row["code"])
    assert (stalled["firstOffset"], stalled["nextOffset"]) == (1, 5)
    assert {each["name"]: each["value"] for each in stalled["evidence"]} == {
        "lastStableOffset": "1", "logEndOffset": "5", "offsets": "4",
    }  # fmt: skip
    assert stalled["causedBy"] == f"{cause['code']} at offset 1"


def test_data_that_came_after_its_marker_is_named(
    tmp_path: Path,
) -> None:
    (state,) = (each for each in TRANSACTIONS if each.id == "Q25j")
    (row,) = (row for row in findings(state.write(tmp_path)) if row["code"] == "KL-703")
    assert "without this partition, so it came after its marker at offset 1;" in row["message"]


def test_the_decision_of_the_coordinator_is_shown(tmp_path: Path) -> None:
    for state, decision in (("Q10a", "commit"), ("Q10b", "abort")):
        (written,) = (each for each in TRANSACTIONS if each.id == state)
        found = findings(written.write(tmp_path / state))
        (row,) = (row for row in found if row["code"] == "KL-710")
        evidence = {each["name"]: each["value"] for each in row["evidence"]}
        assert evidence["decision"] == decision
        assert evidence["decidedAt"] == str(EPOCH_MILLIS + 500)


def test_it_is_not_to_be_aborted_where_others_have_its_commit(tmp_path: Path) -> None:
    """The abort command is only among the evidence where no commit marker speaks against it."""
    shown = {}
    for state in TRANSACTIONS:
        for row in findings(state.write(tmp_path / state.id)):
            if row["code"] in ("KL-702", "KL-712"):
                assert "abort" not in {each["name"] for each in row["evidence"]}
                continue
            evidence = {each["name"]: each["value"] for each in row["evidence"]}
            shown[state.id] = (evidence.get("abort"), evidence["markersElsewhere"])
    command = (
        "kafka-transactions.sh --bootstrap-server HOST:9092 abort --topic t --partition 0 "
        "--start-offset 1"
    )
    assert shown == {
        "Q25a": (command, ""), "Q25b": (command, ""), "Q25f": (None, "t-1 at offset 1"),
        "Q25g": (command, "t-1 at offset 1"), "Q25h": (command, ""),
        "Q25j": (command.replace("offset 1", "offset 2"), ""), "Q10a": (None, ""),
        "Q10b": (command, ""),
        **dict.fromkeys(
            ("Q25m", "Q25o"), (command.replace("topic t ", "topic __consumer_offsets "), "")
        ),
    }  # fmt: skip


@pytest.mark.parametrize("state", ["everything/stopped", "everything/killed", "everything/running"])
def test_open_transactions_of_a_broker_do_not_hang(state: str) -> None:
    """One is open there: left-open, which its coordinator knows."""
    assert findings(captures.path(state)) == []
