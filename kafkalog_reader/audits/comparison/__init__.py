"""Replicas of one partition side by side: where they part, what was committed, the verdict."""
