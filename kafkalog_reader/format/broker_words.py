"""Brokers and other names listed in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def joined_names(replicas: Iterable[_Named]) -> str:
    """The names of replicas in a sentence: ``brokers 1, 2 and 3``."""
    return joined([replica.name for replica in replicas])


def joined(names: Sequence[str]) -> str:
    """Names in a sentence: ``broker 1``, ``brokers 1, 2 and 3``, ``t-0, t-1 and t-2``."""
    numbers = [name.removeprefix("broker ") for name in names]
    if len(names) > 1 and all(number.isdigit() for number in numbers):
        return joined_ids(map(int, numbers))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def joined_ids(node_ids: Iterable[int]) -> str:
    """Brokers by their node ids: ``brokers 1, 2 and 3``."""
    numbers = [*map(str, node_ids)]
    if len(numbers) == 1:
        return f"broker {numbers[0]}"
    return f"brokers {', '.join(numbers[:-1])} and {numbers[-1]}"
