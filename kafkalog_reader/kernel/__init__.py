"""How millions are decoded: buffer in, columns out; no files, no Arrow.

``*_cy.py`` is Cython in pure Python mode, compiled when the package is installed; Python itself
prefers the built extension to the source beside it. Interpreted, ``cython.cimports`` must lead to
the Python twins of what C provides, which is all that is arranged here.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import Final

from kafkalog_reader.errors import OutdatedKernelError
from kafkalog_reader.format import batch_fields
from kafkalog_reader.kernel import codes, primitives
from kafkalog_reader.kernel.build import rebuild_advice

for _twin in (batch_fields, codes, primitives):
    sys.modules.setdefault(f"cython.cimports.{_twin.__name__}", _twin)

SHARED: Final = (
    "message_fields", "payload_shapes", "record_batches", "record_columns", "records",
)  # fmt: skip
"""Modules that other modules of the kernel ``cimport``, each after those that it needs."""
try:
    for _name in SHARED:
        _module = import_module(f"{__name__}.{_name}_cy")
        sys.modules.setdefault(f"cython.cimports.{_module.__name__}", _module)

    from kafkalog_reader.kernel import batch_search_cy as batch_search
    from kafkalog_reader.kernel import checksums_cy as checksums
    from kafkalog_reader.kernel import message_fields_cy as message_fields
    from kafkalog_reader.kernel import messages_cy as messages
    from kafkalog_reader.kernel import payload_shapes_cy as payload_shapes
    from kafkalog_reader.kernel import record_batches_cy as record_batches
    from kafkalog_reader.kernel import record_columns_cy as record_columns
    from kafkalog_reader.kernel import records_cy as records
    from kafkalog_reader.kernel import repeats_cy as repeats
    from kafkalog_reader.kernel import sound_batches_cy as sound_batches
    from kafkalog_reader.kernel import uncompressed_batches_cy as uncompressed_batches
    from kafkalog_reader.kernel.record_batches_cy import is_compiled
except (ImportError, AttributeError, TypeError, ValueError) as error:  # Cython's for what changed
    if (_advice := rebuild_advice()) is None:
        raise
    raise OutdatedKernelError(_advice) from error

__all__ = [
    "SHARED", "batch_search", "checksums", "codes", "is_compiled", "message_fields", "messages",
    "payload_shapes", "record_batches", "record_columns", "records", "repeats",
    "sound_batches", "uncompressed_batches",
]  # fmt: skip

if not is_compiled():
    logging.getLogger(__name__).warning(
        "the decoding kernel runs interpreted, a hundred times slower: reinstall with a C compiler"
    )
