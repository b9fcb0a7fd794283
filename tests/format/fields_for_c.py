"""Writes the numbers of ``format.batch_fields`` as an enum for the compiled kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kafkalog_reader.format import batch_fields

FILE: Final = Path(batch_fields.__file__).with_suffix(".pxd")


def declaration() -> str:
    """The text of ``batch_fields.pxd``."""
    numbers = {name: value for name, value in vars(batch_fields).items() if type(value) is int}
    lines = [f"    {name} = {value}" for name, value in numbers.items()]
    return "\n".join([
        "# batch_fields.py for the compiled kernel: python -m tests.format.fields_for_c writes it.",
        "cdef enum:", *lines, "",
    ])  # fmt: skip


if __name__ == "__main__":
    FILE.write_text(declaration(), encoding="utf-8")
