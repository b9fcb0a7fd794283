"""Calls to an object store: one connection for each process, tried again for a while.

``pyarrow`` itself tries again what S3, GCS and Azure answer with 5xx, and ends calls that get no
bytes. Here is what it leaves: other errors on the way, and a limit on the time of all attempts.
"""

from __future__ import annotations

import logging
import os
import pickle
import random
import re
import threading
import time
from typing import TYPE_CHECKING, Final

from kafkalog_reader.errors import LogLayoutError, LogPosition, UnreadableFileError, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from pyarrow.fs import FileSystem

    Result = TypeVar("Result")

logger = logging.getLogger(__name__)

PATIENCE_SECONDS: Final = 20.0
"""No further attempt begins after this time."""
_ATTEMPTS: Final = 5
_LONGEST_MESSAGE: Final = 300
_PERMANENT: Final = re.compile(
    r"ACCESS_DENIED|NO_SUCH_|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT_MATCH|EXPIRED_TOKEN"
    r"|INVALID_CLIENT_TOKEN|HTTP status 40[0134]|40[134] [A-Z]|PERMISSION_DENIED|UNAUTHENTICATED"
    r"|AuthenticationException"
)
_GOOGLE: Final = re.compile(r"gs://[^?]*")
_GOOGLE_SECONDS: Final = 10
"""For the attempts of Google's library, which otherwise tries for 15 minutes."""
_NOISE: Final = re.compile(r"^Unknown error: | error_info=\{.*|\bN\d+Azure\w+E: ")
"""What the libraries of Google and Azure add for themselves."""
_connections: dict[tuple[int, str], tuple[FileSystem, str]] = {}
_connecting: Final = threading.Lock()


def connected(uri: str) -> tuple[FileSystem, str]:
    """The file system of a URI, and the path that the URI names in it.

    Raises:
        LogLayoutError: pyarrow does not read such a URI.
        UnreadableFileError: it cannot connect.
    """
    with _connecting:
        key = (os.getpid(), uri)  # a connection does not survive a fork
        if key not in _connections:
            _connections[key] = _connect(uri)
        return _connections[key]


def _connect(uri: str) -> tuple[FileSystem, str]:
    import pyarrow as pa
    from pyarrow import fs

    address = uri
    if _GOOGLE.match(uri) and "retry_limit_seconds=" not in uri:
        address += f"{'&' if '?' in uri else '?'}retry_limit_seconds={_GOOGLE_SECONDS}"
    try:
        found, path = fs.FileSystem.from_uri(address)
        if isinstance(found, fs.S3FileSystem):
            # The copy is made by the constructor, which has a request tried 3 times, and not about
            # 30 times; so a server that is silent is an error after seconds, not minutes.
            found = pickle.loads(pickle.dumps(found))  # noqa: S301  just written
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise LogLayoutError(
            f"{shown(uri)}: neither a local path nor a store that pyarrow reads: {reason(error)}"
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise UnreadableFileError(reason(error), LogPosition(shown(uri))) from error
    return found, path


def reason(error: BaseException) -> str:
    """The message of an error of pyarrow on one line, without passwords and keys."""
    text = _NOISE.sub("", " ".join(str(error).split())).removesuffix(":")
    return shown(text)[:_LONGEST_MESSAGE] or type(error).__name__


def tried(call: Callable[[], Result], what: str, position: int | None = None) -> Result:
    """What a call to the store returns; it is repeated after errors that may pass.

    Args:
        call: raises OSError or ArrowException if it fails.
        what: the URI, for messages.
        position: the byte that it reads, for messages.

    Raises:
        UnreadableFileError: it failed for good, or as often as is tried.
    """
    from pyarrow import ArrowException

    started = time.monotonic()
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return call()
        except (OSError, ArrowException) as error:  # Azure's credentials raise the second
            seconds = time.monotonic() - started
            is_permanent = isinstance(error, FileNotFoundError | PermissionError)
            is_permanent |= _PERMANENT.search(str(error)) is not None
            where = LogPosition(what, position)
            if is_permanent:
                raise UnreadableFileError(reason(error), where) from error
            if attempt == _ATTEMPTS or seconds > PATIENCE_SECONDS:
                problem = f"{reason(error)}; given up after {attempt} attempts in {seconds:.0f} s"
                raise UnreadableFileError(problem, where) from error
            logger.warning("%s: %s; tried again", where, reason(error))
            time.sleep(random.uniform(0.5, 1) * 0.1 * 2**attempt)  # noqa: S311  no secret
    raise AssertionError("the last attempt returns or raises")
