"""What Python shells see of the options."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import pytest

from kafkalog_reader.log import Log
from kafkalog_reader.tables.option_signature import lists_options
from kafkalog_reader.tables.options import ReadOptions


def test_signatures_list_the_options_that_apply() -> None:
    of_records = inspect.signature(Log.records).parameters
    assert {"columns", "progress", "topic", "from_offset", "isolation"} <= set(of_records)
    assert "as_of" not in of_records  # the state of an internal topic
    of_findings = inspect.signature(Log.verify).parameters
    assert {"threads", "topic", "deep"} <= set(of_findings)
    assert "from_offset" not in of_findings
    of_tables = set(inspect.signature(Log.table).parameters)
    assert set(get_type_hints(ReadOptions)) == of_tables - {"self", "name", "columns", "progress"}


def test_listed_options_may_be_left_out() -> None:
    bound = inspect.signature(Log.records).bind(None, topic="t")
    assert bound.arguments == {"self": None, "topic": "t"}


def test_a_method_without_options_is_refused() -> None:
    with pytest.raises(TypeError, match=r"takes no \*\*options"):
        lists_options()(lambda topic: topic)
