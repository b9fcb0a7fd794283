"""Findings about one replica or log directory: names, segments, indexes, payloads, checkpoints."""
