"""``kafkalog quorum``: who can lead the controllers, and what is lost when a majority is gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import click

from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.listing import Heading, listing, screen_width
from kafkalog_reader.cli.options import (
    input_options,
    paths_argument,
    supplied,
    text_or_json_option,
)
from kafkalog_reader.cli.run import CLEAN, FOUND, TROUBLE, verbose_option
from kafkalog_reader.errors import LogLayoutError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_reader.audits.quorum.outcome import QuorumAudit

_HEADINGS: Final = (
    Heading(name="node", text="NODE", short="NODE"),
    Heading(name="vote", text="VOTER", short="VOTER", left=True),
    Heading(name="start", text="LOG START", short="START", dispensable=2),
    Heading(name="end", text="LOG END", short="END"),
    Heading(name="epoch", text="LAST EPOCH", short="EPOCH"),
    Heading(name="snapshot", text="SNAPSHOT", short="SNAPSHOT", dispensable=1),
    Heading(name="wins", text="VOTES", short="VOTES", left=True),
    Heading(name="remark", text="REMARK", short="REMARK", left=True, is_remark=True),
)


@click.command(
    "quorum",
    epilog=exit_text("quorum"),
    short_help="Which controller can lead, and what is lost without a majority.",
)
@paths_argument
@text_or_json_option("one object per cluster")
@input_options
@verbose_option()
def quorum_command(paths: tuple[str, ...], output_format: str) -> int:
    """Show which controller (KRaft) can be elected, from the files that are left.

    \b
    Examples:
      kafkalog quorum /mnt/c1 /mnt/c2 /mnt/c3
      kafkalog quorum /mnt/c1 /mnt/b1 /mnt/b2     # two controllers are lost

    Give the metadata log directory of every controller that is left, and of brokers, which hold a
    copy. Voters are from the log (KIP-853), or from quorum-state. Voters compare LAST EPOCH and LOG
    END, both as after the controller's own start, and grant no vote to a candidate that is behind.
    VOTES says how many votes a controller gets from these voters, and how many it needs. Records
    are lost if the elected controller does not have them. If a majority of the voters is gone, the
    steps show how to get a leader again, and what is lost by that.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader.audits.quorum.outcome import audit_quorum
    from kafkalog_reader.audits.quorum.quorum import read_quorums
    from kafkalog_reader.report.quorum_json import quorum_object

    evidence = supplied(paths)
    if evidence.skipped:
        raise LogLayoutError(evidence.why_incomplete)
    audits = [audit_quorum(each) for each in read_quorums(evidence)]
    if not audits:
        raise LogLayoutError(
            "no metadata log (__cluster_metadata-0) is in the inputs: give the directories that "
            "metadata.log.dir of the controllers names"
        )
    if output_format == "json":
        for each in audits:
            click.echo(json.dumps(quorum_object(each)))
    else:
        _write(audits)
    if any(each.quorum.unread for each in audits):
        return TROUBLE
    return CLEAN if all(each.is_clean for each in audits) else FOUND


def _write(audits: Sequence[QuorumAudit]) -> None:
    from kafkalog_reader.cli.screen import screen, write_lines
    from kafkalog_reader.report.quorum_text import outcome_lines, quorum_lines, rows

    columns, _ = screen()
    for number, audit in enumerate(audits):
        if number:
            click.echo()
        write_lines(quorum_lines(audit, columns))
        cells = rows(audit)
        shown = [each for each in _HEADINGS if any(row[each.name] for row in cells)]
        for line in listing(shown, cells, screen_width()):
            click.echo(line)
        write_lines(outcome_lines(audit, columns))
