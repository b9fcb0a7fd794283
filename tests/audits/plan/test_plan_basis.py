"""What is known of the cluster: settings, and directories without which nodes do not start."""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    LOG_DIRECTORY_EMPTY,
    LOG_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.catalogue.replica_rules import CONTROLLERS_BEHIND
from kafkalog_reader.audits.plan.open_finding import OpenFinding
from kafkalog_reader.audits.plan.plan_basis import PlanBasis, allows_unclean

UNCLEAN = {
    "allowed": {"unclean.leader.election.enable": "true"},
    "forbidden": {"unclean.leader.election.enable": "false"},
    "other": {"retention.ms": "1"},
}


def found(code: str) -> OpenFinding:
    return OpenFinding(name="broker 1", code=code, severity="H", message="")


@pytest.mark.parametrize(
    ("topic", "setting"),
    [("allowed", "true"), ("forbidden", "false"), ("other", None), ("unknown", None)],
)
def test_a_topic_allows_unclean_elections_by_its_own_setting(
    topic: str, setting: str | None
) -> None:
    assert PlanBasis(paths=(), configs=UNCLEAN).unclean_election(topic) == setting
    assert allows_unclean(topic, UNCLEAN) is (setting == "true")


def test_missing_and_empty_directories_are_told_apart() -> None:
    missing, empty = found(LOG_DIRECTORY_MISSING), found(LOG_DIRECTORY_EMPTY)
    basis = PlanBasis(paths=(), severe=(missing, empty))
    assert basis.missing_directories == (missing,)
    assert basis.empty_directories == (empty,)


@pytest.mark.parametrize(
    ("is_without_metadata", "code", "expected"),
    [
        (True, CONTROLLERS_BEHIND, True),
        (False, CONTROLLERS_BEHIND, False),
        (True, LOG_DIRECTORY_EMPTY, False),
    ],
)
def test_the_metadata_log_may_be_lost_where_none_was_supplied_and_a_finding_says_so(
    *, is_without_metadata: bool, code: str, expected: bool
) -> None:
    basis = PlanBasis(paths=(), is_without_metadata=is_without_metadata, severe=(found(code),))
    assert basis.may_lack_metadata is expected
