"""``kafkalog changes``: one broker's disks at two times."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import click

from kafkalog_reader.cli.completion import complete_files
from kafkalog_reader.cli.exit_meaning import exit_text
from kafkalog_reader.cli.listing import Heading, listing, screen_width
from kafkalog_reader.cli.options import (
    input_options,
    reading_options,
    supplied,
    text_or_json_option,
)
from kafkalog_reader.cli.printable import for_stdout, grouped, plural
from kafkalog_reader.cli.run import CLEAN, FOUND, TROUBLE, verbose_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.change import Change

_HEADINGS: Final = (
    Heading(name="partition", text="PARTITION", short="PARTITION", left=True),
    Heading(name="offsets", text="OFFSETS", short="OFFSETS"),
    Heading(name="records", text="RECORDS", short="RECORDS"),
    Heading(name="what", text="WHAT HAPPENED", short="WHAT HAPPENED", left=True),
    Heading(name="detail", text="WHY", short="WHY", left=True, is_remark=True),
)
_WORDS: Final = {
    "unchanged": "unchanged",
    "added": "new records",
    "expired": "deleted at the log start",
    "compacted": "compacted",
    "truncated": "truncated, not known to be committed",
    "lostCommitted": "LOST COMMITTED RECORDS",
    "rewritten": "replaced, not known to be committed",
    "missing": "MISSING",
    "damaged": "DAMAGED",
    "partitionGone": "PARTITION GONE",
    "partitionNew": "new partition",
    "notCompared": "NOT COMPARED",
}


@click.command(
    "changes",
    epilog=exit_text("changes"),
    short_help="What happened on one broker between two copies of it.",
)
@click.argument("old", metavar="OLD", shell_complete=complete_files)
@click.argument("new", metavar="NEW", shell_complete=complete_files)
@text_or_json_option("one object per range of offsets")
@reading_options("topic", "partition")
@input_options
@verbose_option()
def changes_command(
    old: str, new: str, output_format: str,
    **options: Any,  # noqa: ANN401  checked by the registry
) -> int:  # fmt: skip
    """Compare two copies of the same broker's log directories, an older and a newer one.

    \b
    Example:
      kafkalog changes /backup/b1 /mnt/b1

    For each partition: what was deleted at the log start (by retention, or a request to delete
    records), what compaction explains, what was truncated or replaced, and what is new. Records of
    the old copy below its high watermark were committed: if they were truncated, they are lost.
    """  # noqa: D301  click reads the backspace: keep these lines as they are
    from kafkalog_reader import registry
    from kafkalog_reader.audits.change import LOSSES, ChangeKind
    from kafkalog_reader.audits.changes import changes, two_times
    from kafkalog_reader.cli.output import standard_output
    from kafkalog_reader.io.progress import no_progress
    from kafkalog_reader.tables.selection import check_selection

    request = registry.request(registry.table("divergence"), **options)
    evidence = two_times(supplied([old]), supplied([new]))
    check_selection(evidence, request)
    found = list(changes(evidence, request, no_progress))
    kinds = {change.kind for change in found}
    lines = _json_lines(found) if output_format == "json" else _text_lines(found)
    with standard_output() as sink:
        sink.writelines(f"{line}\n".encode() for line in lines)
    if kinds & LOSSES:
        return FOUND
    return TROUBLE if ChangeKind.NOT_COMPARED in kinds else CLEAN


def old_and_new(paths: Sequence[str]) -> tuple[str, str] | None:
    """The two paths of ``old=PATH new=PATH``, in this order; None where others are given."""
    named = dict(path.split("=", 1) for path in paths if path.startswith(("old=", "new=")))
    if len(paths) != len(named) or named.keys() != {"old", "new"}:
        return None
    return named["old"], named["new"]


def _json_lines(found: Sequence[Change]) -> Iterator[str]:
    for change in found:
        yield json.dumps({
            "topic": change.topic, "partition": change.partition, "kind": change.kind.value,
            "firstOffset": change.first_offset, "nextOffset": change.next_offset,
            "records": change.records, "detail": change.detail or None,
        })  # fmt: skip


def _text_lines(found: Sequence[Change]) -> Iterator[str]:
    from kafkalog_reader.audits.change import LOSSES, ChangeKind

    changed = [change for change in found if change.kind is not ChangeKind.UNCHANGED]
    everything = {(change.topic, change.partition) for change in found}
    touched = {(change.topic, change.partition) for change in changed}
    worth_saying = LOSSES | {ChangeKind.NOT_COMPARED}
    counts = Counter(change.kind for change in changed if change.kind in worth_saying)
    head = ", ".join(
        f"{_WORDS[kind.value].lower()} ({plural(count, 'range')})" for kind, count in counts.items()
    )
    cut = _cut_records(changed)
    sound = "no committed record is known to be lost" if cut else "nothing lost"
    yield for_stdout(
        f"{'; '.join([head or sound, *cut])}: {plural(len(everything), 'partition')}, "
        f"{grouped(len(touched))} changed"
    )
    if not changed:
        return
    yield ""
    changed.sort(key=lambda change: change.kind not in worth_saying)
    yield from listing(_HEADINGS, [_cells(change) for change in changed], screen_width())


def _cut_records(changed: Sequence[Change]) -> list[str]:
    """Records that went and are not known to be committed, which the first line must not hide."""
    from kafkalog_reader.audits.change import ChangeKind

    said = []
    for kind, word in ((ChangeKind.REWRITTEN, "replaced"), (ChangeKind.TRUNCATED, "truncated")):
        counts = [change.records for change in changed if change.kind is kind]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            said.append(f"records {word}, their number is not known")
        elif counts:
            said.append(f"{plural(sum(known), 'record')} {word}")
    return said


def _cells(change: Change) -> dict[str, str]:
    first, stop = change.first_offset, change.next_offset
    offsets = ""
    if first is not None and stop is not None:
        last = max(first, stop - 1)
        offsets = grouped(first) if last == first else f"{grouped(first)}–{grouped(last)}"
    return {
        "partition": f"{change.topic}-{change.partition}",
        "offsets": offsets,
        "records": "?" if change.records is None else grouped(change.records),
        "what": _WORDS[change.kind.value],
        "detail": change.detail,
    }
