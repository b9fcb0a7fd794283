"""The voters of the controllers' quorum, as one copy of the metadata log names them.

From kraft.version 1 on (KIP-853), voters are in the log, and a voter is a node id and a directory
id: a controller on a new disk is no voter. Before, they are in the setting
``controller.quorum.voters``, of which ``quorum-state`` keeps the node ids. Source: Kafka 4.4,
raft.VoterSet and KRaftControlRecordStateMachine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_NO_DIRECTORY: Final = "A" * 22
"""The UUID of zeros, which Kafka stores for an unknown directory."""


class VoterSource(Enum):
    """Where the voters are named."""

    RECORD = "votersRecord"
    QUORUM_STATE = "quorumState"
    LEADER_CHANGE = "leaderChange"


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """One voter.

    Attributes:
        directory_id: of its metadata log directory; None if the set does not name one.
        endpoints: such as ``CONTROLLER://host:9093``; empty if the set does not name them.
    """

    node_id: int
    directory_id: str | None = None
    endpoints: tuple[str, ...] = ()

    def is_at(self, node_id: int | None, directory_id: str | None) -> bool:
        """Whether a log directory is this voter's (``ReplicaKey``)."""
        return self.node_id == node_id and self.directory_id in (None, directory_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterSet:
    """The voters by node id.

    Attributes:
        offset: of the record that names them; None for ``quorum-state`` and a snapshot.
    """

    voters: tuple[Voter, ...]
    source: VoterSource
    offset: int | None = None

    @property
    def majority(self) -> int:
        """How many votes elect a leader."""
        return len(self.voters) // 2 + 1

    @property
    def node_ids(self) -> tuple[int, ...]:
        """The node ids, rising."""
        return tuple(each.node_id for each in self.voters)

    @property
    def is_dynamic(self) -> bool:
        """Whether the log names them, and not the configuration."""
        return self.source is VoterSource.RECORD

    def voter_at(self, node_id: int | None, directory_id: str | None) -> Voter | None:
        """The voter whose log directory that is."""
        return next((each for each in self.voters if each.is_at(node_id, directory_id)), None)

    def identity(self) -> tuple[tuple[int, str | None], ...]:
        """What makes two sets the same."""
        return tuple((each.node_id, each.directory_id) for each in self.voters)


def configured_voters(node_ids: Iterable[int], source: VoterSource) -> VoterSet:
    """The voters of kraft.version 0."""
    voters = tuple(Voter(node_id=each) for each in sorted(set(node_ids)))
    return VoterSet(voters=voters, source=source)


def recorded_voters(message: Any, offset: int | None) -> VoterSet:  # noqa: ANN401  construct's
    """The voters of a ``VotersRecord``."""
    voters = {each.voterId: _voter(each) for each in message.voters}
    return VoterSet(
        voters=tuple(voters[node] for node in sorted(voters)),
        source=VoterSource.RECORD,
        offset=offset,
    )


def _voter(stored: Any) -> Voter:  # noqa: ANN401  construct's
    known = stored.voterDirectoryId != _NO_DIRECTORY
    return Voter(
        node_id=stored.voterId,
        directory_id=stored.voterDirectoryId if known else None,
        endpoints=tuple(f"{each.name}://{each.host}:{each.port}" for each in stored.endpoints),
    )
