"""Both kernels rewrite messages as the same records of magic 2."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings

from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.compression import Codec, decompress
from kafkalog_reader.format.message import parse_message
from kafkalog_reader.kernel import codes
from tests.chosen.examples import examples
from tests.kernel.decoding import batch_columns, decode, scan
from tests.tables.legacy_logs import Row, declared_rows, logs

WHERE = LogPosition("log")
MAX = 2**63 - 1


def rewritten(kernel: SimpleNamespace, log: list[bytes]) -> list[Row]:
    """The records of ``log`` after the scan, the rewriter and the record decoder."""
    source = b"".join(log)
    headers, at, _ = scan(kernel, source)
    assert at == len(source)
    contents = [
        decompress(Codec(m.codec_id), m.value or b"", WHERE, magic=m.magic) if m.is_wrapper else b""
        for m in (parse_message(entry, WHERE) for entry in log)
    ]
    content = b"".join(contents)
    ends = np.cumsum([len(each) for each in contents]).astype(np.int64)
    entries = SimpleNamespace(
        **{name: getattr(headers, name) for name in ("last_offset", "max_timestamp", "attributes")},
        entry_position=headers.position,
        entry_size=headers.size_in_bytes.astype(np.int64),
        content_start=ends - [len(each) for each in contents],
        content_stop=ends,
        problem=np.zeros(len(log), np.int32),
        problem_position=np.zeros(len(log), np.int64),
    )
    target = bytearray(len(source) + len(content))
    kinds = {"last_offset_delta": np.int32, "records_count": np.int32, "attributes": np.int16}
    names = ("entry", "payload_position", "payload_size", "base_offset", "base_timestamp", *kinds)
    out = SimpleNamespace(**{name: np.zeros(64, kinds.get(name, np.int64)) for name in names})
    rewriter = kernel.messages.MessageRewriter(source, content, entries, target, out)
    assert rewriter.rewrite(0) == len(log)
    assert not entries.problem.any()
    count = rewriter.batches
    made = SimpleNamespace(
        **{name: getattr(out, name)[:count] for name in names if not name.startswith("payload")},
        max_timestamp=headers.max_timestamp[out.entry[:count]],
        magic=headers.magic[out.entry[:count]],
        base_sequence=np.full(count, -1, np.int32),
    )
    payloads = list(zip(out.payload_position[:count], out.payload_size[:count], strict=True))
    decoded = decode(kernel, bytes(target), batch_columns(made, payloads))
    assert not any(decoded.problems)
    kinds_of = np.where(
        made.attributes & codes.NO_TIMESTAMP_TYPE, -1, (made.attributes & 8) >> 3
    ).repeat(np.diff(decoded.row_ends, prepend=0))
    return [
        (row[0], row[1] // 1000, int(kind), row[4], row[5])
        for row, kind in zip(decoded.rows, kinds_of, strict=True)
    ]


@settings(deadline=None, max_examples=examples(60))
@given(log=logs())
def test_records_are_those_of_the_declared_format(
    kernel: SimpleNamespace, log: list[bytes]
) -> None:
    assert rewritten(kernel, log) == [row for entry in log for row in declared_rows(entry)]
