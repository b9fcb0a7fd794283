"""Write the table of options in docs/python.md, from their declarations: ``make schemas``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkalog_reader import registry
from kafkalog_reader.tables.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH: Final = Path(__file__).parents[1] / "docs" / "python.md"
_HEADER: Final = "| option | Spark | default | tables | meaning |\n|---|---|---|---|---|\n"


def page(stored: str) -> str:
    """The page with the current rows of the table."""
    before, _, rest = stored.partition(_HEADER)
    after = rest.partition("\n\n")[2]
    return before + _HEADER + "\n".join(_rows()) + "\n\n" + after


def _rows() -> Iterator[str]:
    for name, option in OPTIONS.items():
        spark = f"`{option.spark}`" if option.spark else ""
        having = sorted(option.tables or (), key=list(registry.TABLES).index)
        tables = ", ".join(f"`{each}`" for each in having) or "all"
        default = option.default or "none"
        yield f"| `{name}` | {spark} | {default} | {tables} | {option.meaning} |"


def main() -> None:
    """Replace the table."""
    PATH.write_text(page(PATH.read_text()))


if __name__ == "__main__":
    main()
