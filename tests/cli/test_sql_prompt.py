"""The prompt of ``kafkalog sql``, on a terminal and by its parts."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkalog_reader import registry
from kafkalog_reader.cli.sql_prompt import Completer, Prompt
from kafkalog_reader.cli.sql_relations import Relations

if TYPE_CHECKING:
    from kafkalog_reader.io.evidence import Evidence

ROOT = Path(__file__).parents[2]


@pytest.fixture
def prompt(untouched: Path) -> Prompt:
    from kafkalog_reader.io.discovery import discover

    evidence: Evidence = discover([str(untouched)])
    return Prompt(Relations(evidence, {}))


def test_an_error_does_not_end_the_prompt(
    prompt: Prompt, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    prompt.statement("SELEC 1;")
    prompt.statement("SELECT 1/0, nope FROM records;")
    prompt.statement("SELECT count(*) AS n FROM batches;")
    out, err = capfdbinary.readouterr()
    assert out == b"n \n13\n(1 row)\n" or out.split() == [b"n", b"13", b"(1", b"row)"]
    assert err.count(b"error: ") == 2


def test_long_results_are_cut_and_the_prompt_says_so(
    prompt: Prompt, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert not prompt.command(".rows 1,000")
    prompt.statement("SELECT * FROM range(1500);")
    out, _ = capfdbinary.readouterr()
    assert b"999\n(1,000 rows, there are more: .rows 10,000 shows them)" in out
    assert not prompt.command(".rows 0")
    prompt.statement("SELECT * FROM range(1500);")
    assert b"1499\n(1,500 rows)" in capfdbinary.readouterr()[0]


def test_commands(prompt: Prompt, capsys: pytest.CaptureFixture[str]) -> None:
    assert prompt.command(".quit")
    assert not prompt.command(".tables")
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(registry.TABLES)
    assert not prompt.command(".columns recoveries;")
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == registry.table("recoveries").schema.names
    assert not prompt.command(".columns nope")
    assert "no table named 'nope'" in capsys.readouterr().err
    assert not prompt.command(".nope")
    assert ".columns NAME" in capsys.readouterr().out


def test_names_and_words_are_completed() -> None:
    complete = Completer()
    found = [complete("trans", number) for number in range(9)]
    assert {"transactions", "transaction_index", "transactionState"} <= set(found)
    assert complete("sel", 0) == "SELECT"
    assert complete(".ta", 0) == ".tables"
    assert complete("no such word", 0) is None


def test_a_statement_may_have_several_lines_on_a_terminal(untouched: Path, tmp_path: Path) -> None:
    program = "from kafkalog_reader.cli.scripts import kafkalog; kafkalog()"
    state = tmp_path / "state"
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(state), "TERM": "dumb"}
        os.execv(sys.executable, [sys.executable, "-c", program, "sql", str(untouched)])
    os.write(terminal, b"SELECT count(*) AS counted\nFROM batches;\n.quit\n")
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
    os.close(terminal)
    assert os.waitpid(process, 0)[1] == 0
    assert b"     ...> " in shown
    assert b"counted" in shown
    assert b"13" in shown.split(b"counted")[-1]
    assert "FROM batches;" in (state / "kafkalog" / "sql_history").read_text()
