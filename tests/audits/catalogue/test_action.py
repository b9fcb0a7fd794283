"""An action's text: it names its subject, the replica that should lead, and what ends it."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.catalogue.action import Action, action, declared

WAIT = Action(
    code="A0",
    name="wait",
    short="Leave {where}, which {are} behind {their} leader {best}, until {until}",
    explanation="",
    warnings=(),
    command="",
)


def test_one_broker_is_named_in_the_singular() -> None:
    assert WAIT.text("broker 1", "broker 2", until="it ends") == (
        "Leave broker 1, which is behind its leader broker 2, until it ends"
    )


def test_several_brokers_are_named_in_the_plural() -> None:
    assert WAIT.text("brokers 1 and 3", "broker 2", are_several=True, until="it ends") == (
        "Leave brokers 1 and 3, which are behind their leader broker 2, until it ends"
    )


def test_without_names_the_text_refers_to_replica_diff() -> None:
    assert WAIT.text() == (
        "Leave this broker, which is behind its leader the replica that replica-diff ranks first, "
        "until `replica-diff` says what to do first"
    )


def test_a_code_is_declared_once() -> None:
    (code, *_) = declared()
    before = declared()[code]
    with pytest.raises(AssertionError, match=code):
        action(code, "other", short="Do something else", explanation="")
    assert declared()[code] is before
