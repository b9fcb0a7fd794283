"""The tables that audits fill, and `kafkalog verify`."""
