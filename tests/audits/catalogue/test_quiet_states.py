"""Every code has a state in which it must not fire: sound replicas, or forks of another kind.

tests/test_findings_page.py checks that each code fires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import kafkalog_reader
from fixtures import captures
from fixtures.builder import cluster
from fixtures.faults.catalogue import BASES
from fixtures.synthetic.base_sets import BASES as SETS
from kafkalog_reader.audits.catalogue.catalogue import CATALOGUE, codes_with
from kafkalog_reader.audits.catalogue.role import Role

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.faults.sample import Base

NOT_STOPPED: Final = frozenset({"KL-011"})
AGREE: Final = NOT_STOPPED | {"KL-501"}
ALONE: Final = {
    # Elected and killed before it wrote.
    "4.4.0 killed codec-gzip": NOT_STOPPED | {"KL-408"},
    "4.4.0 killed transactions": NOT_STOPPED | {"KL-408"},
    "3.9.1 running java-none": NOT_STOPPED,
    "0.11.0.3 running java-snappy": NOT_STOPPED,
    # Its configuration requested an old message format later.
    "2.8.2 stopped java-lz4": {"KL-117"},
    "2.8.2 stopped compacted-lz4": {"KL-117", "KL-315"},
    # This release writes no meta.properties.
    "0.8.2.2 stopped java-none": {"KL-312"},
}
"""Findings in a sound replica of one broker; the others have none."""
TOGETHER: Final = {
    **dict.fromkeys(SETS, AGREE),
    # Cleaned to different points; C has a record timestamp after its file times.
    "C": AGREE | {"KL-113", "KL-509"},
    "C2": AGREE | {"KL-509"},
    "C3": AGREE | {"KL-509"},
    "O": AGREE | {"KL-509"},
    # Retention and tiering moved the log starts.
    "R": AGREE | {"KL-510"},
    "Z": AGREE | {"KL-510"},
}
"""Findings in three healthy replicas."""
CAPTURED: Final = {
    "s1/healed": AGREE | {"KL-601"},
    "s3_2/healed": AGREE | {"KL-523"},
    "s3_2/both-led": NOT_STOPPED | {
        "KL-013", "KL-303", "KL-502", "KL-503", "KL-520", "KL-901", "KL-902",
    },
}  # fmt: skip
"""Findings in files of real brokers: a repeated batch, traces of a truncation, a future fork."""


def codes_in(path: Path | str) -> set[str]:
    """The codes that are found if every record is read."""
    table = kafkalog_reader.open(str(path)).table("findings", columns=["code"], deep=True)
    return {row["code"] for row in table.to_arrow().to_pylist()}


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_a_sound_replica_has_these_codes_only(base: Base, tmp_path: Path) -> None:
    base.copied(tmp_path / "disk")
    assert codes_in(tmp_path) == ALONE.get(base.name, set())


@pytest.mark.parametrize("name", sorted(SETS))
def test_healthy_replicas_have_these_codes_only(name: str, tmp_path: Path) -> None:
    cluster(tmp_path, {node: [copy.build()] for node, copy in SETS[name]().items()})
    assert codes_in(tmp_path) == TOGETHER[name]


@pytest.mark.parametrize("name", sorted(CAPTURED))
def test_captured_replicas_have_these_codes_only(name: str) -> None:
    assert codes_in(captures.path(name)) == CAPTURED[name]


@pytest.mark.parametrize("code", CATALOGUE)
def test_there_is_a_state_in_which_a_code_must_not_fire(code: str) -> None:
    """Among several replicas, if the code needs several."""
    several = [*TOGETHER.values(), *CAPTURED.values()]
    alone = [ALONE.get(base.name, set()) for base in BASES]
    of_several = code in codes_with(Role.SEVERAL_REPLICAS)
    assert any(code not in found for found in (several if of_several else [*alone, *several]))
