"""What is decided partition by partition, gathered until the plan of all can be made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.catalogue.actions import RETURN_DIRECTORY
from kafkalog_reader.audits.catalogue.checkpoint_rules import (
    META_PROPERTIES_PROBLEM,
    REPLICA_DIRECTORY_MISSING,
)
from kafkalog_reader.audits.integrity.damage import is_severe
from kafkalog_reader.audits.partition.freeze import is_frozen
from kafkalog_reader.audits.plan.choosing import choice_of
from kafkalog_reader.audits.plan.deleted_topic import DeletedPartition, deleted_partition
from kafkalog_reader.audits.plan.files_first import FilesFirst, files_first, of_files
from kafkalog_reader.audits.plan.lost_already import (
    LostAlready,
    is_lost_end,
    lost_already,
    lost_whole,
)
from kafkalog_reader.audits.plan.older_disks import NewestRecords
from kafkalog_reader.audits.plan.open_finding import OpenFinding
from kafkalog_reader.audits.plan.plan import Plan, plan_of
from kafkalog_reader.audits.plan.plan_basis import PlanBasis, allows_unclean
from kafkalog_reader.audits.plan.renames import restores_names
from kafkalog_reader.audits.plan.unanswered import Unanswered
from kafkalog_reader.audits.recovery.disks import METADATA_LOG
from kafkalog_reader.audits.recovery.node_releases import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kafkalog_reader.audits.integrity.finding import Finding
    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.partition_unit import PartitionUnit
    from kafkalog_reader.audits.plan.act import Act
    from kafkalog_reader.audits.plan.choice import Choice
    from kafkalog_reader.audits.quorum.outcome import QuorumAudit
    from kafkalog_reader.audits.recovery.rule import ClusterTopics

_SETTLED_FIRST: Final = "first {what} ({code}), and make the plan again"
_SEGMENTS_FIRST: Final = "give segments their names back"


class Decisions:
    """The decisions of partitions, in the order in which they were audited.

    Args:
        wanted: by topic and partition, the broker that a person chose to lead it.
        no_plan: why no partition can have a plan; empty if they can.
    """

    def __init__(
        self, wanted: Mapping[tuple[str, int], int] | None = None, *, no_plan: str = ""
    ) -> None:
        self._wanted = wanted or {}
        self._no_plan = no_plan
        self._decided: list[Choice | Unanswered] = []
        self._severe: list[OpenFinding] = []
        self._lost_already: list[LostAlready] = []
        self._deleted: list[DeletedPartition] = []
        self._configs: dict[str, Mapping[str, str]] = {}
        self._releases = UNKNOWN
        self._meta_versions: set[int | None] = set()
        self._has_metadata_log = False
        self._acts: dict[str, tuple[Act, ...]] = {}
        self._frozen: set[str] = set()
        self._files_first: list[FilesFirst] = []
        self._misnamed: set[str] = set()
        self._exchanged = ""
        self._newest = NewestRecords()
        self._topics: ClusterTopics | None = None
        self._idle_partitions = 0
        self._idle_brokers: set[int] = set()

    def __len__(self) -> int:
        return len(self._decided) + self._idle_partitions

    def add(
        self,
        audit: PartitionAudit,
        found: Iterable[Finding],
        unit: PartitionUnit | None = None,
        *,
        acts: tuple[Act, ...] = (),
    ) -> None:
        """Decide one partition; of the metadata log, only its findings are taken.

        Args:
            audit: with all its copies.
            found: its findings.
            unit: what was audited; None if nothing is known but the copies.
            acts: what to do before a start, by its findings.
        """
        found = tuple(found)
        of_directories = [e for e in found if e.directory is not None and e.directory.topic is None]
        self.add_directory(of_directories)
        own = [each for each in found if each not in of_directories]
        name = f"{audit.topic or ''}-{audit.partition or 0}"
        self._has_metadata_log |= audit.is_metadata
        self._meta_versions |= {r.directory.log_directory.meta_version for r in audit.everyone}
        if audit.is_metadata:
            for each in own:
                self._take([each], name, (each.directory or audit.replicas[0].directory).path)
            return
        if acts:
            self._acts[name] = acts
        if deleted := deleted_partition(audit):
            self._deleted.append(deleted)
            return
        self._newest.add(audit)
        end = max(each.log_end for each in audit.everyone)
        self._take(own, name, end=end)
        self._lost_already += lost_already(audit, own)
        if is_frozen(audit, own):
            self._frozen.add(audit.topic or "")
        if audit.misnamed:
            self._misnamed.add(name)
        if self._no_plan:
            name = f"{audit.topic}-{audit.partition}"
            self._decided.append(Unanswered(name=name, reason=self._no_plan, brokers=()))
            return
        topics = None if unit is None else unit.topics
        topic, partition = audit.topic or "", audit.partition or 0
        if topics is not None and topics is not self._topics:
            self._topics = topics
            self._configs.update(topics.configs)
            self._releases = topics.releases
        decided = choice_of(
            audit,
            self._wanted.get((topic, partition)),
            allows_unclean=allows_unclean(topic, self._configs),
            found=found,
            lacking=() if unit is None else unit.lacking,
            lacking_roots={} if unit is None else dict(unit.lacking_roots),
            down={} if unit is None else dict(unit.down),
            has_metadata=topics is not None,
        )
        if isinstance(decided, Unanswered):  # of a choice, the renames are steps already
            self._files_first += [
                of_files(each, name, _SEGMENTS_FIRST) for each in own if restores_names(each)
            ]
        self._decided.append(decided)

    def add_idle(self, audit: PartitionAudit) -> None:
        """Add a partition that ``is_idle``: of many, only brokers and their number are kept."""
        self._idle_partitions += 1
        self._idle_brokers |= {r.broker_id for r in audit.replicas if r.broker_id is not None}
        self._meta_versions |= {r.directory.log_directory.meta_version for r in audit.replicas}
        self._newest.add(audit)

    def add_directory(self, found: Iterable[Finding]) -> None:
        """Take the findings of one log directory, and of partitions without any copy."""
        for each in found:
            place = each.directory
            if place is None:
                continue
            if each.code == META_PROPERTIES_PROBLEM and RETURN_DIRECTORY in each.actions[1:]:
                self._exchanged = each.message
            self._lost_already += lost_whole(each)
            if each.code == REPLICA_DIRECTORY_MISSING and place.topic is not None:
                self._take([each], f"{place.topic}-{place.partition}", is_placed=True)
            else:
                self._take([each], place.replica_name, place.log_directory.path, is_placed=True)

    def _take(
        self,
        found: Sequence[Finding],
        name: str,
        log_directory: str | None = None,
        *,
        is_placed: bool = False,
        end: int | None = None,
    ) -> None:
        if name != METADATA_LOG and not self._no_plan:
            self._files_first += filter(None, (files_first(each, name) for each in found))
        self._severe += [
            OpenFinding(
                name=name,
                code=each.code,
                severity=each.severity,
                message=each.message,
                replica="" if is_placed else each.unnamed_replica,
                log_directory=log_directory,
                actions=each.actions,
                repairs=each.repairs,
                is_lost=end is not None and is_lost_end(each, end),
            )
            for each in found
            if is_severe(each)
        ]

    def _waiting(self) -> Iterator[Choice | Unanswered]:
        """The decisions; none of a partition that nothing but steps about files keeps from one."""
        unknown = next((each for each in self._files_first if not each.repairs), None)
        for each in self._decided:
            if unknown is not None:
                yield _settled_first(each, unknown)
            elif self._no_plan or each.name not in self._misnamed:
                yield each

    def plan(
        self,
        *,
        paths: Sequence[str],
        options: Sequence[str] = (),
        follow_links: bool = False,
        is_selected: bool = False,
        quorums: Iterable[QuorumAudit] = (),
    ) -> Plan:
        """Make one procedure of them.

        Args:
            paths: as a person gave them.
            options: of the audit, given with them; ``replica-diff`` takes the same.
            follow_links: links were followed.
            is_selected: other partitions of these brokers were not asked for.
            quorums: of the controllers whose metadata log was supplied.
        """
        return plan_of(
            self._waiting(),
            PlanBasis(
                paths=tuple(paths),
                files_first=tuple(dict.fromkeys(e for e in self._files_first if e.repairs)),
                severe=tuple(self._severe),
                lost_already=tuple(self._lost_already),
                deleted=tuple(self._deleted),
                configs=self._configs,
                releases=self._releases,
                options=tuple(options),
                follow_links=follow_links,
                is_selected=is_selected,
                has_zookeeper=self._meta_versions == {0} and not self._has_metadata_log,
                is_without_metadata=0 not in self._meta_versions and not self._has_metadata_log,
                acts=self._acts,
                frozen=frozenset(self._frozen),
                exchanged=self._exchanged,
                older_disks={} if self._topics is not None else self._newest.older_disks(),
                running=tuple(self._newest.running()),
                quorums=tuple(quorums),
                idle_partitions=self._idle_partitions,
                idle_brokers=frozenset(self._idle_brokers),
            ),
        )


def _settled_first(decided: Choice | Unanswered, first: FilesFirst) -> Unanswered:
    """A partition without a plan: a plan is about whole brokers, and one must not start yet."""
    if isinstance(decided, Unanswered):
        return decided
    brokers = tuple(sorted(each for each in {*decided.paths, *decided.lacking} if each >= 0))
    reason = _SETTLED_FIRST.format(what=first.what, code=first.code)
    return Unanswered(name=decided.name, reason=reason, brokers=brokers)
