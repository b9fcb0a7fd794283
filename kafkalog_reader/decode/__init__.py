"""From record batches to the columns of their records: codecs, old messages, Arrow arrays."""
