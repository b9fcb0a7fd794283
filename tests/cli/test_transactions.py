"""``kafkalog transactions`` says which transactions are open and who will end them."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from fixtures import captures
from fixtures.builder import cluster, replica
from fixtures.synthetic.transaction_states import TRANSACTIONS
from tests.tables.test_open_transactions_table import (
    COMPLETE_COMMIT,
    ONGOING,
    damage,
    later,
    marker,
    state_of,
    write,
    written,
)

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.synthetic.transaction_states import OpenTransaction
    from tests.cli.conftest import Run

STOPPED = "everything/stopped"


def test_an_ongoing_transaction_names_when_its_coordinator_ends_it(
    tmp_path: Path, run: Run
) -> None:
    answer = run("transactions", write(tmp_path, [written(0)], state_of(ONGOING)))
    assert answer.status == 0
    assert "the producer, or the coordinator from 1970-01-01T00:01:01.000Z on" in answer.out
    assert answer.out.endswith("\n1 open transaction in 1 partition\n")


def test_a_hanging_one_ends_with_1_and_a_command_that_looks_at_it(tmp_path: Path, run: Run) -> None:
    log = [written(0), later(1)]
    answer = run("transactions", write(tmp_path, log, state_of(COMPLETE_COMMIT)))
    assert answer.status == 1
    assert " hanging " in answer.out
    assert "nobody: its coordinator has state CompleteCommit" in answer.out
    assert "1 open transaction in 1 partition; 1 place where one hangs" in answer.out
    assert "  kafka-transactions.sh --bootstrap-server HOST:9092 find-hanging --topic t --par" in (
        answer.out
    )


def test_a_young_one_may_only_look_like_it(tmp_path: Path, run: Run) -> None:
    answer = run("transactions", write(tmp_path, [written(0)], state_of(COMPLETE_COMMIT)))
    assert answer.status == 0
    assert " maybe-hanging " in answer.out
    assert "perhaps nobody: its coordinator has state CompleteCommit" in answer.out
    assert answer.out.endswith("\n1 open transaction in 1 partition\n")
    assert run("verify", tmp_path).status == 0


def test_without_an_open_one_it_says_so(tmp_path: Path, run: Run) -> None:
    answer = run("transactions", write(tmp_path, [written(0), marker(1)]))
    assert answer.out == "No transaction is open: none holds a last stable offset back.\n"


def test_damage_is_never_answered_with_no_transaction(tmp_path: Path, run: Run) -> None:
    write(tmp_path, [written(0), marker(1), written(2)])
    damage(tmp_path, "t", -1)
    answer = run("transactions", tmp_path)
    assert answer.status == 1
    assert " ".join(answer.out.split()) == (
        "No open transaction was found. Not known: what damage hides in t-0; `kafkalog verify` "
        "shows it."
    )


def test_a_damaged_coordinators_log_leaves_open_who_ends_it(tmp_path: Path, run: Run) -> None:
    write(tmp_path, [written(0)], state_of(ONGOING))
    damage(tmp_path, "__transaction_state", -1)
    answer = run("transactions", tmp_path)
    assert answer.status == 1
    assert (
        "unknown: __transaction_state is damaged or lost its end: its newest state may be missing"
        in (answer.out)
    )
    assert answer.out.endswith("\n1 open transaction in 1 partition\n")


def test_a_coordinators_log_that_lost_its_end_makes_hanging_doubtful(
    tmp_path: Path, run: Run
) -> None:
    """Its high watermark, 2, is above its log end, 1: the record that began it may be lost."""
    coordinator = replica(
        [state_of(COMPLETE_COMMIT)], topic="__transaction_state", high_watermark=2
    )
    cluster(tmp_path, {0: [replica([written(0)]), coordinator]})
    answer = run("transactions", tmp_path)
    assert answer.status == 1
    assert "unknown: __transaction_state-0 is damaged or lost its end" in answer.out
    assert "hang" not in answer.out


def test_without_coordinators_it_says_what_to_supply(tmp_path: Path, run: Run) -> None:
    answer = run("transactions", write(tmp_path, [written(0)]))
    assert answer.status == 0
    assert " ".join(answer.out.split()).endswith(
        "1 open transaction in 1 partition No partition of __transaction_state is in the inputs, "
        "so who ends them is unknown: supply the log directories of all brokers."
    )
    answer = run("transactions", tmp_path, "--by", "id")
    assert (answer.status, answer.out) == (2, "")
    assert "no partition of __transaction_state is in the inputs, so nothing is known" in answer.err


def test_json_is_the_table(run: Run) -> None:
    path = captures.path(STOPPED)
    for name, options in (("open_transactions", []), ("transactions", ["--by", "id"])):
        shown = run("transactions", path, *options, "--format", "json").out.splitlines()
        rows = run("table", name, path, "--format", "json").out.splitlines()
        nothing: dict[str, list[str]] = {"notKnown": []}
        assert [json.loads(line) for line in shown] == [json.loads(row) | nothing for row in rows]
        assert shown


def test_ids_have_their_states(run: Run) -> None:
    lines = run("transactions", captures.path(STOPPED), "--by", "id").out.splitlines()
    states = {line.split()[0]: line.split()[1] for line in lines[1:]}
    table = run("table", "transactions", captures.path(STOPPED), "--format", "json").out
    rows = [json.loads(line) for line in table.splitlines()]
    assert states == {row["transactionalId"]: row["state"] for row in rows}


def test_an_earlier_time_is_only_known_of_ids(tmp_path: Path, run: Run) -> None:
    path = write(tmp_path, [written(0)], state_of(ONGOING))
    answer = run("transactions", path, "--as-of", "offset:0")
    assert answer.status == 2
    assert "--as-of: it needs --by id" in answer.err
    assert "id " in run("transactions", path, "--as-of", "offset:0", "--by", "id").out


@pytest.mark.parametrize("state", TRANSACTIONS, ids=lambda state: state.id)
def test_it_ends_as_verify_does(state: OpenTransaction, tmp_path: Path, run: Run) -> None:
    path = state.write(tmp_path)
    verified = map(json.loads, run("verify", path, "--format", "json").out.splitlines())
    severe = {each["code"] for each in verified if each["severity"] in "CH"}
    codes = severe & {"KL-702", "KL-703", "KL-710"}
    answer = run("transactions", path)
    assert answer.status == len(codes)
    shown = run("transactions", path, "--format", "json")
    assert shown.status == len(codes)
    statuses = {json.loads(line)["status"] for line in shown.out.splitlines()}
    if "hanging" in statuses:
        assert codes & {"KL-703", "KL-710"}
    else:
        assert all(code in answer.out for code in codes)
        assert ("KL-70" in answer.out) == bool(codes)
    assert ("hang" in answer.out.replace("maybe-hanging", "")) == bool(codes - {"KL-702"})


def test_one_that_no_coordinator_can_end_hangs(tmp_path: Path, run: Run) -> None:
    """All partitions of __transaction_state are here, and none has its producer: KL-703."""
    (state,) = (each for each in TRANSACTIONS if each.id == "Q25h")
    answer = run("transactions", state.write(tmp_path))
    text = " ".join(answer.out.split())
    assert answer.status == 1
    assert "nobody: no transactional id has this producer any more (KL-703)" in text
    assert "1 place where one hangs" in text
    assert "supply the log directories" not in text
    assert "find-hanging --topic t --partition 0" in text


def test_a_coordinator_without_its_partition_on_any_broker_is_named(
    tmp_path: Path, run: Run
) -> None:
    """All brokers are here, and the metadata log has a partition that none of them holds."""
    state = tmp_path / "state"
    shutil.copytree(captures.path(STOPPED), state)
    assert run("transactions", state).status == 0
    shutil.rmtree(state / "broker-0" / "__transaction_state-0")
    answer = run("transactions", state)
    text = " ".join(answer.out.split())
    assert answer.status == 1
    assert "__transaction_state-0, which may know who ends them, is on no broker" in text
    assert "supply the log directories" not in text


def test_where_a_coordinator_may_know_more_its_log_is_asked_for(tmp_path: Path, run: Run) -> None:
    (state,) = (each for each in TRANSACTIONS if each.id == "Q25i")
    text = " ".join(run("transactions", state.write(tmp_path)).out.split())
    assert "supply the log directories of all brokers" in text
    assert "hangs" not in text
