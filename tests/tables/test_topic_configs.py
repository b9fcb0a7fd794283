"""Settings in the metadata log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fixtures import captures
from fixtures.builder.metadata_log import PartitionState, metadata_records, setting, topic_removal
from fixtures.scenarios.everything_compaction import COMPACTED, KEPT
from tests.tables.metadata_logs import rows_of, write_metadata

if TYPE_CHECKING:
    from pathlib import Path

TOPIC, BROKER = 2, 4


def settings_of(path: Path, **options: Any) -> list[tuple[str, str, str, str]]:
    rows = rows_of(path, "topic_configs", **options)
    return [(row["resourceType"], row["resource"], row["name"], row["value"]) for row in rows]


def test_the_settings_of_a_topic_are_those_that_it_was_created_with() -> None:
    found = settings_of(captures.path("everything/stopped"), topic=KEPT)
    assert {("topic", KEPT, name, value) for name, value in COMPACTED.items()} <= set(found)


def test_a_setting_counts_until_it_is_removed(tmp_path: Path) -> None:
    created = metadata_records(
        [PartitionState(replicas=(0,), in_sync=(0,), leader=0, leader_epoch=0)]
    )
    values = [
        *created,
        setting(TOPIC, "t", "retention.ms", "1"),
        setting(TOPIC, "t", "retention.ms", "2"),
        setting(TOPIC, "t", "segment.ms", "3"),
        setting(TOPIC, "t", "segment.ms", None),
        setting(BROKER, "", "min.insync.replicas", "1"),
        setting(77, "x", "y", ""),
    ]
    write_metadata(tmp_path / "kept", values)
    topic = ("topic", "t", "retention.ms", "2")
    others = [("broker", "", "min.insync.replicas", "1"), ("77", "x", "y", "")]
    assert settings_of(tmp_path / "kept") == [topic, *others]
    assert settings_of(tmp_path / "kept", topic="t") == [topic]
    write_metadata(tmp_path / "removed", [*values, topic_removal()])
    assert settings_of(tmp_path / "removed") == others
