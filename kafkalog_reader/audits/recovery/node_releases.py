"""Which releases the nodes of a KRaft cluster are of, according to its metadata log.

A node registers with the metadata versions that it supports, the highest of which is that of its
own release. Controllers register since 3.7. Source: Kafka 3.9 and 4.0, MetadataVersion,
RegisterBrokerRecord.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA_VERSION: Final = "metadata.version"
KAFKA_3_6: Final = 12
"""3.6-IV0: a node loads its newest metadata snapshot even if its log begins at offset 0
(KAFKA-15076), and a controller refuses a second TopicRecord of a name."""
KAFKA_3_7: Final = 15
"""3.7-IV0: tools take --bootstrap-controller, and stray replicas are no longer deleted."""
KAFKA_3_8: Final = 20
"""3.8-IV0: every node reads its newest metadata snapshot before it does anything else."""
KAFKA_3_9: Final = 21
"""3.9-IV0: controllers obey unclean.leader.election.enable, and have advertised.listeners. If what
a broker that is no controller has replayed sets no metadata.version, it loads no replica and waits
for ever: the lowest version cannot express registrations. Some earlier ones may, too."""

KAFKA_4_0: Final = 22
"""4.0-IV0: a broker does not come up without metadata.version, whatever it has replayed."""
KAFKA_4_1: Final = 26
"""4.1-IV0."""
KAFKA_4_3: Final = 30
"""4.3-IV0: a controller ends if what it has replayed sets no metadata.version. Some earlier ones
may, too; 3.x goes on with the lowest version."""


KAFKA_4_4: Final = 31
"""4.4-IV0. Nodes of 4.3 register it only with ``unstable.feature.versions.enable``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReleases:
    """What is known about all nodes; a node may have been upgraded since.

    Attributes:
        finalised: the metadata version in use, which every node supports; None if unknown.
        supported: by node id, the highest metadata version that it registered; 0 before 3.3.
    """

    finalised: int | None = None
    supported: Mapping[int, int] = field(default_factory=dict)

    def since(self, version: int) -> bool:
        """Whether every node is of the release of this metadata version, or of a later one."""
        is_finalised = self.finalised is not None and self.finalised >= version
        return is_finalised or (bool(self.supported) and min(self.supported.values()) >= version)

    def before(self, version: int) -> bool:
        """Whether every node that registered is of an earlier release."""
        is_finalised = self.finalised is not None and self.finalised >= version
        return bool(self.supported) and not is_finalised and max(self.supported.values()) < version


UNKNOWN: Final = NodeReleases()
