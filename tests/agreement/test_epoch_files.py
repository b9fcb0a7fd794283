"""All commands name the same broker's leader-epoch-checkpoint, and write the same rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fixtures.synthetic import SCENARIOS
from kafkalog_reader.cli.plan import plan_command
from kafkalog_reader.cli.replica_diff import replica_diff
from kafkalog_reader.cli.verify import verify_command
from tests.agreement.commands import asked

if TYPE_CHECKING:
    from pathlib import Path

NAMED = re.compile(r"while (broker \d) is stopped, write leader-epoch-checkpoint")
PLANNED = re.compile(r"On (broker \d), while it is stopped, write leader-epoch-checkpoint")
WRITTEN = re.compile(r"printf '%s\\n' (.*?) >", re.DOTALL)


def test_the_lost_file_of_the_leader_is_written_by_all(tmp_path: Path) -> None:
    """M3: the file of broker 0 was lost; that of broker 1 is right."""
    path = str(SCENARIOS["m3"].write(tmp_path))
    _, verified = asked(verify_command, path)
    _, compared = asked(replica_diff, path)
    _, planned = asked(plan_command, path)
    assert set(NAMED.findall(" ".join(verified.split()))) == {"broker 0"}
    assert NAMED.findall(" ".join(compared.split())) == ["broker 0"]
    assert PLANNED.findall(planned) == ["broker 0"]
    for text in (compared, planned):
        assert [rows for rows in WRITTEN.findall(text) if "topic" not in rows] == [
            "0 2 '2 0' '4 1'"
        ]
