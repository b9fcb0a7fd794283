"""Java's names for sets of characters, limited to ASCII, because topic names are ASCII.

Source: ``java.util.regex.Pattern``.
"""

from __future__ import annotations

import re
import string
import unicodedata
from typing import Final

_ASCII: Final = "".join(map(chr, range(128)))
_CATEGORIES: Final = {character: unicodedata.category(character) for character in _ASCII}
_POSIX: Final = {
    "Lower": string.ascii_lowercase,
    "Upper": string.ascii_uppercase,
    "ASCII": _ASCII,
    "Alpha": string.ascii_letters,
    "Digit": string.digits,
    "Alnum": string.ascii_letters + string.digits,
    "Punct": string.punctuation,
    "Graph": string.ascii_letters + string.digits + string.punctuation,
    "Print": string.ascii_letters + string.digits + string.punctuation + " ",
    "Blank": " \t",
    "Cntrl": "".join(map(chr, [*range(32), 127])),
    "XDigit": string.hexdigits,
    "Space": string.whitespace,
    "javaLowerCase": string.ascii_lowercase,
    "javaUpperCase": string.ascii_uppercase,
}
# Without regard to case, and only after `Is`: binary properties of Unicode.
_BINARY: Final = {
    "alphabetic": string.ascii_letters,
    "letter": string.ascii_letters,
    "lowercase": string.ascii_lowercase,
    "uppercase": string.ascii_uppercase,
    "digit": string.digits,
}
_CATEGORY: Final = re.compile(
    r"(?:Is|(?:general_category|gc)=)?(C[cfnos]?|L[mlotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)"
)
_SHORTHANDS: Final = {"h": " \t", "v": "\n\x0b\f\r"}


def characters_of(property_name: str) -> str | None:
    r"""The ASCII characters of ``\p{property_name}``; None where it is not known here."""
    if property_name in _POSIX:
        return _POSIX[property_name]
    if (category := _CATEGORY.fullmatch(property_name)) is not None:
        return "".join(c for c in _ASCII if _CATEGORIES[c].startswith(category[1]))
    return _BINARY.get(property_name[2:].lower()) if property_name.startswith("Is") else None


def shorthand(letter: str) -> str | None:
    r"""The ASCII characters of ``\h`` and ``\v``, which Python does not have; else None."""
    return _SHORTHANDS.get(letter)


def complement(characters: str) -> str:
    """The other ASCII characters."""
    return "".join(character for character in _ASCII if character not in characters)


def as_set(characters: str) -> str:
    """Text between the brackets of a Python character class."""
    return "".join(map(escaped, characters))


def escaped(character: str) -> str:
    """One character as a literal, inside a class and outside."""
    if character.isalnum() or not character.isascii():
        return character
    return f"\\x{ord(character):02x}"
