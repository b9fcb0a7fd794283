"""What a plan asks for before its first step, because of a finding that no step resolves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One thing to do, for a partition.

    Attributes:
        text: the imperative, as ``replica-diff`` words it.
        commands: to be pasted; words in capitals must be replaced.
        codes: of the findings that ask for it.
        partitions: topics and numbers.
    """

    text: str
    commands: tuple[str, ...]
    codes: tuple[str, ...]
    partitions: tuple[str, ...]


def together(acts: dict[str, tuple[Act, ...]]) -> tuple[Act, ...]:
    """The acts of several partitions, those with the same text as one.

    Args:
        acts: by partition, in order.
    """
    same: dict[str, list[Act]] = {}
    for each in (act for of_one in acts.values() for act in of_one):
        same.setdefault(each.text, []).append(each)
    return tuple(
        Act(
            text=text,
            commands=tuple(dict.fromkeys(c for each in alike for c in each.commands)),
            codes=tuple(sorted({code for each in alike for code in each.codes})),
            partitions=tuple(dict.fromkeys(name for each in alike for name in each.partitions)),
        )
        for text, alike in same.items()
    )
