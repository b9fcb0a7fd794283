"""Every pair of text and ground has the contrast of WCAG 2.2 AA."""

from __future__ import annotations

import pytest

from kafkalog_reader.report.colours import DARK, LIGHT

ENOUGH_FOR_TEXT = 4.5


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # WebAIM's example


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_is_legible(scheme: dict[str, str]) -> None:
    grounds = [scheme[name] for name in scheme if name.startswith(("ground", "epoch"))]
    grounds.append(scheme["code"])
    assert min(contrast(scheme["ink"], ground) for ground in grounds) >= ENOUGH_FOR_TEXT
    for name in ("quiet", "lost", "attention", "sound"):
        assert contrast(scheme[name], scheme["ground"]) >= ENOUGH_FOR_TEXT
