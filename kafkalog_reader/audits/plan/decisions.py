"""What is decided partition by partition, gathered until the plan of all can be made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_reader.audits.catalogue.input_rules import UNREADABLE_FILE
from kafkalog_reader.audits.plan.choice import Choice, OpenFinding, choice_of
from kafkalog_reader.audits.plan.plan import Plan, allows_unclean, plan_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.plan.unanswered import Unanswered
    from kafkalog_reader.audits.recovery.rule import ClusterTopics

_SEVERE = "CH"


class Decisions:
    """The decisions of partitions, in the order in which they were audited.

    Args:
        wanted: by topic and partition, the broker that a person chose to lead it.
    """

    def __init__(self, wanted: Mapping[tuple[str, int], int] | None = None) -> None:
        self._wanted = wanted or {}
        self._decided: list[Choice | Unanswered] = []
        self._severe: list[OpenFinding] = []
        self._configs: dict[str, Mapping[str, str]] = {}

    def __len__(self) -> int:
        return len(self._decided)

    def add(
        self, audit: PartitionAudit, found: Iterable[Finding], topics: ClusterTopics | None
    ) -> None:
        """Decide one partition.

        Args:
            audit: with all its copies.
            found: its findings.
            topics: of the cluster, as far as the metadata log was supplied.
        """
        found = tuple(found)
        topic, partition = audit.topic or "", audit.partition or 0
        if topics is not None:
            self._configs.update(topics.configs)
        self._decided.append(
            choice_of(
                audit,
                self._wanted.get((topic, partition)),
                allows_unclean=allows_unclean(topic, self._configs),
                not_read=[each for each in found if each.code == UNREADABLE_FILE],
            )
        )
        self._severe += [
            OpenFinding(
                name=f"{topic}-{partition}",
                code=each.code,
                severity=each.severity,
                message=each.message,
            )
            for each in found
            if each.severity in _SEVERE
        ]

    def add_directory(self, found: Iterable[Finding]) -> None:
        """Take the findings of one log directory, which no partition has."""
        for each in found:
            if each.severity in _SEVERE and each.directory is not None:
                self._severe.append(
                    OpenFinding(
                        name=each.directory.replica_name,
                        code=each.code,
                        severity=each.severity,
                        message=each.message,
                        log_directory=each.directory.log_directory.path,
                    )
                )

    def plan(
        self,
        *,
        paths: Sequence[str],
        options: Sequence[str] = (),
        follow_links: bool = False,
        is_selected: bool = False,
    ) -> Plan:
        """Make one procedure of them.

        Args:
            paths: as a person gave them.
            options: of the audit, given with them; ``replica-diff`` takes the same.
            follow_links: links were followed.
            is_selected: other partitions of these brokers were not asked for.
        """
        return plan_of(
            self._decided,
            paths=paths,
            severe=self._severe,
            configs=self._configs,
            options=options,
            follow_links=follow_links,
            is_selected=is_selected,
        )
