"""Compares the replicas of one partition: where they diverge, what was committed, the verdict."""
