"""Audits one partition with all its replicas, and finds what needs more than one of them."""
