"""Levels of features that a controller refuses: FeatureControlManager#replay.

Controllers of 3.3.2, 3.6.2, 3.9.1 and 4.4.0 ended at group.version 99 and at no.such.version 1
("this controller only supports versions 0"), and replayed no.such.version 0.
"""

from __future__ import annotations

import pytest

from kafkalog_reader.audits.election.feature_levels import (
    FeatureLevel,
    FeatureRanges,
    Role,
    first_unsupported,
)

CURRENT: FeatureRanges = {"metadata.version": (7, 33), "group.version": (0, 1)}
"""Of what a controller of 4.4.0 registered."""
OLD: FeatureRanges = {"metadata.version": (1, 8)}
"""What a broker of 3.4 registers."""


@pytest.mark.parametrize(
    ("name", "level", "is_refused"),
    [
        ("group.version", 1, False),
        ("group.version", 0, False),
        ("group.version", 2, True),
        ("metadata.version", 33, False),
        ("metadata.version", 34, True),
        ("metadata.version", 6, True),
        ("no.such.version", 1, True),
        ("no.such.version", 0, False),
    ],
)
def test_a_level_must_be_in_the_registered_range(name: str, level: int, is_refused: bool) -> None:
    ranges = {(Role.CONTROLLER, 1): CURRENT}
    refused = first_unsupported([FeatureLevel(5, name, level)], ranges, 1)
    assert (refused is not None) is is_refused
    assert refused is None or (refused.offset, refused.name) == (5, "FeatureLevelRecord")


def test_the_first_level_counts_even_if_it_is_lowered_later() -> None:
    levels = [FeatureLevel(5, "group.version", 2), FeatureLevel(6, "group.version", 1)]
    refused = first_unsupported(levels, {(Role.CONTROLLER, 1): CURRENT}, 1)
    assert refused is not None
    assert refused.offset == 5
    assert "node 1 registered levels 0 to 1 of it" in refused.text


def test_of_a_combined_node_the_controller_counts() -> None:
    ranges = {(Role.BROKER, 1): OLD, (Role.CONTROLLER, 1): CURRENT}
    assert first_unsupported([FeatureLevel(5, "group.version", 1)], ranges, 1) is None
    del ranges[Role.CONTROLLER, 1]
    assert first_unsupported([FeatureLevel(5, "group.version", 1)], ranges, 1) is not None


@pytest.mark.parametrize(
    ("name", "level", "is_refused"),
    [
        ("group.version", 1, False),  # some release has it
        ("group.version", 99, True),
        ("metadata.version", 1, False),
        ("no.such.version", 1, True),
    ],
)
def test_of_a_node_that_did_not_register_only_levels_of_no_release_are_refused(
    name: str, level: int, is_refused: bool
) -> None:
    ranges = {(Role.CONTROLLER, 2): CURRENT}
    refused = first_unsupported([FeatureLevel(5, name, level)], ranges, 1)
    assert (refused is not None) is is_refused
