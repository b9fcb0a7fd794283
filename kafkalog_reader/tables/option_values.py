"""Checks the values of options and converts them for a ``ReadRequest``."""

from __future__ import annotations

import logging
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final, SupportsIndex, cast

from kafkalog_reader.errors import OptionError
from kafkalog_reader.format.offset_limits import MAX_OFFSET
from kafkalog_reader.scan.damage import Mode
from kafkalog_reader.tables.as_of import AsOf
from kafkalog_reader.tables.names import nearest
from kafkalog_reader.tables.request import ISOLATION_LEVELS, TRUNCATION_RULES, Until

logger = logging.getLogger(__name__)

_SECONDS: Final = range(10**9, 10**10)
"""Seconds since 1970 in the years 2001 to 2286; as milliseconds they are in early 1970."""
_SIZE: Final = re.compile(r"([0-9]{1,15})\s*([kmgt]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
_SHIFTS: Final = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_REPLICA: Final = re.compile(r"all|best|broker:(0|[1-9][0-9]{0,9})")


@dataclass(frozen=True, slots=True)
class Kind:
    """What the values of an option are.

    Attributes:
        placeholder: for a value in help texts; empty for a flag.
        check: converts a Python value to the field's; called with the option's name.
        parse: does the same with text, for the terminal and Spark.
        is_repeatable: whether several values may be given.
    """

    placeholder: str
    check: Callable[[str, Any], Any]
    parse: Callable[[str, str], Any]
    is_repeatable: bool = False


def parse_mode(option: str, value: str) -> Mode:
    """The reading mode of that name, in any case.

    Raises:
        OptionError: there is no such value.
    """
    value = value.strip()
    names = [mode.value for mode in Mode]
    if value.upper() not in names:
        raise OptionError(
            option, f"{value!r} is not one of {', '.join(names)}{nearest(value, names)}"
        )
    return Mode(value.upper())


def parse_replica(option: str, value: str) -> str:
    """``all``, ``best`` or ``broker:N``.

    Raises:
        OptionError: any other value.
    """
    replica = value.strip().lower()
    if _REPLICA.fullmatch(replica) is None:
        raise OptionError(option, f"{value!r} is not one of all, best, broker:N")
    return replica


def parse_isolation(option: str, value: str) -> str:
    """``read_uncommitted`` or ``read_committed``.

    Raises:
        OptionError: it is neither.
    """
    level = value.strip()
    if level not in ISOLATION_LEVELS:
        raise OptionError(option, f"{value!r} is neither {' nor '.join(ISOLATION_LEVELS)}")
    return level


def parse_until(option: str, value: str) -> Until:
    """``logEnd``, ``highWatermark`` or ``lastStableOffset``; also written ``log-end``.

    Raises:
        OptionError: any other value.
    """
    names = {until.value.lower(): until for until in Until}
    name = value.strip().lower().replace("-", "").replace("_", "")
    if name not in names:
        there = [until.value for until in Until]
        raise OptionError(
            option, f"{value!r} is not one of {', '.join(there)}{nearest(value, there)}"
        )
    return names[name]


def parse_rule(option: str, value: str) -> str:
    """The truncation rule of that name.

    Raises:
        OptionError: there is no such value.
    """
    rule = value.strip().lower()
    if rule not in TRUNCATION_RULES:
        hint = nearest(rule, TRUNCATION_RULES)
        raise OptionError(option, f"{value!r} is not one of {', '.join(TRUNCATION_RULES)}{hint}")
    return rule


def timestamp_ms(value: date | str | int, option: str = "time") -> int:
    """Milliseconds since 1970 UTC of a datetime, ISO 8601 text (UTC unless it says) or a number.

    A date is its midnight. Of numpy's ``datetime64`` what is finer than microseconds is left out.

    Raises:
        OptionError: it is not a time.
    """
    if isinstance(value, str):
        if re.fullmatch(r"-?[0-9]{1,30}", value):
            return milliseconds(int(value))
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise _no_time(option, value) from None
    if isinstance(value, SupportsIndex):
        return milliseconds(_number(option, value))
    if type(value).__name__ == "datetime64":  # numpy need not be installed
        given, value = value, cast("Any", value).astype("datetime64[us]").item()
        if not isinstance(value, date):  # NaT, or a year above 9999
            raise _no_time(option, given)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise _no_time(option, value)
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    since = value - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def milliseconds(number: int) -> int:
    """The number, which is a time in milliseconds; a warning if it looks like one in seconds."""
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


def check_threads(value: object) -> int:
    """A number of threads.

    Raises:
        OptionError: it is not a whole number of 1 or more.
    """
    return _positive("threads", value)


def check_progress(value: object) -> None:
    """Refuse what cannot be called with a number of bytes.

    Raises:
        OptionError: it is not a function.
    """
    if not callable(value):
        raise OptionError("progress", f"{value!r} is not a function of the number of bytes read")


def _texts(name: str, value: str | Iterable[str]) -> frozenset[str]:
    """A string or several."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, Iterable):
        raise OptionError(name, f"{value!r} is not text")
    return frozenset(_text(name, each) for each in values)


def _numbers(name: str, value: SupportsIndex | Iterable[SupportsIndex]) -> frozenset[int]:
    """One number or several; text is refused, even digits."""
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


def _size(name: str, value: object) -> int:
    if isinstance(value, str):
        return parse_size(name, value)
    return _positive(name, value)


def parse_size(name: str, text: str) -> int:
    """A number of bytes: 4096, 64k, 50MB, 1GiB; k, m, g and t are powers of 1024.

    Raises:
        OptionError: it is something else, or 0.
    """
    size = _SIZE.fullmatch(text.strip())
    if size is None or int(size[1]) == 0:
        raise OptionError(name, f"{text!r} is not a size: write 50MB, 64m or a number of bytes")
    return int(size[1]) << _SHIFTS[size[2].lower()]


def parse_flag(name: str, text: str) -> bool:
    """``true`` or ``false``, in any case.

    Raises:
        OptionError: it is neither.
    """
    value = text.strip().lower()
    if value not in ("true", "false"):
        raise OptionError(name, f"{text!r} is neither true nor false")
    return value == "true"


def parse_count(name: str, text: str) -> int:
    """A number of 0 or more.

    Raises:
        OptionError: it is something else.
    """
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit()) or int(digits[:20]) > MAX_OFFSET:
        raise OptionError(name, f"{text!r} is not a number of 0 or more")
    return int(digits)


def _parse_offset(name: str, text: str) -> int:
    return _offset(name, parse_count(name, text))


def _parse_texts(name: str, text: str) -> frozenset[str]:
    found = frozenset(each.strip() for each in text.split(",")) - {""}
    if not found:
        raise OptionError(name, f"{text!r} names nothing")
    return found


def _parse_numbers(name: str, text: str) -> frozenset[int]:
    return frozenset(parse_count(name, each) for each in text.split(","))


def _named(parse: Callable[[str, str], Any]) -> Callable[[str, Any], Any]:
    """The check of a Python value that must be text."""
    return lambda name, value: parse(name, _text(name, value))


def _parse_time(name: str, text: str) -> int:
    return timestamp_ms(text.strip(), name)


def parse_as_of(name: str, text: str) -> AsOf:
    """``offset:N`` or a time.

    Raises:
        OptionError: it is neither.
    """
    kind, colon, number = text.strip().partition(":")
    if colon and kind.strip().lower() == "offset":
        return AsOf(offset=_parse_offset(name, number))
    try:
        return AsOf(timestamp=_parse_time(name, text))
    except OptionError as error:
        raise OptionError(name, f"{error.problem}, or offset:1234") from None


def _as_of(name: str, value: object) -> AsOf:
    if isinstance(value, AsOf):
        return value
    if isinstance(value, str):
        return parse_as_of(name, value)
    return AsOf(timestamp=timestamp_ms(cast("date | int", value), name))


def _until(name: str, value: object) -> Until:
    return value if isinstance(value, Until) else parse_until(name, _text(name, value))


def _mode(name: str, value: object) -> Mode:
    return value if isinstance(value, Mode) else parse_mode(name, _text(name, value))


TEXTS: Final = Kind("NAME", _texts, _parse_texts, is_repeatable=True)
NUMBERS: Final = Kind("N", _numbers, _parse_numbers, is_repeatable=True)
OFFSET: Final = Kind("OFFSET", _offset, _parse_offset)
COUNT: Final = Kind("N", _count, parse_count)
SIZE: Final = Kind("BYTES", _size, parse_size)
FLAG: Final = Kind("", _flag, parse_flag)
TIME: Final = Kind("TIME", lambda name, value: timestamp_ms(value, name), _parse_time)
AS_OF: Final = Kind("TIME|offset:N", _as_of, parse_as_of)
MODE: Final = Kind("MODE", _mode, parse_mode)
REPLICA: Final = Kind("REPLICA", _named(parse_replica), parse_replica)
ISOLATION: Final = Kind("LEVEL", _named(parse_isolation), parse_isolation)
UNTIL: Final = Kind("END", _until, parse_until)
RULE: Final = Kind("RULE", _named(parse_rule), parse_rule)
