"""What happens if a candidate is elected: truncation of each follower, records lost, rank."""
