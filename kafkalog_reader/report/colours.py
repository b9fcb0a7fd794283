"""The colours of pictures and pages: for light and dark, and for colour-blind people.

Tints are those of Okabe and Ito's palette. Nothing is said by colour alone. Text on each colour has
the contrast of WCAG AA, 4.5 to 1; ``tests/report/test_colours.py`` computes it.
"""

from __future__ import annotations

from typing import Final

TINTS: Final = ("#9ecae9", "#f6c87f", "#8fd3b6", "#e6b3d0", "#f2e88a", "#c9c9c9")
"""Leader epochs in turn, below dark text."""
DARK_TINTS: Final = ("#1f5478", "#6e4a0c", "#14593f", "#6b3558", "#565010", "#4d5256")
"""The same below light text."""
LOST: Final = "#b03a00"
"""Lost or wrong, on a light ground."""
DARK_LOST: Final = "#ff9466"
INK: Final = "#1c2126"
DARK_INK: Final = "#e8eaed"
GROUND: Final = "#ffffff"
DARK_GROUND: Final = "#15181b"
QUIET: Final = "#565d64"
"""Text that matters less, on a light ground."""
DARK_QUIET: Final = "#a3abb3"
LINE: Final = "#d3d7db"
DARK_LINE: Final = "#3a4046"
ATTENTION: Final = "#7a5200"
DARK_ATTENTION: Final = "#f2c14e"
SOUND: Final = "#10603f"
DARK_SOUND: Final = "#6fd3a4"
CODE: Final = "#f1f3f5"
"""The ground of commands."""
DARK_CODE: Final = "#22272c"
FOCUS: Final = "#0b57d0"
"""The frame of what has the keyboard."""
DARK_FOCUS: Final = "#8ab4f8"

LIGHT: Final = {
    "ink": INK, "ground": GROUND, "quiet": QUIET, "line": LINE, "lost": LOST,
    "attention": ATTENTION, "sound": SOUND, "code": CODE, "focus": FOCUS,
    **{f"epoch{number}": tint for number, tint in enumerate(TINTS)},
}  # fmt: skip
"""Colours by their names in CSS, which begin with ``--kl-``."""
DARK: Final = {
    "ink": DARK_INK, "ground": DARK_GROUND, "quiet": DARK_QUIET, "line": DARK_LINE,
    "lost": DARK_LOST, "attention": DARK_ATTENTION, "sound": DARK_SOUND, "code": DARK_CODE,
    "focus": DARK_FOCUS, **{f"epoch{number}": tint for number, tint in enumerate(DARK_TINTS)},
}  # fmt: skip


def declarations(colours: dict[str, str]) -> str:
    """CSS that declares them: ``--kl-ink:#1c2126;...``."""
    return "".join(f"--kl-{name}:{colour};" for name, colour in colours.items())
