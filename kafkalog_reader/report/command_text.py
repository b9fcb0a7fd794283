"""Our own commands about one partition, to be pasted unchanged."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kafkalog_reader.audits.plan.plan_basis import UNCLEAN_ELECTION
from kafkalog_reader.report.repair_text import BROKERS
from kafkalog_reader.report.shell_word import shell_word

if TYPE_CHECKING:
    from collections.abc import Container

    from kafkalog_reader.audits.partition.partition_audit import PartitionAudit
    from kafkalog_reader.audits.partition.replica_audit import ReplicaAudit
    from kafkalog_reader.io.directories import PartitionDirectory

CONTROLLERS: Final = "CONTROLLER:9093"
ZOOKEEPER: Final = "ZOOKEEPER:2181"
SAVED: Final = "SAVED"
"""The folder in printed commands; it works unchanged."""


def path_word(directory: PartitionDirectory) -> str:
    """A replica's log directory as an argument, or the replica if only that was given."""
    root = directory.log_directory
    path = directory.path if root.clean_shutdown is None else root.path
    name = root.named
    if name is not None and root.broker_label is None and root.broker_id is not None:
        name = str(root.broker_id)  # the label may be wrong
    return shell_word(path if name is None else f"{name}={path}")


def salvage_command(audit: PartitionAudit, replica: ReplicaAudit, first_offset: int) -> str:
    """A command that saves what one replica has from an offset on, also after damage."""
    directory = replica.directory
    broker = directory.log_directory.broker_id
    copy = "copy" if broker is None else f"broker-{broker}"
    only = "" if broker is None else f"--replica broker:{broker} "
    return (
        f"kafkalog salvage {path_word(directory)}{_links(audit)} {_choice(audit)} {only}"
        f"--from-offset {first_offset} "
        f"--output {shell_word(f'{SAVED}/{audit.topic}-{audit.partition}-{copy}')}"
    )


def export_command(audit: PartitionAudit) -> str:
    """A command that saves the records that only some copies have in one file."""
    return (
        f"replica-diff {_paths(audit)}{_links(audit)} {_choice(audit)} "
        f"--export {shell_word(f'{SAVED}/{audit.topic}-{audit.partition}-one-sided')}"
    )


def merge_command(audit: PartitionAudit) -> str:
    """A command that makes one sound log of several damaged copies."""
    paths = _paths(audit, () if audit.merge is None else audit.merge.left_out)
    return (
        f"kafkalog salvage {paths}{_links(audit)} {_choice(audit)} --merge --as-segments "
        f"--no-instructions --output {shell_word(merged_folder(audit.topic, audit.partition))}"
    )


def archive_commands(path: str, archive: str) -> tuple[str, str]:
    """Keep a folder as it is, in an archive: a plain copy would be read as one more replica."""
    root, name = posixpath.split(path.rstrip("/"))
    return (
        f"mkdir -p {shell_word(posixpath.dirname(archive))}",
        f"tar -cf {shell_word(archive)} -C {shell_word(root or '.')} {shell_word(name)}",
    )


def archive_command(audit: PartitionAudit, replica: ReplicaAudit) -> str:
    """A command that keeps all bytes of one copy, of which no record may be readable."""
    broker = replica.broker_id
    copy = "copy" if broker is None else f"broker-{broker}"
    name = f"{audit.topic}-{audit.partition}-{copy}"
    return " && ".join(archive_commands(replica.directory.path, f"{SAVED}/{name}.tar"))


def merged_folder(topic: str | None, partition: int | None) -> str:
    """The output folder of a merge."""
    return f"{SAVED}/{topic}-{partition}-merged"


def forbid_command(topic: str, bootstrap: str) -> str:
    """Forbids unclean elections of a topic; ``bootstrap`` is the option that names the servers."""
    return (
        f"kafka-configs.sh {bootstrap} --alter --entity-type topics --entity-name "
        f"{shell_word(topic)} --add-config {UNCLEAN_ELECTION}=false"
    )


def freeze_commands(topic: str, *, has_zookeeper: bool) -> tuple[str, ...]:
    """Forbid unclean elections in a running cluster; in a stopped one, a plan has the step."""
    older = f", with --zookeeper {ZOOKEEPER} before release 2.5" if has_zookeeper else ""
    return (
        f"# while brokers run{older}:",
        forbid_command(topic, f"--bootstrap-server {BROKERS}"),
    )


def _paths(audit: PartitionAudit, left_out: Container[str] = ()) -> str:
    chosen = (each.directory for each in audit.everyone if each.directory.path not in left_out)
    return " ".join(dict.fromkeys(map(path_word, chosen)))


def _links(audit: PartitionAudit) -> str:
    return " --follow-links" if any(r.directory.follow_links for r in audit.everyone) else ""


def _choice(audit: PartitionAudit) -> str:
    return f"--topic {shell_word(audit.topic or '')} --partition {audit.partition}"
