"""The findings of a report: by cause, worst first, with actions, evidence and the bytes of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import ACTIONS
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE
from kafkalog_reader.audits.catalogue.rule import SEVERITY_WORDS
from kafkalog_reader.cli.incident_actions import brokers_of, commands_of, first_actions
from kafkalog_reader.cli.inspect_file import structures
from kafkalog_reader.cli.options import read_context
from kafkalog_reader.cli.verify_report import kind_head, where_lines
from kafkalog_reader.errors import KafkaLogError
from kafkalog_reader.format.batch_fields import LENGTH_END
from kafkalog_reader.io.names import TEXT_FILES
from kafkalog_reader.io.window import Windows
from kafkalog_reader.report.html import (
    UNWRAPPED,
    commands_html,
    element,
    folded,
    lines_html,
    list_html,
    text_html,
)
from kafkalog_reader.report.shell_word import shell_word
from kafkalog_reader.report.spans import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.cli.incident import Incident, IncidentKind
    from kafkalog_reader.cli.verify_report import Report
    from kafkalog_reader.format.layout import Structure

IN_FULL: Final = 5
"""Incidents of a kind with their evidence."""
PLACES: Final = 100
"""Incidents of a kind whose place is named."""
_LATER_KINDS: Final = 200
_MAX_BYTES_SHOWN: Final = 60
"""Findings with their bytes: each needs a read of its file."""
_MAX_BATCH: Final = 8 << 20
_MAX_FIELDS: Final = 80
_BYTES_A_FIELD: Final = 32
_COLOURED: Final = {"C": "lost", "H": "lost", "M": "attention"}
_LOGS: Final = (".log", ".checkpoint")
"""Files whose bytes may be keys and values, whatever the fields at a damaged place are called."""


def findings_html(report: Report, found: Sequence[IncidentKind], *, redact: bool) -> str:
    """Every kind of finding, in order; nothing without findings."""
    showing = _Bytes(redact=redact)
    parts = [_kind_html(report, kind, showing) for kind in found[:_LATER_KINDS]]
    more = len(found) - _LATER_KINDS
    if more > 0:
        parts.append(element("p", f"{more:,} more kinds are left out: kafkalog verify --verbose"))
    return "".join(parts)


def first_steps(found: Sequence[IncidentKind]) -> tuple[str, list[str]]:
    """The severity of the worst kind, and what to do first about it, as texts."""
    worst = next(iter(found), None)
    if worst is None or worst.severity not in "CHM":
        return "", []
    return worst.severity, _action_texts(worst)


def _action_texts(kind: IncidentKind) -> list[str]:
    return [
        ACTIONS[action].text(**brokers_of(kind, action))
        for action in first_actions(kind.incidents[:1])
    ]


def _kind_html(report: Report, kind: IncidentKind, showing: _Bytes) -> str:
    code, _, title = kind_head(kind)
    tag = element(
        "span", text_html(SEVERITY_WORDS[kind.severity]), f"tag {_COLOURED.get(kind.severity, '')}"
    )
    name = element("span", text_html(code.text.strip()), "name")
    summary = f"{tag}{name}{text_html(title.text.strip())}"
    actions = list_html((f"→ {text_html(text)}" for text in _action_texts(kind)), "actions")
    shown_actions = first_actions(kind.incidents[:1])
    commands = commands_html(commands_of(shown_actions, kind.incidents[:IN_FULL]))
    meaning = CATALOGUE[kind.headline.code].explanation
    parts = [actions, commands]
    parts += [_incident_html(report, each, showing) for each in kind.incidents[:IN_FULL]]
    rest = kind.incidents[IN_FULL:PLACES]
    if rest:
        places = list_html(text_html(_place(each)) for each in rest)
        parts.append(folded(f"{len(rest):,} more places", places, "small"))
    if len(kind.incidents) > PLACES:
        left_out = len(kind.incidents) - PLACES
        parts.append(
            element("p", f"{left_out:,} more are left out: kafkalog verify --verbose", "quiet")
        )
    more = f"{text_html(meaning)}{commands_html([f'kafkalog explain {kind.headline.code}'])}"
    parts.append(folded(f"What {kind.headline.code} means", more, "small"))
    opened = " open" if kind.severity in "CH" else ""
    return (
        f'<details class="item finding" data-severity="{kind.severity}"{opened}>'
        f"<summary>{summary}</summary>{''.join(parts)}</details>"
    )


def _incident_html(report: Report, incident: Incident, showing: _Bytes) -> str:
    evidence = "".join(_evidence(each, showing) for each in incident.members)
    return (
        f"<h3>{text_html(_place(incident))}</h3>"
        f"{lines_html(report.member_lines(incident, UNWRAPPED))}{evidence}"
    )


def _place(incident: Incident) -> str:
    parts = (plain(line).strip() for line in where_lines(incident, UNWRAPPED))
    return " · ".join(parts).replace("  ", " · ")


def _evidence(each: Finding, showing: _Bytes) -> str:
    """The values that prove it, and the bytes with the names of their fields."""
    values = "".join(
        f'<tr><th scope="row">{text_html(name)}</th><td>{text_html(value)}</td></tr>'
        for name, value in each.evidence
    )
    table = f'<div class="scroll" tabindex="0"><table>{values}</table></div>' if values else ""
    seen = showing.of(each)
    if not table and not seen:
        return ""
    what = "Evidence and bytes" if seen and table else "Bytes" if seen else "Evidence"
    return folded(text_html(f"{what} of {each.code}"), f"{table}{seen}", "small")


class _Bytes:
    """Shows the structures that findings are about, as ``kafkalog inspect`` does, up to a limit.

    Args:
        redact: leave out the bytes of logs, which may be keys and values.
    """

    def __init__(self, *, redact: bool) -> None:
        self._redact = redact
        self._seen: set[tuple[str, int]] = set()

    def of(self, each: Finding) -> str:
        """The bytes, and the command that shows all of them; empty if there is no such place."""
        if each.file is None or each.directory is None or not each.directory.path:
            return ""
        name = each.file.rsplit("/", 1)[-1]
        path = f"{each.directory.path}/{name}"
        position = 0 if name in TEXT_FILES else each.position
        if position is None or not _may_be_read(path):
            return ""
        at = "" if name in TEXT_FILES else f" --position {position}"
        command = commands_html([f"kafkalog inspect {shell_word(path)}{at}"])
        if self._redact and path.endswith(_LOGS):
            return f"{element('p', 'The bytes are left out (--redact).', 'quiet')}{command}"
        if (path, position) in self._seen or len(self._seen) >= _MAX_BYTES_SHOWN:
            return command
        self._seen.add((path, position))
        return f"{''.join(self._tables(path, position))}{command}"

    def _tables(self, path: str, position: int) -> Iterator[str]:
        """The first structure; of an index, snapshot or text file a limited number of fields."""
        if _is_long_batch(path, position):
            return
        fields = 0
        try:
            for structure in structures(path, position):
                yield self._table(structure)
                fields += len(structure.fields)
                if path.endswith(_LOGS) or fields >= _MAX_FIELDS:
                    return
        except KafkaLogError as error:
            yield element("p", text_html(str(error)), "line lost")

    def _table(self, structure: Structure) -> str:
        rows = "".join(
            f'<tr><td class="number">{each.position:,}</td>'
            f"<td>{_content(each.content, is_text=each.is_text)}</td>"
            f"<td>{text_html(each.name)}</td><td>{text_html(each.meaning)}</td></tr>"
            for each in structure.fields[:_MAX_FIELDS]
        )
        left_out = len(structure.fields) - _MAX_FIELDS
        more = element("p", f"{left_out:,} fields left out", "quiet") if left_out > 0 else ""
        return (
            '<div class="scroll" tabindex="0"><table class="bytes">'
            f"<caption>{text_html(structure.title)}</caption><thead><tr>"
            '<th scope="col" class="number">position</th><th scope="col">bytes</th>'
            f'<th scope="col">field</th><th scope="col">meaning</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div>{more}"
        )


def _may_be_read(path: str) -> bool:
    """Whether it is a file, and no link that the audit did not follow."""
    followed = read_context().follow_links or not Path(path).is_symlink()
    return followed and Path(path).is_file()


def _content(content: bytes, *, is_text: bool) -> str:
    if is_text:
        return text_html(content.decode("utf-8", "backslashreplace"))
    more = (
        f" ... {len(content) - _BYTES_A_FIELD:,} more bytes"
        if len(content) > _BYTES_A_FIELD
        else ""
    )
    return f"{content[:_BYTES_A_FIELD].hex(' ')}{more}"


def _is_long_batch(path: str, position: int) -> bool:
    """Whether the length at a place of a log claims more than a page may show."""
    if not path.endswith(_LOGS):
        return False
    try:
        with Windows(path, size=1 << 12, context=read_context()) as windows:
            entry = bytes(windows.read(position, LENGTH_END)[:LENGTH_END])
    except KafkaLogError:
        return True
    return int.from_bytes(entry[8:12], "big") > _MAX_BATCH
