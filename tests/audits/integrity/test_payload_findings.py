"""``--deep``: findings that only decoded records show, on deliberately inconsistent batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fixtures.builder.compression import compress
from fixtures.builder.stored_batches import build_record, build_record_batch
from fixtures.builder.stored_messages import build_message
from kafkalog_reader.audits.tables.verification import verify
from kafkalog_reader.format.compression import Codec
from kafkalog_reader.format.record import Record
from kafkalog_reader.io.discovery import discover
from kafkalog_reader.registry import request, table

if TYPE_CHECKING:
    from pathlib import Path

    from kafkalog_reader.audits.integrity.finding import Finding

T0 = 1_700_000_000_000
RECORDS = [
    Record(offset_delta=delta, timestamp_delta=delta, key=b"k", value=b"v" * 40)
    for delta in range(3)
]
PAYLOAD = b"".join(map(build_record, RECORDS))


def batch(base_offset: int, **lies: Any) -> bytes:
    return build_record_batch(RECORDS, base_offset=base_offset, base_timestamp=T0, **lies)


def deep(root: Path, *batches: bytes, **options: Any) -> list[Finding]:
    """The findings of ``--deep`` in the log of one segment with these batches."""
    directory = root / "t-0"
    directory.mkdir()
    (directory / f"{0:020}.log").write_bytes(b"".join(batches))
    findings = table("findings")
    asked = request(findings, **{"deep": True, **options})
    units = findings.units(discover([str(directory)]), asked)
    found = [each for unit in units for each, _ in verify(unit, asked).findings]
    return [each for each in found if (each.file or "").endswith(".log")]


def swapped() -> bytes:
    return b"".join(map(build_record, [RECORDS[1], RECORDS[0], RECORDS[2]]))


@pytest.mark.parametrize(
    ("lie", "code"),
    [
        pytest.param({}, None, id="sound"),
        pytest.param({"codec": Codec.ZSTD, "payload": b"x" * 30}, "KL-108", id="not_zstd"),
        pytest.param({"codec": Codec.GZIP, "payload": compress(Codec.GZIP, PAYLOAD)[:-9]}, "KL-108",
                     id="gzip_cut"),
        pytest.param({"payload": b"\x7f" + PAYLOAD[1:]}, "KL-108", id="a_length_that_lies"),
        pytest.param({"payload": PAYLOAD, "records_count": 2}, "KL-109", id="one_more_record"),
        pytest.param({"payload": PAYLOAD[: 2 * len(PAYLOAD) // 3], "records_count": 3}, "KL-109",
                     id="one_less"),
        pytest.param({"payload": swapped(), "codec": Codec.LZ4}, "KL-108", id="not_lz4"),
        pytest.param({"payload": swapped()}, "KL-109", id="offsets_fall"),
        pytest.param({"max_timestamp": T0 + 3}, "KL-113", id="greatest_timestamp"),
        pytest.param({"max_timestamp": T0 + 3, "flags": 0x40}, None, id="delete_horizon_T06"),
        pytest.param({"max_timestamp": T0 + 3, "flags": 0x08}, None, id="log_append_time_T30"),
        pytest.param({"records_count": 0, "payload": b"", "max_timestamp": -1}, None,
                     id="emptied_T08"),
    ],
)  # fmt: skip
def test_a_wrong_value_behind_a_right_checksum(
    tmp_path: Path, lie: dict[str, Any], code: str | None
) -> None:
    lying = batch(3, **lie)
    found = deep(tmp_path, batch(0), lying, batch(6))
    assert [each.code for each in found] == ([] if code is None else [code])
    if found:
        assert found[0].position == len(batch(0))
        assert (found[0].first_offset, found[0].next_offset) == (3, 6)


def test_without_deep_no_payload_is_looked_at(tmp_path: Path) -> None:
    lying = batch(3, codec=Codec.ZSTD, payload=b"x" * 30)
    assert deep(tmp_path, batch(0), lying, deep=False) == []


def test_what_is_larger_than_the_limit_was_not_looked_at(tmp_path: Path) -> None:
    large = build_record_batch(
        [Record(offset_delta=0, value=bytes(100_000))], codec=Codec.ZSTD, base_timestamp=T0
    )
    (found,) = deep(tmp_path, large, max_batch_bytes=50_000)
    assert (found.code, found.severity, found.actions) == ("KL-005", "M", ("A18",))


def test_a_wrapper_of_another_magic_than_its_messages(tmp_path: Path) -> None:
    inner = build_message(None, b"v", magic=0)
    value = compress(Codec.GZIP, inner, magic=1)
    wrapper = build_message(None, value, magic=1, timestamp=T0, codec=Codec.GZIP)
    (found,) = deep(tmp_path, wrapper)
    assert (found.code, found.position) == ("KL-115", 0)
    assert dict(found.evidence) == {"magic": "1", "innerMagic": "0", "batches": "1"}
