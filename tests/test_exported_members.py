"""``__all__`` lists the API, and everything in it can be imported."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from mypy import api

import kafkalog_reader
from kafkalog_reader import errors

if TYPE_CHECKING:
    from pathlib import Path


def test_every_exported_name_can_be_imported() -> None:
    assert set(kafkalog_reader.__all__) <= set(dir(kafkalog_reader))
    missing = [name for name in kafkalog_reader.__all__ if not hasattr(kafkalog_reader, name)]
    assert missing == []


def test_every_public_error_is_exported() -> None:
    public = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and value.__module__ == errors.__name__
    } - {"LocatedError"}
    assert public <= set(kafkalog_reader.__all__)


def test_a_type_checker_knows_the_names_and_no_others(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import kafkalog_reader\n"
        "from kafkalog_reader import Finding, PartitionAudit, ReadOptions, SalvagedPartition\n"
        "def place(found: Finding) -> tuple[str | None, int | None]:\n"
        "    return found.topic, found.partition\n"
        "options: ReadOptions = {'topic': 'orders'}\n"
        "kafkalog_reader.opne('/mnt/b1')\n"
    )
    found, _, status = api.run(["--strict", "--no-error-summary", str(script)])
    assert status == 1
    (line,) = found.splitlines()
    assert line.endswith('script.py:6: error: Module has no attribute "opne"  [attr-defined]')
