"""man/man1 agrees with the help of the commands; ``make man`` rewrites it."""

from __future__ import annotations

import re

import click
import pytest

from examples.write_man import FOLDER, pages
from kafkalog_reader import __version__
from kafkalog_reader.cli.exit_meaning import EXIT_MEANINGS
from kafkalog_reader.cli.main import COMMANDS, kafkalog
from kafkalog_reader.cli.replica_diff import replica_diff

REQUESTS = {".TH", ".SH", ".SS", ".PP", ".TP", ".EX", ".EE"}
FONTS = re.compile(r"\\f[BR]")
ESCAPES = {
    r"\e": "\\",
    r"\-": "-",
    r"\&": "",
    r"\(aq": "'",
    r"\(ga": "`",
    r"\(ha": "^",
    r"\(ti": "~",
}
ESCAPE = re.compile("|".join(map(re.escape, ESCAPES)))


def plain(page: str) -> str:
    """What a reader sees, without the layout."""
    return ESCAPE.sub(lambda match: ESCAPES[match[0]], FONTS.sub("", page))


def commands() -> dict[str, click.Command]:
    context = click.Context(kafkalog)
    found = {name: kafkalog.get_command(context, name) for name in COMMANDS}
    named = {f"kafkalog-{name}": command for name, command in found.items() if command is not None}
    return {"kafkalog": kafkalog, "replica-diff": replica_diff, **named}


def test_pages_are_current() -> None:
    stored = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert stored == pages(), "run `make man`"


@pytest.mark.parametrize("name", commands())
def test_a_page_has_every_option_the_exit_status_and_the_examples(name: str) -> None:
    command = commands()[name]
    text = plain((FOLDER / f"{name}.1").read_text())
    assert text.startswith(f'.TH {name.upper()} 1 "" "kafkalog {__version__}"')
    for option in (each for each in command.params if isinstance(each, click.Option)):
        assert re.search(rf"^(-\w, )?{option.opts[-1]}\b", text, re.MULTILINE), option.opts
        assert " ".join((option.help or "").replace("`", "").split()) in text
    if name != "kafkalog":
        meaning = str(EXIT_MEANINGS[name.removeprefix("kafkalog-")])
        assert f".SH EXIT STATUS\n{meaning.split(': ', 1)[1]}\n" in text
    assert re.search(r"^\.SH EXAMPLES\n\.EX\n  (kafkalog|replica-diff) ", text, re.MULTILINE)


@pytest.mark.parametrize("name", commands())
def test_a_page_has_only_requests_and_escapes_that_man_knows(name: str) -> None:
    for line in (FOLDER / f"{name}.1").read_text().splitlines():
        assert not line.startswith("'")
        if line.startswith("."):
            assert line.split()[0] in REQUESTS
        assert "\\" not in ESCAPE.sub("", FONTS.sub("", line))
        assert line.isascii()
        assert line.isprintable()


def test_the_page_of_kafkalog_leads_to_all_others() -> None:
    text = plain((FOLDER / "kafkalog.1").read_text())
    others = set(re.findall(r"([a-z-]+)\(1\)", text))
    assert others == set(commands()) - {"kafkalog"}


def test_the_names_of_help_do_not_depend_on_an_earlier_use() -> None:
    command = commands()["kafkalog-verify"]
    command.make_context("verify", [], resilient_parsing=True).get_help()
    assert pages()["kafkalog-verify.1"] == (FOLDER / "kafkalog-verify.1").read_text()
