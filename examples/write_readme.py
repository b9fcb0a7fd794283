"""Put the real output of every command into README.md and docs/: ``make readme``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from tests.test_readme import (
    BLOCK,
    PAGES,
    PICTURE,
    PYTHON,
    demo_output,
    picture,
    printed,
    python_output,
)

if TYPE_CHECKING:
    import re


def main() -> None:
    """Run what the pages show, replace the output below it, and draw the picture."""
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

    def run(match: re.Match[str]) -> str:
        output = python_output(match["code"]).strip()
        return f"```python\n{match['code']}```\n\n```text\n{output}\n```"

    for page in PAGES:
        page.write_text(PYTHON.sub(run, BLOCK.sub(filled, page.read_text())))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture())
    spark.stop()


if __name__ == "__main__":
    main()
