"""What the next start of a broker does with each replica."""
