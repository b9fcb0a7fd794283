"""Commands on a topic with tiered storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures import captures

if TYPE_CHECKING:
    from tests.cli.conftest import Run

CAPTURE = captures.path("tiered/copied")
LOCAL = [CAPTURE / name for name in ("broker-0", "broker-1", "controller-100")]


def test_ls_has_a_line_for_remote_storage(run: Run) -> None:
    answer = run("ls", CAPTURE, "--topic", "tiered")
    assert answer.status == 0
    (line,) = (line for line in answer.out.splitlines() if line.endswith("remote storage"))
    assert line.split()[:4] == ["?", "tiered-0", "0", "46"]


def test_find_shows_where_a_record_is(run: Run) -> None:
    answer = run("find", CAPTURE, "--key", "key-3", "--format", "csv")
    (row,) = answer.out.splitlines()[1:]
    assert ',,"tiered",0,3,' in row
    assert '"live"' in row
    assert "/tier/kafka-tiered-storage/tiered-0-" in row


@pytest.mark.parametrize("command", ["verify", "plan"])
def test_audits_say_the_same_with_and_without_it(run: Run, command: str) -> None:
    with_it, without = run(command, CAPTURE), run(command, *LOCAL)
    assert with_it.status == without.status == 0
    assert with_it.out == without.out


@pytest.mark.parametrize(("command", "to_do"), [("verify", "check"), ("plan", "plan")])
def test_audits_of_remote_storage_alone_say_what_they_need(
    run: Run, command: str, to_do: str
) -> None:
    answer = run(command, CAPTURE / "tier")
    assert answer.status == 2
    assert answer.err == (
        "error: only remote storage in the given paths, which holds no replica: "
        f"nothing to {to_do}; give the brokers' directories\n"
    )
