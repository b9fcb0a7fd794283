"""Writes what can still be read of damaged logs: as Parquet, or logs that a broker loads."""
