"""Checks one replica or log directory: names, segments, indexes, payloads, checkpoints."""
