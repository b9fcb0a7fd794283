"""A message with a codec that only record batches have: every command says that it is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from fixtures.builder import cluster, replica
from fixtures.builder.stored_messages import build_message
from kafkalog_reader.format.compression import Codec

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

WRONG: Final = "zstd in magic 1, which does not support it"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three messages of magic 1; the second one says zstd, which batches got with KIP-110."""
    cluster(tmp_path, {0: [replica("a@0/e0", topic="t", high_watermark=1)]})
    (log,) = tmp_path.glob("broker-0/t-0/*.log")
    codecs = (Codec.NONE, Codec.ZSTD, Codec.NONE)
    log.write_bytes(
        b"".join(
            build_message(None, b"x", offset=offset, attributes=codec, magic=1, timestamp=1)
            for offset, codec in enumerate(codecs)
        )
    )
    for index in log.parent.glob("*index"):
        index.unlink()
    return tmp_path


@pytest.mark.parametrize("options", [(), ("--deep",)], ids=["", "deep"])
def test_verify_finds_a_record_that_no_consumer_gets(
    options: tuple[str, ...], root: Path, run: Run
) -> None:
    answer = run("verify", root, "--format", "json", *options)
    found = {row["code"]: row for row in map(json.loads, answer.out.splitlines())}
    assert found["KL-108"]["evidence"] == [{"name": "problem", "value": WRONG}]
    assert answer.status == 1


def test_other_commands_name_the_same_problem(root: Path, run: Run) -> None:
    records = run("records", root)
    assert (records.status, WRONG in records.err) == (2, True)
    (gap,) = map(json.loads, run("table", "gaps", root, "--format", "json").out.splitlines())
    assert (gap["firstOffset"], gap["nextOffset"], gap["evidence"]) == (1, 2, WRONG)
    assert run("salvage", root, "--output", root / "saved").status == 1
