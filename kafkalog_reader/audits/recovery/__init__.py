"""Predicts what the next start of a broker does to each replica."""
