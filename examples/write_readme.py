"""Put the real output of every command into README.md and docs/commands.md: ``make readme``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from tests.test_readme import BLOCK, PAGES, demo_output, printed

if TYPE_CHECKING:
    import re


def main() -> None:
    """Run each command that the pages show and replace the output below it."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )

    def filled(match: re.Match[str]) -> str:
        command = match["command"]
        output = demo_output(spark) if command == "make demo" else printed(command)
        body = "\n".join(line.rstrip() for line in output.strip().splitlines())
        return f"```console\n$ {command}\n{body}\n```"

    for page in PAGES:
        page.write_text(BLOCK.sub(filled, page.read_text()))
    spark.stop()


if __name__ == "__main__":
    main()
