"""Real producers send few different values: nothing is called a retry but what was one."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import kafkalog_reader
from fixtures import live
from fixtures.scenarios.few_values import SENT, topics
from kafkalog_reader.cli.duplicates import duplicates_command
from kafkalog_reader.cli.verify import verify_command

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.oracle


def test_only_retries_are_called_so(tmp_path: Path) -> None:
    """What is stored more often than the applications sent it was sent again by the producers."""
    output = live.run("few_values", tmp_path / "output")
    files = str(output / "stopped" / "broker-0")
    surplus = surplus_by_topic(files, json.loads((output / SENT).read_text()))
    found = found_by_topic(files)
    verdicts = {name: "KL-60" in verified(files, name) for name in topics()}
    assert len(topics()) > 30
    wrong: dict[str, Any] = {}
    for name, sending in topics().items():
        if name.startswith("sound"):
            assert not surplus[name], f"the broker was too slow for {name}"
            is_right = not found[name] and not verdicts[name]
        elif sending.is_clear:
            is_right = found[name] == surplus[name]
        else:
            is_right = found[name] <= surplus[name]
        if not is_right:
            wrong[name] = (sending, found[name], surplus[name], verdicts[name])
    assert not wrong
    retried = [name for name, each in topics().items() if each.is_clear and surplus[name]]
    assert len(retried) > 3, "hardly any producer sent again"
    assert any(verdicts[name] for name in retried)


def surplus_by_topic(files: str, sent: dict[str, dict[str, int]]) -> dict[str, Counter[str]]:
    """How often each value is stored beyond what was sent."""
    stored: dict[str, Counter[str]] = {name: Counter() for name in topics()}
    for row in records(files):
        stored[row["topic"]][row["value"].decode()] += 1
    for name, times in sent.items():
        for each, count in times.items():
            stored[name][each.split("\t")[1]] -= count
    assert all(min(each.values()) >= 0 for each in stored.values())
    return {name: +each for name, each in stored.items()}


def found_by_topic(files: str) -> dict[str, Counter[str]]:
    """How often each value is called a duplicate."""
    done = CliRunner().invoke(duplicates_command, [files, "--by", "record", "--format", "json"])
    assert done.exit_code in (0, 1), done.output
    found: dict[str, Counter[str]] = {name: Counter() for name in topics()}
    offsets = {
        (each["topic"], each["offset"]) for each in map(json.loads, done.stdout.splitlines())
    }
    for row in records(files):
        if (row["topic"], row["offset"]) in offsets:
            found[row["topic"]][row["value"].decode()] += 1
    return found


def records(files: str) -> list[dict[str, Any]]:
    log = kafkalog_reader.open(files)
    rows = log.table("records", columns=["topic", "offset", "value"], topic=list(topics()))
    return rows.to_arrow().to_pylist()


def verified(files: str, topic: str) -> str:
    """What ``verify`` says of a topic."""
    done = CliRunner().invoke(verify_command, [files, "--topic", topic])
    assert done.exit_code in (0, 1), done.output
    return done.output
