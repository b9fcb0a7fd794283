from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kafkalog_reader.cli.main import kafkalog
from kafkalog_reader.cli.run import status
from kafkalog_reader.errors import UsageError
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.tables.request import ReadRequest
from kafkalog_reader.tables.selection import check_selection

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.io.evidence import Evidence


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    for name in ("orders-0", "orders-1", "payments-0"):
        (tmp_path / name).mkdir()
    return discover([str(tmp_path)])


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (
            ReadRequest(topics=frozenset({"order"})),
            "no topic 'order' in the given paths. Did you mean 'orders'?",
        ),
        (
            ReadRequest(assigned=frozenset({("orders", 0), ("orders", 7)})),
            "no partition 7 of topic 'orders' in the given paths",
        ),
        (
            ReadRequest(starting_offsets={("payment", 0): 3}),
            "no topic 'payment' in the given paths. Did you mean 'payments'?",
        ),
        (
            ReadRequest(topics=frozenset({"orders"}), ending_offsets={("payments", 0): 3}),
            "offsets are given for payments-0, which is not subscribed",
        ),
        (
            ReadRequest(partitions=frozenset({0, 7})),
            "no partition 7 in the given paths",
        ),
        (
            ReadRequest(topics=frozenset({"payments"}), partitions=frozenset({1})),
            "no partition 1 of topic payments in the given paths",
        ),
        (
            ReadRequest(brokers=frozenset({3})),
            "option broker: no broker 3: the given paths are of brokers 1",
        ),
        (
            ReadRequest(replica="broker:12"),
            "option replica: no broker:12: the given paths are of brokers 1",
        ),
    ],
)
def test_what_is_named_and_not_there_is_an_error(
    evidence: Evidence, request_: ReadRequest, problem: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_selection(evidence, request_)
    assert str(caught.value) == problem


def test_what_is_named_and_there_is_not_an_error(evidence: Evidence) -> None:
    check_selection(evidence, ReadRequest())
    check_selection(evidence, ReadRequest(topics=frozenset({"orders", "payments"})))
    check_selection(evidence, ReadRequest(partitions=frozenset({0, 1}), brokers=frozenset({1})))
    check_selection(
        evidence,
        ReadRequest(assigned=frozenset({("orders", 1)}), starting_offsets={("orders", 1): 5}),
    )


@pytest.mark.parametrize("command", ["ls", "table records", "table findings"])
def test_a_mistyped_topic_is_not_an_empty_answer_on_the_terminal(
    evidence: Evidence, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = evidence.roots[0].path
    assert status(kafkalog, [*command.split(), root, "--topic", "order"]) == 2
    expected = "error: no topic 'order' in the given paths. Did you mean 'orders'?\n"
    assert capsys.readouterr() == ("", expected)
