"""``--fail-on SEVERITY``: the lowest severity for which the exit status is 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SEVERITIES: Final = {"critical": "C", "high": "H", "medium": "M", "low": "L", "information": "I"}
NEVER: Final = "never"
_ORDER: Final = "".join(SEVERITIES.values())


def fail_on_option() -> Callable[[Any], Any]:
    """The option; the command's parameter is ``fail_on``."""
    return click.option(
        "--fail-on",
        type=click.Choice([*SEVERITIES, NEVER]),
        default="high",
        show_default=True,
        help="Exit with 1 if there is a finding of this severity or a worse one.",
    )


def reached(found: Iterable[str], fail_on: str) -> bool:
    """Whether one of the severities (C, H, M, L, I) is as bad as ``fail_on`` or worse."""
    if fail_on == NEVER:
        return False
    limit = _ORDER.index(SEVERITIES[fail_on])
    return any(_ORDER.index(severity) <= limit for severity in found)
