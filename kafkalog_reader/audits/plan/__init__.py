"""Plans the starts and elections of a stopped cluster."""
