"""What Spark looks for: a module ``pyspark_*`` with ``DefaultSource`` needs no register call."""

from spark_datasource.source import KafkaLogDataSource as DefaultSource

__all__ = ["DefaultSource"]
