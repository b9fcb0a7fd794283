"""The message definitions equal those of Kafka's jars."""

from __future__ import annotations

import pytest

from examples.write_messages import TARGET, text

pytestmark = pytest.mark.oracle


def test_the_definitions_are_those_of_the_jars() -> None:
    assert TARGET.read_text() == text()
