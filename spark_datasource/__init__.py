"""``spark.read.format("kafkalog")``: the tables of kafkalog_reader as Spark DataFrames."""

from kafkalog_reader.errors import MissingPackageError

try:
    from spark_datasource.log_read import LogRead, read
    from spark_datasource.source import KafkaLogDataSource
    from spark_datasource.worker_log import log_as_spark
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "pyspark":
        raise
    raise MissingPackageError("pyspark", extra="spark") from error

__all__ = ["KafkaLogDataSource", "LogRead", "read"]

log_as_spark()
