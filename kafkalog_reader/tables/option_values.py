"""The values that callers give to options, checked and turned into those of a ``ReadRequest``."""

from __future__ import annotations

import logging
import operator
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final, SupportsIndex

from kafkalog_reader.errors import OptionError
from kafkalog_reader.io.names import MAX_OFFSET
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.request import ISOLATION_LEVELS, TRUNCATION_RULES, Mode

logger = logging.getLogger(__name__)

_SECONDS: Final = range(10**9, 10**10)
"""Seconds since 1970 of the years 2001 to 2286; as milliseconds they lie in the spring of 1970."""
REPLICA: Final = re.compile(r"all|best|broker:(0|[1-9][0-9]{0,9})")


def checked(name: str, value: Any) -> Any:  # noqa: ANN401  what a caller said
    """The value of an option as its field of ``ReadRequest`` has it.

    Raises:
        OptionError: it is of another type or makes no sense.
    """
    check = _CHECKS.get(name)
    return value if check is None else check(name, value)


def parse_mode(value: str | Mode, option: str = "mode") -> Mode:
    """The reading mode of that name, in any case.

    Raises:
        OptionError: there is none.
    """
    if isinstance(value, Mode):
        return value
    names = [mode.value for mode in Mode]
    if value.upper() not in names:
        raise OptionError(option, f"{value!r} is none of {', '.join(names)}{nearest(value, names)}")
    return Mode(value.upper())


def parse_replica(value: str, option: str = "replica") -> str:
    """``all``, ``best`` or ``broker:N``.

    Raises:
        OptionError: it is none of them.
    """
    replica = value.strip().lower()
    if REPLICA.fullmatch(replica) is None:
        raise OptionError(option, f"{value!r} is none of all, best, broker:N")
    return replica


def parse_isolation(value: str, option: str = "isolation") -> str:
    """``read_uncommitted`` or ``read_committed``.

    Raises:
        OptionError: it is neither.
    """
    level = value.strip().lower()
    if level not in ISOLATION_LEVELS:
        raise OptionError(option, f"{value!r} is neither {' nor '.join(ISOLATION_LEVELS)}")
    return level


def parse_rule(value: str, option: str = "rule") -> str:
    """The truncation rule of that name.

    Raises:
        OptionError: there is none.
    """
    rule = value.strip().lower()
    if rule not in TRUNCATION_RULES:
        hint = nearest(rule, TRUNCATION_RULES)
        raise OptionError(option, f"{value!r} is none of {', '.join(TRUNCATION_RULES)}{hint}")
    return rule


def timestamp_ms(value: datetime | str | int, option: str = "time") -> int:
    """Milliseconds since 1970 UTC of a datetime, ISO 8601 text (UTC unless it says) or a number.

    Raises:
        OptionError: it is not a time.
    """
    if isinstance(value, str):
        if re.fullmatch(r"-?[0-9]{1,30}", value):
            return _milliseconds(int(value))
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise _no_time(option, value) from None
    if isinstance(value, SupportsIndex):
        return _milliseconds(_number(option, value))
    if not isinstance(value, datetime):
        raise _no_time(option, value)
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    since = value - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def _milliseconds(number: int) -> int:
    if number in _SECONDS:
        moment = datetime.fromtimestamp(number / 1000, UTC)
        logger.warning(
            "%d is a time of %s in milliseconds; if these are seconds, write %d000",
            number, f"{moment:%Y-%m-%d}", number,
        )  # fmt: skip
    return number


def _no_time(option: str, value: object) -> OptionError:
    return OptionError(
        option, f"{value!r} is not a time: write ISO 8601 (2026-11-21T06:00:00Z) or milliseconds"
    )


def _texts(name: str, value: str | Iterable[str]) -> frozenset[str]:
    """One text or several."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, Iterable):
        raise OptionError(name, f"{value!r} is not text")
    return frozenset(_text(name, each) for each in values)


def _numbers(name: str, value: SupportsIndex | Iterable[SupportsIndex]) -> frozenset[int]:
    """One number or several; digits in a text are none."""
    values = value if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    return frozenset(_number(name, each) for each in values)


def _number(name: str, value: object) -> int:
    """A whole number, numpy's too."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise OptionError(name, f"{value!r} is not a whole number")
    return operator.index(value)


def _count(name: str, value: object) -> int:
    number = _number(name, value)
    if number < 0:
        raise OptionError(name, f"{number} is negative")
    return number


def _offset(name: str, value: object) -> int:
    if (offset := _count(name, value)) > MAX_OFFSET:
        raise OptionError(name, f"{offset} is not an offset: the largest is {MAX_OFFSET}")
    return offset


def _positive(name: str, value: object) -> int:
    if (number := _count(name, value)) == 0:
        raise OptionError(name, "0 is too few")
    return number


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise OptionError(name, f"{value!r} is neither True nor False")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise OptionError(name, f"{value!r} is not text")
    return value


_CHECKS: Final[dict[str, Callable[[str, Any], Any]]] = {
    "topic": _texts,
    "partition": _numbers,
    "broker": _numbers,
    "from_offset": _offset,
    "to_offset": _offset,
    "from_time": lambda name, value: timestamp_ms(value, name),
    "to_time": lambda name, value: timestamp_ms(value, name),
    "started_at": lambda name, value: timestamp_ms(value, name),
    "limit": _count,
    "mode": lambda name, value: parse_mode(
        value if isinstance(value, Mode) else _text(name, value), name
    ),
    "replica": lambda name, value: parse_replica(_text(name, value), name),
    "rule": lambda name, value: parse_rule(_text(name, value), name),
    "isolation": lambda name, value: parse_isolation(_text(name, value), name),
    "last": _count,
    "include_control_records": _flag,
    "log_range_only": _flag,
    "deep": _flag,
    "max_partition_bytes": _positive,
    "max_batch_bytes": _positive,
}
