"""The data inside a report: it comes out as it went in, and hostile files are refused."""

from __future__ import annotations

import base64
import zlib

import pytest

from kafkalog_reader.errors import UsageError
from kafkalog_reader.report import report_data
from kafkalog_reader.report.report_data import DATA_ID, compressed, data_element, extracted


def around(content: bytes) -> bytes:
    return f"<p>{data_element(content, identity=DATA_ID)}</p>".encode()


@pytest.mark.parametrize("text", ["{}", "é\u202e</script>" * 100_000, "\ud800"])
def test_it_comes_out_as_it_went_in(text: str) -> None:
    out = b"".join(extracted(around(compressed(text)), "x.html"))
    assert out == text.encode("utf-8", "backslashreplace")


def test_the_same_text_gives_the_same_bytes() -> None:
    assert compressed("a" * 1000) == compressed("a" * 1000)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<p>a page</p>", "no report of kafkalog"),
        (around(b"no gzip"), "damaged"),
        (around(compressed("{}" * 1000))[:-8], "no report of kafkalog"),
        (around(compressed("{}" * 1000)[:-12]), "cut short"),
        (around(b"").replace(b"></", b">abc</"), "damaged"),
    ],
)
def test_what_is_no_report_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        list(extracted(content, "x.html"))


def test_a_bomb_is_not_unpacked_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_data, "MAX_JSON", 4 << 20)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packer.compress(bytes(64 << 20)) + packer.flush()
    pieces = extracted(around(bomb), "x.html")
    with pytest.raises(UsageError, match="more than"):
        list(pieces)
    assert len(base64.b64encode(bomb)) < 200_000
