"""``quorum-state``: for whom a controller voted, and which leader it follows.

Source: Kafka 4.4, raft.FileQuorumStateStore and QuorumStateData.json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kafkalog_reader.errors import CorruptCheckpointError, LogPosition, UnsupportedFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

NEWEST_VERSION: Final = 1
_NONE: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumState:
    """The last election that a controller, or a broker, knows.

    Attributes:
        version: 1 from kraft.version 1 on.
        leader_epoch: of the quorum.
        leader_id: elected in that epoch; None if unknown.
        voted_id: for whom the controller voted in that epoch; None if for nobody.
        voted_directory_id: of that candidate; only in version 1.
        voters: node ids of the configured voters, in version 0 only; None if not stored.
    """

    version: int
    leader_epoch: int
    leader_id: int | None
    voted_id: int | None
    voted_directory_id: str | None
    voters: tuple[int, ...] | None


def parse_quorum_state(content: bytes, where: LogPosition) -> QuorumState:
    """Parse a ``quorum-state`` file.

    Raises:
        CorruptCheckpointError: not JSON, or a required key is missing or of another type.
        UnsupportedFormatError: the version is newer than 1.
    """
    try:
        stored = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CorruptCheckpointError("not a JSON object", where) from error
    if not isinstance(stored, dict):
        raise CorruptCheckpointError("not a JSON object", where)
    version = _integer(stored, "data_version", where)
    if not 0 <= version <= NEWEST_VERSION:
        raise UnsupportedFormatError(
            f"quorum-state version {version}: only 0 and 1 are known", where
        )
    directory_id = stored.get("votedDirectoryId") if version else None
    if directory_id is not None and not isinstance(directory_id, str):
        raise CorruptCheckpointError("votedDirectoryId is not text", where)
    return QuorumState(
        version=version,
        leader_epoch=_integer(stored, "leaderEpoch", where),
        leader_id=_node(stored, "leaderId", where),
        voted_id=_node(stored, "votedId", where),
        voted_directory_id=directory_id,
        voters=None if version else _voters(stored.get("currentVoters"), where),
    )


def _voters(stored: object, where: LogPosition) -> tuple[int, ...] | None:
    if stored is None:
        return None
    if not isinstance(stored, list) or not all(isinstance(each, dict) for each in stored):
        raise CorruptCheckpointError("currentVoters is not a list of objects", where)
    return tuple(sorted(_integer(each, "voterId", where) for each in stored))


def _node(stored: Mapping[str, Any], key: str, where: LogPosition) -> int | None:
    node = _integer(stored, key, where)
    return None if node == _NONE else node


def _integer(stored: Mapping[str, Any], key: str, where: LogPosition) -> int:
    value = stored.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise CorruptCheckpointError(f"{key} is missing or not an integer", where)
    return value
