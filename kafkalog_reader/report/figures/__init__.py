"""Figures of tables and audits for notebooks, all in one look; they need the extra ``notebook``.

Names are imported when first used, so that a missing matplotlib is an error of one sentence.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kafkalog_reader.errors import MissingPackageError

if TYPE_CHECKING:
    from kafkalog_reader.report.figures.damage import damage_figure
    from kafkalog_reader.report.figures.duplicates import duplicates_figure
    from kafkalog_reader.report.figures.epochs import epoch_figure
    from kafkalog_reader.report.figures.gaps import gaps_figure
    from kafkalog_reader.report.figures.lag import lag_figure
    from kafkalog_reader.report.figures.lanes import lanes_figure
    from kafkalog_reader.report.figures.leadership import leadership_figure

_HOME = {
    "damage_figure": "damage", "duplicates_figure": "duplicates", "epoch_figure": "epochs",
    "gaps_figure": "gaps", "lag_figure": "lag", "lanes_figure": "lanes",
    "leadership_figure": "leadership",
}  # fmt: skip
"""Where names live."""

__all__ = [
    "damage_figure",
    "duplicates_figure",
    "epoch_figure",
    "gaps_figure",
    "lag_figure",
    "lanes_figure",
    "leadership_figure",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  a function of one of the modules
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import_module("matplotlib")
    except ModuleNotFoundError as error:
        raise MissingPackageError("matplotlib", extra="notebook") from error
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
