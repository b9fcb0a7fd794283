"""Reads the files of one replica, batch by batch, for all audits."""
