"""What to do with a stopped cluster: brokers start as a whole, elections are per partition."""
