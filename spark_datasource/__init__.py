"""``spark.read.format("kafkalog")``: the tables of kafkalog_reader as Spark DataFrames."""

from spark_datasource.log_read import LogRead, read
from spark_datasource.source import KafkaLogDataSource

__all__ = ["KafkaLogDataSource", "LogRead", "read"]
