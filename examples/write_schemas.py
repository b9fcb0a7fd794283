"""Write docs/schemas: the output of ``kafkalog schema``, one file per name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kafkalog_reader import registry
from kafkalog_reader.cli.schema import OF_COMMANDS, schema_named

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"


def schemas() -> dict[str, dict[str, Any]]:
    """The schemas by name."""
    return {name: schema_named(name) for name in (*OF_COMMANDS, *registry.TABLES)}


def main() -> None:
    """Replace the folder's files."""
    found = schemas()
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, schema in found.items():
        text = json.dumps(schema, indent=2, ensure_ascii=False)
        (FOLDER / f"{name}.schema.json").write_text(f"{text}\n")


if __name__ == "__main__":
    main()
