"""The Arrow types of decoded columns that are not plain numbers, texts or bytes."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

# Kafka counts milliseconds; Spark takes Arrow timestamps in UTC microseconds only.
TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
HEADERS: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
