"""Puts a report together: the sections in order, and what the file carries, within its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader import __version__
from kafkalog_reader.cli.printable import plural, size
from kafkalog_reader.cli.report_document import document, first_texts, plan_with_work
from kafkalog_reader.cli.report_findings import findings_html
from kafkalog_reader.cli.report_partitions import unknown_items
from kafkalog_reader.cli.run import CLEAN
from kafkalog_reader.report.html import (
    UNWRAPPED,
    commands_html,
    element,
    folded,
    lines_html,
    list_html,
    table_html,
    text_html,
)
from kafkalog_reader.report.open_finding_text import act_lines
from kafkalog_reader.report.page import Section, page
from kafkalog_reader.report.plan_script import plan_script
from kafkalog_reader.report.plan_text import plan_lines, plan_summary_lines
from kafkalog_reader.report.report_data import (
    DATA_ID,
    compressed,
    data_element,
    json_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafkalog_reader.cli.report_document import Provenance
    from kafkalog_reader.cli.report_partitions import Partitions, ShownPartition
    from kafkalog_reader.cli.report_sections import Part

INLINE: Final = 150_000
"""Characters of partitions that the page has from the beginning; the first is always there."""
LATER: Final = 2_000_000
"""Bytes, compressed, of partitions that the page lists when asked."""
_CHUNK: Final = 200
_FILES_SHOWN: Final = 500
_UNKNOWN_SHOWN: Final = 12
_SCRIPT: Final = 400_000
"""Characters of the script of a plan."""


def report_page(
    partitions: Partitions, parts: Mapping[str, Part], provenance: Provenance, *, redact: bool
) -> str:
    """The file's text."""
    verdict = partitions.verdict
    if provenance.interrupted:
        verdict = f"interrupted, {provenance.interrupted}: {verdict}"
    verdict = f"{verdict[0].upper()}{verdict[1:]}"
    shown_partitions, later, left_out = _divided(partitions)
    sections = [
        *_plan(partitions),
        _unknown(partitions),
        Section(
            identity="partitions",
            title="Partitions in trouble",
            inside=_partitions_html(partitions, shown_partitions, left_out),
        ),
        Section(
            identity="findings",
            title="Findings by cause",
            inside=findings_html(partitions.report, partitions.kinds, redact=redact)
            or element("p", "Nothing was found."),
        ),
        *(
            Section(identity=name, title=heading, inside=parts[name].html)
            for name, heading in (("groups", "Consumer groups"), ("transactions", "Transactions"))
            if name in parts and parts[name].html
        ),
        *_quorum(partitions),
        *(
            [
                Section(
                    identity="leadership",
                    title="Leadership over time",
                    inside=parts["leadership"].html,
                )
            ]
            if "leadership" in parts and parts["leadership"].html
            else []
        ),
        _provenance(provenance),
    ]
    data = [
        *later,
        data_element(document(partitions, parts, provenance, verdict), identity=DATA_ID),
    ]
    return page(f"kafkalog: {verdict}", _top(partitions, verdict, provenance), sections, data)


def _top(partitions: Partitions, verdict: str, provenance: Provenance) -> str:
    is_sound = partitions.report.status == CLEAN and not provenance.interrupted
    style = "sound" if is_sound else "lost"
    summary = lines_html(partitions.fleet.summary_lines(UNWRAPPED))
    said, _, checked = verdict.partition(" (")
    checked = text_html(checked.removesuffix(")"))
    return (
        f'<p class="brand">kafkalog report · {text_html(provenance.made_at)}</p>'
        f'<h1 class="verdict {style}">{text_html(said)}</h1>{element("p", checked, "quiet")}'
        f"{summary}{_first(partitions)}"
    )


def _first(partitions: Partitions) -> str:
    """What to do first: the beginning of the plan, or what the worst finding asks for."""
    plan = plan_with_work(partitions)
    if plan is not None:
        lines = (*plan_summary_lines(plan, UNWRAPPED), *act_lines(plan, UNWRAPPED))
        link = '<p><a href="#plan">The whole plan, with its commands</a></p>'
        return f'<div class="first"><h2>What to do first</h2>{lines_html(lines)}{link}</div>'
    worst, texts = partitions.worst, first_texts(partitions)
    steps = list_html((f"→ {text_html(text)}" for text in texts), "actions")
    if worst is not None and texts and texts[0] in worst.actions:
        steps = f"<h3>{text_html(worst.name)}</h3>{worst.advice}{steps}"
    if not steps:
        return element("p", "There is nothing to do.") if partitions.report.status == CLEAN else ""
    return f'<div class="first"><h2>What to do first</h2>{steps}</div>'


def _plan(partitions: Partitions) -> Iterator[Section]:
    """The whole plan: who receives the page has no logs to make it again."""
    plan = plan_with_work(partitions)
    if plan is None:
        return
    inside = lines_html(plan_lines(plan, UNWRAPPED))
    script = plan_script(plan)
    if len(script) > _SCRIPT:
        inside += element("p", "Its script is too long for a page: kafkalog plan --format script")
    elif plan.has_work:
        inside += folded("The same as a script", commands_html(script.splitlines()), "small")
    yield Section(identity="plan", title="The plan", inside=inside)


def _unknown(partitions: Partitions) -> Section:
    items = list(unknown_items(partitions))
    inside = list_html(items[:_UNKNOWN_SHOWN])
    if items[_UNKNOWN_SHOWN:]:
        rest = list_html(items[_UNKNOWN_SHOWN:])
        inside += folded(f"{len(items) - _UNKNOWN_SHOWN:,} more", rest, "small")
    if partitions.unknown_left_out:
        inside += element("p", f"{partitions.unknown_left_out:,} more are left out", "quiet")
    return Section(
        identity="unknown",
        title="Not known",
        inside=inside or element("p", "Nothing that these files should show is unknown."),
        classes="unknown",
    )


def _divided(partitions: Partitions) -> tuple[list[ShownPartition], list[str], int]:
    """The partitions of the page, elements with those listed later, and how many are left out."""
    inline: list[ShownPartition] = []
    rest: list[ShownPartition] = []
    used = 0
    for each in partitions.shown:
        used += len(each.body)
        (rest if inline and used > INLINE else inline).append(each)
    elements: list[str] = []
    budget, listed = LATER, 0
    for start in range(0, len(rest), _CHUNK):
        chunk = rest[start : start + _CHUNK]
        packed = compressed(json_text([[e.severity, e.summary, e.body] for e in chunk]))
        budget -= len(packed)
        if budget < 0:
            break
        listed += len(chunk)
        elements.append(data_element(packed, classes="later"))
    return inline, elements, len(rest) - listed + partitions.shown.left_out


def _partitions_html(
    partitions: Partitions, inline: Sequence[ShownPartition], left_out: int
) -> str:
    if not inline:
        return element("p", "No partition is in trouble.")
    items = "".join(
        f'<details class="item partition" data-severity="{each.severity}"'
        f"{'' if number else ' open'}><summary>{each.summary}</summary>{each.body}</details>"
        for number, each in enumerate(inline)
    )
    later = len(partitions.shown) + partitions.shown.left_out - len(inline) - left_out
    more = (
        f'<p class="more"><button type="button" id="more" hidden>Show more</button> '
        f"{plural(later, 'more partition')}: they are listed when asked for, and filtered</p>"
        if later
        else ""
    )
    note = ""
    if left_out:
        command = partitions.fleet.command_text("--verbose")
        text = f"{plural(left_out, 'more partition')} in trouble would make this page too large:"
        note = element("p", text_html(text), "attention") + commands_html([command])
    return f'<div id="partition-list">{items}</div>{more}{note}'


def _quorum(partitions: Partitions) -> Iterator[Section]:
    if not partitions.quorum:
        return
    inside = "".join(f"<h3>{text_html(name)}</h3>{body}" for name, body in partitions.quorum)
    yield Section(identity="quorum", title="Metadata quorum", inside=inside)


def _provenance(provenance: Provenance) -> Section:
    rows = [
        {
            "path": each["path"],
            "broker": "" if each["brokerId"] is None else str(each["brokerId"]),
            "cluster": each["clusterId"] or "",
            "files": f"{each['files']:,}",
            "size": size(each["sizeInBytes"]),
        }
        for each in provenance.directories
    ]
    directories = table_html(
        [("path", "log directory"), ("broker", "broker"), ("cluster", "cluster"),
         ("files", "files"), ("size", "size")],
        rows, numbers=("broker", "files", "size"), caption="What was read",
    )  # fmt: skip
    return Section(
        identity="provenance",
        title="Where this comes from",
        inside="".join(
            (
                element(
                    "p",
                    f"kafkalog {text_html(__version__)}, {text_html(provenance.made_at)}. "
                    "The inputs were only read.",
                ),
                commands_html([" ".join(provenance.command)]),
                directories,
                _files_html(provenance),
                '<p><button type="button" id="save-json" hidden>Save the JSON</button> '
                "The data behind this page is inside:</p>",
                commands_html(["kafkalog report --extract FILE.html"]),
            )
        ),
    )


def _files_html(provenance: Provenance) -> str:
    has_hashes = any(each["sha256"] for each in provenance.files)
    headings = [("path", "file"), ("size", "bytes")]
    headings += [("sha256", "SHA-256")] if has_hashes else []
    rows = [
        {"path": e["path"], "size": f"{e['sizeInBytes']:,}", "sha256": e["sha256"] or "not read"}
        for e in provenance.files[:_FILES_SHOWN]
    ]
    if not rows:
        return ""
    inside = table_html(headings, rows, numbers=("size",), caption="Files")
    hidden = len(provenance.files) - len(rows) + provenance.left_out
    if hidden:
        inside += element("p", f"{hidden:,} more files are left out of this list", "quiet")
    return folded(f"{len(rows) + hidden:,} files", inside, "small")
