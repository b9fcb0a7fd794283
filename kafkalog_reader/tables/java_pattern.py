"""Regular expressions as Java writes them: those of Spark's ``subscribePattern``.

Spark's Kafka source compiles the pattern with ``java.util.regex`` and reads each topic whose name
contains a match (``SubscribePatternStrategy``: ``topicRegex.findFirstIn``). Names of topics are
ASCII without line breaks, so most of Java's grammar has an exact equivalent in Python. The rest is
refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NoReturn

from kafkalog_reader.errors import UsageError
from kafkalog_reader.tables.java_classes import (
    as_set,
    characters_of,
    complement,
    escaped,
    shorthand,
)

_QUOTED: Final = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
"""Quoted text; or what is escaped outside of it, so that a backslash before Q is no quote."""
_SAME: Final = frozenset("dDwWsSbBA")
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_CODES: Final = re.compile(
    r"x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|0([0-3][0-7]{2}|[0-7]{1,2})"
)
_PROPERTY: Final = re.compile(r"[pP](?:\{([^{}]*)\}|(.))")
_REFERENCE: Final = re.compile(r"k<([a-zA-Z][a-zA-Z0-9]*)>")
_COUNT: Final = re.compile(r"\{[0-9]{1,9}(?:,[0-9]{0,9})?\}")
_OPENING: Final = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|<([a-zA-Z][a-zA-Z0-9]*)>))?")
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
_IDLE_FLAGS: Final = frozenset("dms")
"""About line breaks, which no topic name holds."""


@lru_cache(maxsize=16)
def java_pattern(pattern: str) -> re.Pattern[str]:
    """The same expression for Python's ``search`` in ASCII text without line breaks.

    Raises:
        UsageError: Java refuses the pattern too, or no expression of Python's means the same.
    """
    try:
        return re.compile(_Translation(pattern).text(), re.ASCII)
    except re.error as error:
        raise UsageError(f"{pattern}: {error.msg}") from None
    except (OverflowError, RecursionError) as error:
        raise UsageError(f"{pattern}: {error}") from None


def _unquoted(pattern: str) -> str:
    r"""The pattern with the text between ``\Q`` and ``\E`` escaped instead, as Java does."""
    return _QUOTED.sub(_requoted, pattern)


def _requoted(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    return "".join(
        f"\\x3{c}" if c.isascii() and c.isdigit() else c if c.isalpha() else f"\\{c}"
        for c in found[1]
    )


def _class_of(characters: str, *, is_negated: bool) -> str:
    if not characters:  # nothing that is in ASCII
        return r"[\x00-\x7f]" if is_negated else "(?!)"
    return f"[{'^' * is_negated}{characters}]"


class _Translation:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self._given = pattern
        self._pattern = _unquoted(pattern)
        self._at = 0
        self._out: list[str] = []
        self._groups = 0
        # of each open group: what `(?i)` in it opened, to be closed where the group or branch ends
        self._scopes: list[list[str]] = [[]]
        self._can_repeat = False

    def text(self) -> str:
        while self._at < len(self._pattern):
            self._step()
        if len(self._scopes) > 1:
            self._refuse("a group is not closed")
        self._out.append(")" * len(self._scopes[0]))
        return "".join(self._out)

    def _step(self) -> None:
        character = self._pattern[self._at]
        if character in "*+?{":
            self._quantifier()
        elif character == "\\":
            self._escape()
        elif character == "[":
            self._class()
        elif character == "(":
            self._open()
        elif character == ")":
            self._close()
        elif character == "|":
            scopes = self._scopes[-1]
            self._emit(")" * len(scopes) + "|" + "".join(scopes), 1, can_repeat=False)
        elif character in ".^$":
            self._emit(character, 1, can_repeat=character == ".")
        else:
            self._emit(escaped(character), 1)

    def _emit(self, text: str, consumed: int, *, can_repeat: bool = True) -> None:
        self._out.append(text)
        self._at += consumed
        self._can_repeat = can_repeat

    def _quantifier(self) -> None:
        pattern = self._pattern
        if not self._can_repeat:
            self._refuse(f"nothing to repeat before {pattern[self._at]!r}")
        quantifier = pattern[self._at]
        if quantifier == "{":
            counted = _COUNT.match(pattern, self._at)
            if counted is None:
                self._refuse("write a count as {n}, {n,} or {n,m}, and a brace as \\{")
            quantifier = counted[0]
        if pattern[self._at + len(quantifier) :][:1] in ("?", "+"):
            quantifier += pattern[self._at + len(quantifier)]
        self._emit(quantifier, len(quantifier), can_repeat=False)

    def _open(self) -> None:
        pattern = self._pattern
        flags = _FLAGS.match(pattern, self._at)
        if flags is not None and flags[0] != "(?:":
            self._flags(flags)
            return
        opening = _OPENING.match(pattern, self._at)
        assert opening is not None  # a lone bracket matches
        if pattern[opening.end() :][:1] == "?":
            self._refuse("an unknown kind of group")
        text = opening[0]
        if opening[1] is not None:
            text = f"(?P<{opening[1]}>"
        if text == "(" or opening[1] is not None:
            self._groups += 1
        self._emit(text, len(opening[0]), can_repeat=False)
        self._scopes.append([])

    def _flags(self, flags: re.Match[str]) -> None:
        on, off = flags[1], flags[2] or ""
        for flag in on + off:
            if flag not in _IDLE_FLAGS and flag != "i":
                self._refuse(f"the flag {flag!r} of {flags[0]} is not supported, only i is")
        is_group = flags[3] == ":"
        opened = "(?-i:" if "i" in off else "(?i:" if "i" in on else "(?:"
        self._emit(opened, len(flags[0]), can_repeat=False)
        if is_group:
            self._scopes.append([])
        else:
            self._scopes[-1].append(opened)

    def _close(self) -> None:
        if len(self._scopes) == 1:
            self._refuse("a group is closed but was not opened")
        self._emit(")" * (len(self._scopes.pop()) + 1), 1)

    def _escape(self) -> None:
        pattern = self._pattern
        following = pattern[self._at + 1 : self._at + 2]
        if following in _SAME:
            self._emit("\\" + following, 2, can_repeat=following not in "bBA")
        elif following in ("Z", "z"):
            self._emit(r"\Z", 2, can_repeat=False)
        elif following == "R":
            self._emit(r"(?:\r\n|[\n\x0b\f\r])", 2)
        elif following == "k":
            self._named_reference()
        elif following.isdigit() and following != "0":
            self._reference()
        elif (found := self._set_escape()) is not None:
            characters, is_negated = found
            self._out.append(_class_of(as_set(characters), is_negated=is_negated))
            self._can_repeat = True
        else:
            self._out.append(escaped(self._character_escape()))
            self._can_repeat = True

    def _named_reference(self) -> None:
        reference = _REFERENCE.match(self._pattern, self._at + 1)
        if reference is None:
            self._refuse("write a reference to a group as \\k<name>")
        self._emit(f"(?P={reference[1]})", 1 + len(reference[0]))

    def _reference(self) -> None:
        """A number takes further digits while there are as many groups, as in Java."""
        number, stop = int(self._pattern[self._at + 1]), self._at + 2
        if number > self._groups:
            self._refuse(f"there is no group {number} before \\{number}")
        while (digit := self._pattern[stop : stop + 1]).isdigit():
            if number * 10 + int(digit) > self._groups:
                break
            number, stop = number * 10 + int(digit), stop + 1
        self._emit(f"(?:\\{number})", stop - self._at)

    def _set_escape(self) -> tuple[str, bool] | None:
        r"""The characters of ``\p{…}``, ``\h`` or ``\v``, and whether all others are meant."""
        following = self._pattern[self._at + 1 : self._at + 2]
        if (characters := shorthand(following.lower())) is not None:
            self._at += 2
            return characters, following.isupper()
        found = _PROPERTY.match(self._pattern, self._at + 1)
        if found is None:
            return None
        name = found[1] if found[1] is not None else found[2]
        characters = characters_of(name)
        if characters is None:
            self._refuse(f"the property \\p{{{name}}} is not supported")
        self._at += 1 + len(found[0])
        return characters, following == "P"

    def _character_escape(self) -> str:
        following = self._pattern[self._at + 1 : self._at + 2]
        code = _CODES.match(self._pattern, self._at + 1)
        if code is not None:
            number = int(code[4], 8) if code[4] else int(code[1] or code[2] or code[3], 16)
            if number > 0x10FFFF:
                self._refuse(f"\\{code[0]} is not a character")
            self._at += 1 + len(code[0])
            return chr(number)
        if following == "c" and len(self._pattern) > self._at + 2:
            self._at += 3
            return chr(ord(self._pattern[self._at - 1]) ^ 64)
        if not following:
            self._refuse("it ends with a backslash")
        if following in _CONTROLS or not (following.isascii() and following.isalnum()):
            self._at += 2
            return _CONTROLS.get(following, following)
        return self._refuse(f"\\{following} is not supported")

    def _class(self) -> None:
        pattern = self._pattern
        self._at += 1
        is_negated = pattern.startswith("^", self._at)
        self._at += is_negated
        out: list[str] = []
        while True:
            character = pattern[self._at : self._at + 1]
            if not character:
                self._refuse("a character class is not closed")
            if character == "]" and out:
                break
            if character == "[":
                self._refuse("a class inside a class means something else in Python: list all "
                             "characters in one class")  # fmt: skip
            if pattern.startswith("&&", self._at):
                self._refuse("&& (what two classes share) means something else in Python: list "
                             "the characters in one class")  # fmt: skip
            out.append(self._class_item())
        self._emit(_class_of("".join(out), is_negated=is_negated), 1)

    def _class_item(self) -> str:
        """A set of characters, one character, or a range from one to another."""
        if (characters := self._class_set()) is not None:
            return characters
        first = self._class_character()
        following = self._pattern[self._at + 1 : self._at + 2]
        if self._pattern[self._at : self._at + 1] != "-" or following in ("", "[", "]"):
            return escaped(first)
        self._at += 1
        if self._class_set() is not None:
            self._refuse("a range of characters ends with a set of characters")
        return f"{escaped(first)}-{escaped(self._class_character())}"

    def _class_set(self) -> str | None:
        if self._pattern[self._at] != "\\":
            return None
        following = self._pattern[self._at + 1 : self._at + 2]
        if following and following in "dDwWsS":
            self._at += 2
            return "\\" + following
        if (found := self._set_escape()) is None:
            return None
        characters, is_negated = found
        return as_set(complement(characters) if is_negated else characters)

    def _class_character(self) -> str:
        character = self._pattern[self._at]
        if character == "\\":
            return self._character_escape()
        self._at += 1
        return character

    def _refuse(self, problem: str) -> NoReturn:
        raise UsageError(f"{self._given}: {problem}")
