"""One partition with all its replicas audited, and the findings that need more than one."""
