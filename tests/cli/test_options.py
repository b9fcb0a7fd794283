from __future__ import annotations

import click
import pytest

from kafkalog_reader.cli.options import Rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [("5B", 5), ("1024", 1024), ("5MB", 5 << 20), ("1k", 1024), ("2 GiB", 2 << 30)],
)
def test_a_rate_is_bytes_a_second(text: str, rate: int) -> None:
    assert Rate().convert(text, None, None) == rate


@pytest.mark.parametrize("text", ["5", "1023"])
def test_a_rate_below_a_kilobyte_says_its_unit(text: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        Rate().convert(text, None, None)
    assert caught.value.message == (
        f"{text} bytes a second? Give a unit: {text}MB, {text}k, or {text}B for bytes"
    )
