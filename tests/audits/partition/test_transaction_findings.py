"""KL-703: a transaction hangs only if its coordinator and the time prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import kafkalog_reader
from fixtures import captures
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
    assert [row["actions"] for row in found] == ([[state.action]] if state.action else [])


def test_it_is_not_to_be_aborted_where_others_have_its_commit(tmp_path: Path) -> None:
    """The abort command is only among the evidence where no commit marker speaks against it."""
    shown = {}
    for state in TRANSACTIONS:
        for row in findings(state.write(tmp_path / state.id)):
            evidence = {each["name"]: each["value"] for each in row["evidence"]}
            shown[state.id] = (evidence.get("abort"), evidence["markersElsewhere"])
    command = (
        "kafka-transactions.sh --bootstrap-server HOST:9092 abort --topic t --partition 0 "
        "--start-offset 1"
    )
    assert shown == {
        "Q25a": (command, ""), "Q25b": (command, ""), "Q25f": (None, "t-1 at offset 1"),
        "Q25g": (command, "t-1 at offset 1"),
    }  # fmt: skip


@pytest.mark.parametrize("state", ["everything/stopped", "everything/killed", "everything/running"])
def test_open_transactions_of_a_broker_do_not_hang(state: str) -> None:
    """One is open there: left-open, which its coordinator knows."""
    assert findings(captures.path(state)) == []
