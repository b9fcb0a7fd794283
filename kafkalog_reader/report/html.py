"""Pieces of an HTML page: text, lines of a terminal, commands and tables. Everything is escaped.

Whatever comes from the inputs becomes text by ``text_html`` and nothing else: names that look like
elements, control characters and characters that change the direction of text are shown, never run.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from kafkalog_reader.io.names import shown
from kafkalog_reader.report.spans import Style, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.report.spans import Line

UNWRAPPED: Final = 1_000_000
"""Columns for the functions that write lines, where the page wraps them."""
MAX_TEXT: Final = 4_000
"""Characters of one text; the rest is counted."""
CLASSES: Final = {
    Style.PLAIN: "",
    Style.STRONG: "strong",
    Style.LOST: "lost",
    Style.ATTENTION: "attention",
    Style.SOUND: "sound",
    Style.EPOCH: "",
    Style.OTHER_EPOCH: "",
}
_COMMAND: Final = re.compile(
    r"(?:kafkalog|replica-diff|kafka-[a-z-]+\.sh|mv|cp|printf|mkdir|sed|tar|zookeeper-shell.sh) "
    r"|\{ ssh |# "
)
_COLUMNS: Final = re.compile(r"(?<=\S) {2,}(?=\S)")
"""Between the columns of a terminal."""
_SHORT: Final = 12
"""Characters of a cell that is not wrapped, besides times: many columns must fit on a screen."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ][:.\d]+Z?")
_MAX_INDENT: Final = 10


def text_html(text: str) -> str:
    """The text, shown on one line as it is; a very long one is cut, which is said."""
    text = shown(text)
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}... ({len(text) - MAX_TEXT:,} characters left out)"
    return escape(text)


def element(name: str, inside: str, classes: str = "") -> str:
    """An element around HTML."""
    of_class = f' class="{classes}"' if classes else ""
    return f"<{name}{of_class}>{inside}</{name}>"


def line_html(line: Line) -> str:
    """A line with the meanings of its styles."""
    return "".join(
        element("span", text_html(span.text), CLASSES[span.style])
        if CLASSES[span.style]
        else text_html(_COLUMNS.sub(" · ", span.text))
        for span in line
    )


def lines_html(lines: Iterable[Line]) -> str:
    """Lines written for a terminal with ``UNWRAPPED`` columns: paragraphs and commands.

    An empty line ends a block; how far a line is indented becomes a class.
    """
    return "".join(_blocks(lines))


def _blocks(lines: Iterable[Line]) -> Iterator[str]:
    commands: list[str] = []
    for line in lines:
        text = plain(line)
        stripped = text.strip()
        indent = len(text) - len(text.lstrip())
        is_continued = bool(commands) and commands[-1].endswith("\\")
        if is_continued or (indent >= 4 and _COMMAND.match(stripped)):
            commands.append(stripped)
            continue
        if commands:
            yield commands_html(commands)
            commands = []
        if stripped:
            level = min(max(indent - 2, 0), _MAX_INDENT) // 2
            yield element("p", line_html(_stripped(line)), f"line in{level}")
    if commands:
        yield commands_html(commands)


def _stripped(line: Line) -> Line:
    """The line without its indentation."""
    spans = list(line)
    while spans and not spans[0].text.strip():
        spans.pop(0)
    if spans:
        spans[0] = spans[0]._replace(text=spans[0].text.lstrip())
    return tuple(spans)


def commands_html(commands: Sequence[str]) -> str:
    """Commands to be pasted together; the page's script adds a button that copies them."""
    if not commands:
        return ""
    return f'<pre class="commands"><code>{"<br>".join(map(text_html, commands))}</code></pre>'


def list_html(items: Iterable[str], classes: str = "") -> str:
    """A list of HTML items; nothing without items."""
    inside = "".join(element("li", item) for item in items)
    return element("ul", inside, classes) if inside else ""


def table_html(
    headings: Sequence[tuple[str, str]],
    rows: Iterable[Mapping[str, str]],
    *,
    numbers: Iterable[str] = (),
    caption: str = "",
) -> str:
    """A table that scrolls by itself where the screen is narrow.

    Args:
        headings: the name of each column in ``rows``, and its text.
        rows: cells as text.
        numbers: names of columns that are right-aligned.
        caption: what the rows are, for those who do not see the table.
    """
    right = frozenset(numbers)
    head = "".join(f'<th scope="col"{_right(name in right)}>{text_html(text)}</th>'
                   for name, text in headings)  # fmt: skip
    body = "".join(
        "<tr>"
        + "".join(_cell(row[name], is_number=name in right) for name, _ in headings)
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text_html(caption)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(text: str, *, is_number: bool) -> str:
    if is_number:
        return f"<td{_right(is_number)}>{text_html(text)}</td>"
    is_short = len(text) <= _SHORT or _TIME.fullmatch(text) is not None
    return element("td", text_html(text), "short" if is_short else "long")


def _right(is_right: bool) -> str:
    return ' class="number"' if is_right else ""


def folded(summary: str, inside: str, classes: str = "", *, is_open: bool = False) -> str:
    """What is one click away; both arguments are HTML."""
    of_class = f' class="{classes}"' if classes else ""
    opened = " open" if is_open else ""
    return f"<details{of_class}{opened}><summary>{summary}</summary>{inside}</details>"
