"""``__all__`` lists the API, and everything in it can be imported."""

from __future__ import annotations

import inspect

import kafkalog_reader
from kafkalog_reader import errors


def test_every_exported_name_can_be_imported() -> None:
    assert set(kafkalog_reader.__all__) <= set(dir(kafkalog_reader))
    missing = [name for name in kafkalog_reader.__all__ if not hasattr(kafkalog_reader, name)]
    assert missing == []


def test_every_public_error_is_exported() -> None:
    public = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and value.__module__ == errors.__name__
    } - {"LocatedError"}
    assert public <= set(kafkalog_reader.__all__)
