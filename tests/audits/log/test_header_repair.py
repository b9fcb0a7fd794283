"""The one header field outside the checksum that explains damage (reference, 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fixtures.builder.stored_messages import build_message
from kafkalog_reader.audits.log import header_repair
from kafkalog_reader.audits.log.header_repair import Repair, repair_of, repaired_batch
from kafkalog_reader.io.read_context import ReadContext
from tests.tables.logs import batch, write_segment

if TYPE_CHECKING:
    from pathlib import Path

LENGTH, MAGIC = slice(8, 12), 16
BEFORE, SOUND, BEHIND = batch(0, 3), batch(3, 5), batch(8, 2)


def damaged(at: int | slice, value: int | bytes, content: bytes = SOUND) -> bytes:
    changed = bytearray(content)
    changed[at] = value  # type: ignore[call-overload]
    return bytes(changed)


def found(folder: Path, content: bytes) -> tuple[Repair, bytearray] | None:
    """What explains a batch between two sound ones."""
    path = write_segment(folder / "t-0", [BEFORE, content, BEHIND])
    start = len(BEFORE)
    stop = start + len(content)
    repaired = repaired_batch(str(path), start, stop, context=ReadContext())
    field = repair_of(str(path), start, stop, context=ReadContext())
    assert field is (None if repaired is None else repaired[0])
    return repaired


@pytest.mark.parametrize("length", [0, 1, 48, len(SOUND) - 13, len(SOUND) - 11, 2**31 - 1])
def test_a_wrong_length_is_corrected(tmp_path: Path, length: int) -> None:
    wrong = damaged(LENGTH, length.to_bytes(4, "big"))
    assert found(tmp_path, wrong) == (Repair.LENGTH, bytearray(SOUND))


@pytest.mark.parametrize("magic", [0, 1, 3, 127, 255])
def test_a_wrong_magic_is_corrected(tmp_path: Path, magic: int) -> None:
    assert found(tmp_path, damaged(MAGIC, magic)) == (Repair.MAGIC, bytearray(SOUND))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(SOUND, id="nothing_is_wrong"),
        pytest.param(damaged(-1, SOUND[-1] ^ 1), id="the_records"),
        pytest.param(damaged(17, SOUND[17] ^ 1), id="the_checksum"),
        pytest.param(damaged(MAGIC, 3, damaged(LENGTH, bytes(4))), id="both_fields"),
        pytest.param(damaged(LENGTH, bytes(4), damaged(-2, 0)), id="length_and_records"),
        pytest.param(damaged(MAGIC, 3, damaged(-2, 0)), id="magic_and_records"),
        pytest.param(bytes(61), id="zeros"),
        pytest.param(SOUND[:40], id="less_than_a_header"),
        pytest.param(SOUND[:25], id="less_than_the_smallest_message"),
        pytest.param(SOUND + batch(8, 1), id="two_batches"),
    ],
)
def test_what_one_field_does_not_explain_is_not_corrected(tmp_path: Path, content: bytes) -> None:
    assert found(tmp_path, content) is None


def test_a_message_with_a_wrong_length_is_corrected(tmp_path: Path) -> None:
    """The smallest message of magic 0 has 14 bytes after the length (reference, section 3)."""
    message = build_message(None, None, offset=3, magic=0)
    assert len(message) == 26
    wrong = damaged(LENGTH, bytes(4), message)
    assert found(tmp_path, wrong) == (Repair.LENGTH, bytearray(message))


def test_the_checksum_of_a_message_covers_its_magic(tmp_path: Path) -> None:
    message = build_message(b"k", b"v" * 60, offset=3, magic=1, timestamp=0)
    assert found(tmp_path, damaged(MAGIC, 0, message)) is None


@pytest.mark.parametrize(("room", "is_found"), [(0, True), (-1, False)])
def test_only_so_many_bytes_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, is_found: bool
) -> None:
    monkeypatch.setattr(header_repair, "MAX_TRIED", len(SOUND) + room)
    assert (found(tmp_path, damaged(MAGIC, 3)) is not None) is is_found


def test_a_file_that_is_gone_or_has_shrunk_explains_nothing(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "t-0", [damaged(MAGIC, 3)])
    beyond = len(SOUND) + 1
    assert repair_of(str(path), 0, beyond, context=ReadContext()) is None
    path.unlink()
    assert repair_of(str(path), 0, len(SOUND), context=ReadContext()) is None
