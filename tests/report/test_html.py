"""Pieces of a page: everything from outside is text."""

from __future__ import annotations

import pytest

from kafkalog_reader.report.html import MAX_TEXT, lines_html, table_html, text_html
from kafkalog_reader.report.spans import Span, Style


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#x27;"),
        ("a\u202eb", r"a\u202eb"),
        ("a\x1bb\nc", r"a\x1bb\nc"),
        ("a\udc80b", r"a\x80b"),
    ],
)
def test_text_is_escaped(text: str, shown: str) -> None:
    assert text_html(text) == shown


def test_a_long_text_is_cut_and_says_so() -> None:
    text = text_html("x" * (MAX_TEXT + 1_234))
    assert text.endswith("... (1,234 characters left out)")
    assert text.startswith("x" * MAX_TEXT + ".")


def test_commands_become_one_block_that_can_be_pasted() -> None:
    lines = [
        (Span("  Before it starts:"),),
        (Span("      kafka-configs.sh --alter \\"),),
        (Span("        --entity-name '<t>'"),),
        (),
        (Span("    lost", Style.LOST), Span("  3")),
    ]
    html = lines_html(lines)
    assert html.count("<pre") == 1
    assert "kafka-configs.sh --alter \\<br>--entity-name &#x27;&lt;t&gt;&#x27;" in html
    assert '<span class="lost">lost</span>' in html


def test_columns_of_a_terminal_become_parts_of_a_sentence() -> None:
    assert "offsets 2–4 · 3 records" in lines_html([(Span("  offsets 2–4   3 records"),)])


def test_a_table_escapes_headings_and_cells() -> None:
    html = table_html([("a", "<A>")], [{"a": "<i>"}], caption='"q"')
    assert "<A>" not in html
    assert "<i>" not in html
    assert 'aria-label="&quot;q&quot;"' in html
