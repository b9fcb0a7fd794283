"""Kafka's own messages in internal topics: their definitions, and a decoder that follows them."""
