"""Simulates elections: the truncation of each follower, the records lost, the rank."""
