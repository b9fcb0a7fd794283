"""Whether the built modules of the kernel match their sources; asked when something went wrong."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_SECONDS_OF_INSTALLATION: Final = 60
"""Seconds. Files of one installation may have their times in any order."""


def outdated_modules(directory: Path = _HERE) -> list[str]:
    """Modules built before their sources changed, or missing although others are built.

    Interpreted throughout is no fault: then nothing is built. Files tell it by their time, so the
    answer is for an error that is there already, not for finding one.

    Args:
        directory: the kernel's.
    """
    built = {
        path.name.split(".")[0]: path.stat().st_mtime
        for path in directory.glob("*_cy*")
        if path.name.endswith(tuple(EXTENSION_SUFFIXES))
    }
    shared = [*directory.glob("*.h"), *directory.glob("*.pxd")]
    newest = max((path.stat().st_mtime for path in shared), default=0.0)
    outdated = []
    for source in sorted(directory.glob("*_cy.py")):
        changed = max(newest, source.stat().st_mtime)
        at = built.get(source.stem, 0.0)
        if built and changed > at + _SECONDS_OF_INSTALLATION:
            outdated.append(source.stem)
    return outdated


def rebuild_advice(directory: Path = _HERE) -> str | None:
    """What to do about an error that an outdated kernel explains; None if it does not."""
    outdated = outdated_modules(directory)
    if not outdated:
        return None
    return (
        f"the compiled kernel is older than its sources ({', '.join(outdated)}): "
        "rebuild it with `make test` or `pip install -e .`"
    )
