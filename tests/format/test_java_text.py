"""Malformed UTF-8 becomes the same text as in Java; JDK 17 printed the expected texts."""

from __future__ import annotations

import pytest

from kafkalog_reader.format.java_text import java_text

R = "\ufffd"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", ""),
        ("41c3a4e282acf09f9880", "Aä€😀"),
        ("eda080", R),  # an encoded surrogate; Python replaces each of its bytes
        ("edb7", R),
        ("edb741", f"{R}A"),
        ("ed41", f"{R}A"),
        ("e080", R * 2),
        ("e08080", R * 3),
        ("e1", R),
        ("e180", R),
        ("e18041", f"{R}A"),
        ("f0", R),
        ("f090", R),
        ("f09090", R),
        ("f0909041", f"{R}A"),
        ("f0904141", f"{R}AA"),
        ("f0904190", f"{R}A{R}"),
        ("f0809090", R * 4),
        ("f4909090", R * 4),
        ("f5909090", R * 4),
        ("c2", R),
        ("c241", f"{R}A"),
        ("c080", R * 2),
        ("80ff", R * 2),
    ],
)
def test_each_malformed_sequence_becomes_as_many_replacements_as_in_java(
    content: str, text: str
) -> None:
    assert java_text(bytes.fromhex(content)) == text
