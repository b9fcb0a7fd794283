"""A stream that Spark may create, and whose first call is the error.

The worker that creates a stream reader stops it in the end, also if there is none: an error of
``streamReader`` then becomes an UnboundLocalError, which says nothing. Source: PySpark 4.0 to 4.3,
python_streaming_source_runner.main.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from spark_datasource.stream import KafkaLogStreamReader

if TYPE_CHECKING:
    from spark_datasource.errors import KafkaLogSourceError


class RefusedStreamReader(KafkaLogStreamReader):
    """Raises one error, whatever Spark asks."""

    def __init__(self, error: KafkaLogSourceError) -> None:
        self._error = error

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:  # noqa: ANN401  Spark's
        raise self._error

    initialOffset = latestOffset = partitions = _refuse  # noqa: N815  Spark's names
    prepareForTriggerAvailableNow = reportLatestOffset = _refuse  # noqa: N815
    getDefaultReadLimit = _refuse  # noqa: N815
