"""The page around the sections of a report: one file that requests nothing else."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from kafkalog_reader.report.colours import DARK, LIGHT, declarations
from kafkalog_reader.report.html import element, text_html
from kafkalog_reader.report.lanes_svg import STYLE

if TYPE_CHECKING:
    from collections.abc import Sequence

_PACKAGE: Final = "kafkalog_reader.report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page below a heading.

    Attributes:
        identity: the name of its anchor.
        title: its heading, and its link in the contents.
        inside: HTML.
        classes: of the element.
    """

    identity: str
    title: str
    inside: str
    classes: str = ""

    @property
    def html(self) -> str:
        of_class = f' class="{self.classes}"' if self.classes else ""
        return (
            f'<section id="{self.identity}"{of_class} aria-labelledby="{self.identity}-title">'
            f'<h2 id="{self.identity}-title">{text_html(self.title)}</h2>{self.inside}</section>'
        )


def page(title: str, top: str, sections: Sequence[Section], data: Sequence[str]) -> str:
    """The whole file.

    Args:
        title: of the window, as text.
        top: HTML above the sections: the verdict.
        sections: in order.
        data: elements for the script.
    """
    style = _style()
    script = _resource("page.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    links = "".join(
        f'<li><a href="#{each.identity}">{text_html(each.title)}</a></li>' for each in sections
    )
    return "".join(
        (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            element("title", text_html(title)),
            f"<style>{style}</style></head><body>",
            '<a class="skip" href="#main">Skip to the report</a>',
            f'<header>{top}</header><nav aria-label="Contents"><ul>{links}</ul></nav>',
            _FILTER,
            '<main id="main">',
            *(each.html for each in sections),
            "</main>",
            *data,
            f"<script>{script}</script></body></html>\n",
        )
    )


_FILTER: Final = (
    '<form id="filter" role="search" hidden><label for="words">Filter</label>'
    '<input id="words" type="search" autocomplete="off" spellcheck="false" '
    'placeholder="topic, broker, code, file">'
    "<fieldset><legend>Severity</legend>"
    + "".join(
        f'<label><input type="checkbox" value="{letter}" checked> {word}</label>'
        for letter, word in (
            ("C", "critical"),
            ("H", "high"),
            ("M", "medium"),
            ("L", "low"),
            ("I", "info"),
        )
    )
    + '</fieldset><output id="count" for="words" aria-live="polite"></output>'
    '<p class="keys"><kbd>/</kbd> filter <kbd>j</kbd> <kbd>k</kbd> next, previous '
    "<kbd>Enter</kbd> open <kbd>Esc</kbd> clear</p></form>"
)


def _style() -> str:
    colours = (
        f":root{{{declarations(LIGHT)}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{declarations(DARK)}}}}}"
        f"@media print{{:root{{{declarations(LIGHT)}}}}}"
    )
    return f"{colours}{STYLE}{_resource('page.css')}"


def _resource(name: str) -> str:
    return files(_PACKAGE).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    """The text's hash as a source of a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
