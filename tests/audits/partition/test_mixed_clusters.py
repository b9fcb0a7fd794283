"""Several clusters supplied as one: by the names of their paths, and by topic ids."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from fixtures import captures
from fixtures.builder import cluster, replica
from tests.audits.partition.test_supply_findings import AB, CAPTURE, found_in, of_code

if TYPE_CHECKING:
    from pathlib import Path


def test_one_topic_id_in_two_clusters_is_one_wrong_cluster_id(tmp_path: Path) -> None:
    shutil.copytree(CAPTURE, tmp_path / "all")
    path = tmp_path / "all" / "broker-1" / "meta.properties"
    lines = path.read_text().splitlines()
    path.write_text("\n".join("cluster.id=other" if "cluster.id" in x else x for x in lines))
    (found,) = of_code(found_in(tmp_path / "all"), "KL-008")
    assert found.severity == "C"
    assert "other" in dict(found.evidence)["clusters"]


def test_the_metadata_log_has_the_same_topic_id_in_every_cluster() -> None:
    """It is ``Uuid.METADATA_TOPIC_ID``; both clusters are sound."""
    other = captures.path("s5_1/a-down")
    assert of_code(found_in(CAPTURE, other), "KL-008") == []


def test_two_clusters_named_as_one_broker(tmp_path: Path) -> None:
    one = cluster(tmp_path / "disks" / "one", {4: replica(AB, high_watermark=2)})[4]
    other = cluster(tmp_path / "disks" / "two", {4: replica(AB, topic="u", high_watermark=2)})[4]
    meta = other / "meta.properties"
    lines = meta.read_text().splitlines()
    meta.write_text("\n".join("cluster.id=other" if "cluster.id" in x else x for x in lines))
    assert of_code(found_in(one, other), "KL-008") == []  # two clusters in one folder stay two
    (found,) = of_code(found_in(f"4={tmp_path / 'disks'}"), "KL-008")
    assert "named 4" in found.message
