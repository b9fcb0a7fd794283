"""Speed as ratios against peers measured in the same run: ``python -m benchmarks``."""
