"""Files of ``java.util.Properties``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.builder.small_files import (
    build_java_properties,
)
from kafkalog_reader.errors import LogPosition
from kafkalog_reader.format.java_properties import parse_java_properties

WHERE = LogPosition("file")


@pytest.mark.parametrize(
    ("text", "properties"),
    [  # as documented for java.util.Properties#load
        ("Truth = Beauty", {"Truth": "Beauty"}),
        (" Truth:Beauty", {"Truth": "Beauty"}),
        ("Truth\t:Beauty ", {"Truth": "Beauty "}),
        ("fruits   apple, \\\n     pear, \\\n     fig", {"fruits": "apple, pear, fig"}),
        ("cheeses", {"cheeses": ""}),
        ("a\\=b\\:c\\ d=e=f", {"a=b:c d": "e=f"}),
        ("# no\n ! no\n\n  \nk=#v", {"k": "#v"}),
        ("k=\\u00e4\\t\\q\\\\", {"k": "ä\tq\\"}),
        ("k=1\nk=2", {"k": "2"}),
        ("k=v\\", {"k": "v"}),
        ("k=v\\\\\nl=w", {"k": "v\\", "l": "w"}),
        ("k=\xe4\r\nl=\xff\rm=", {"k": "ä", "l": "ÿ", "m": ""}),
    ],
)
def test_java_properties_are_read_as_java_reads_them(text: str, properties: dict[str, str]) -> None:
    assert parse_java_properties(text.encode("iso-8859-1"), WHERE) == properties


@given(
    properties=st.dictionaries(
        st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), min_size=1),
        st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])),
    )
)
def test_any_properties_come_back(properties: dict[str, str]) -> None:
    assert parse_java_properties(build_java_properties(properties), WHERE) == properties
