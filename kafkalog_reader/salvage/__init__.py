"""What can still be read of damaged logs, written anew: Parquet, or logs that a broker loads."""
