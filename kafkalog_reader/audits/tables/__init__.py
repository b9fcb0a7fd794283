"""The tables of audits, and `kafkalog verify`."""
