"""Signatures that list the options, for ``help`` and the completion of shells and notebooks.

Type checkers take the options from ``Unpack[ReadOptions]``; at run time nothing else does.
"""

import inspect
from collections.abc import Callable
from typing import TypeVar

from kafkalog_reader.tables.options import OPTIONS

Method = TypeVar("Method", bound=Callable[..., object])


def lists_options(table: str | None = None) -> Callable[[Method], Method]:
    """A decorator: the method's ``**options`` are shown as keywords, which default to None.

    Args:
        table: only options of this table; None is all.
    """

    def decorated(method: Method) -> Method:
        signature = inspect.signature(method)
        *named, options = signature.parameters.values()
        if options.kind is not inspect.Parameter.VAR_KEYWORD:
            raise TypeError(f"{method.__qualname__} takes no **options")
        taken = {each.name for each in named}
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
            for name, option in OPTIONS.items()
            if name not in taken and (table is None or option.applies_to(table))
        ]
        shown = signature.replace(parameters=[*named, *keywords])
        method.__signature__ = shown  # type: ignore[attr-defined]  # what inspect looks for
        return method

    return decorated
