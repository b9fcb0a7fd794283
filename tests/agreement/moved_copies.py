"""Finds advice to move a copy aside that advice elects, or that alone has records."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOVE: Final = "A6"
LEAD: Final = "A5"
SAVE: Final = "A7"
SINGLE_COPY: Final = "KL-520"
_LED: Final = re.compile(r"(?:broker|brokers) ([\d, and]+) should lead")
_NAMED: Final = re.compile(r"while (?:broker|brokers) ([\d, and]+) (?:is|are) stopped")
_ONLY_ON: Final = re.compile(r"are on broker (\d+) only")


def wrongly_moved(
    rows: Sequence[dict[str, Any]],
    documents: Sequence[dict[str, Any]],
    plan: dict[str, Any],
    texts: Sequence[str],
) -> Iterator[str]:
    """Yield the copies that advice both moves and needs.

    Args:
        rows: of `verify`.
        documents: of `replica-diff`.
        plan: of `plan`.
        texts: the output of commands for a terminal.
    """
    moved_paths = {path for text in texts for path in _moved(_joined(text))}
    leaders = {(each["topic"], each["partition"]): each for each in plan["partitions"]}
    for document in documents:
        partition = document["topic"], document["partition"]
        actions = {each["action"]: each for each in document["actions"]}
        only = {
            broker
            for row in (*rows, *document["findings"])
            if row["code"] == SINGLE_COPY and (row["topic"], row["partition"]) == partition
            for broker in _ONLY_ON.findall(row["message"])
        }
        led = _led(actions[LEAD]["text"], document) if LEAD in actions else set()
        planned = {str(leaders[partition]["leader"])} if partition in leaders else set()
        paths = {
            f"{each['logDirectory']}/{partition[0]}-{partition[1]}": str(each["brokerId"])
            for each in document["replicas"]
        }
        moved = {broker for path, broker in paths.items() if path in moved_paths}
        asked = _asked(actions, paths)
        if asked is None:
            yield f"replica-diff moves a copy of {partition} aside and does not name it"
        if both := ((asked or set()) | moved) & (led | planned):
            yield f"advice moves aside what should lead {partition}: broker {sorted(both)}"
        if both := ((asked or set()) | moved) & only:
            yield f"advice moves aside the only copy of records of {partition}: {sorted(both)}"


def _asked(actions: dict[str, dict[str, Any]], paths: dict[str, str]) -> set[str] | None:
    """The brokers of A6; None if it names none."""
    if MOVE not in actions:
        return set()
    action = actions[MOVE]
    named = {n for numbers in _NAMED.findall(action["text"]) for n in re.findall(r"\d+", numbers)}
    moved = {paths[path] for path in _moved("\n".join(action["commands"])) if path in paths}
    is_named = named or any(f"while {name} " in action["text"] for name in paths)
    return named | moved if is_named or moved else None


def _led(text: str, document: dict[str, Any]) -> set[str]:
    """The brokers that may lead by A5."""
    if text.startswith("every copy may lead"):
        return {str(each["brokerId"]) for each in document["replicas"]}
    return {n for numbers in _LED.findall(text) for n in re.findall(r"\d+", numbers)}


def _moved(text: str) -> Iterator[str]:
    """The folders that commands move, unless a merged log takes their place."""
    for path in re.findall(r"^ *mv '?([^\s']+)'? ", text, re.MULTILINE):
        root = re.escape(path.rpartition("/")[0])
        if not re.search(rf"^ *cp -a '?SAVED\S+ '?{root}/", text, re.MULTILINE):
            yield path


def _joined(text: str) -> str:
    """Commands in one line each."""
    return re.sub(r" \\\n +", " ", text)
