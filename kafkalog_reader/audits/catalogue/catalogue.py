"""The catalogue: every rule by its code."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

# Importing a module of rules declares them.
from kafkalog_reader.audits.catalogue import (  # noqa: F401
    batch_rules,
    checkpoint_rules,
    commit_rules,
    election_rules,
    index_rules,
    input_rules,
    log_rules,
    producer_rules,
    replica_rules,
    transaction_rules,
)
from kafkalog_reader.audits.catalogue.rule import declared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_reader.audits.catalogue.role import Role
    from kafkalog_reader.audits.catalogue.rule import Rule

CATALOGUE: Final[Mapping[str, Rule]] = MappingProxyType(dict(sorted(declared().items())))


def codes_with(role: Role) -> frozenset[str]:
    """The codes of all rules that have a role."""
    return frozenset(code for code, rule in CATALOGUE.items() if role in rule.roles)
