"""Objects that Spark ships to Python workers, which may have no kafkalog or another version.

Spark pickles with cloudpickle, which copies the functions of modules registered by value. So the
check runs on a worker before anything of kafkalog is imported there, and can name what is missing.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark import cloudpickle
from pyspark.errors import PySparkRuntimeError

from kafkalog_reader import __version__

if TYPE_CHECKING:
    from collections.abc import Callable


class Shipped:
    """Has itself restored by ``restored``; its attributes must be plain values."""

    def __reduce__(self) -> tuple[Callable[[str, bytes], Any], tuple[str, bytes]]:
        return restored, (__version__, pickle.dumps((type(self), self.__dict__)))


def restored(driver_version: str, content: bytes) -> Any:  # noqa: ANN401  any Shipped
    """Return the pickled object, in a worker that may have no kafkalog.

    Args:
        driver_version: kafkalog's version where the object was pickled.
        content: the pickled class and attributes.

    Raises:
        PySparkRuntimeError: kafkalog cannot be imported here, or has another version.
    """
    try:
        # The module's own __version__ would be the driver's: cloudpickle copies globals.
        import kafkalog_reader

        version = kafkalog_reader.__version__
        if version == driver_version:
            kind, attributes = pickle.loads(content)  # noqa: S301  Spark unpickles it anyway
    except ImportError as error:
        _refuse("NOT_INSTALLED", f"cannot import kafkalog ({error})", driver_version)
    if version != driver_version:
        problem = f"has kafkalog {version}, but the driver has {driver_version}"
        _refuse("VERSION_MISMATCH", problem, driver_version)
    found = object.__new__(kind)
    found.__dict__.update(attributes)
    return found


def _refuse(condition: str, problem: str, driver_version: str) -> NoReturn:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    if main is not None and main.name.startswith("pyspark."):  # the worker ends with this error
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
    raise PySparkRuntimeError(
        message=f"{sys.executable} on {socket.gethostname()} {problem}. Install kafkalog "
        f"{driver_version} there, or set PYSPARK_PYTHON to a Python that has it",
        errorClass=f"KAFKALOG.{condition}",
        messageParameters={},
    ) from None


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
