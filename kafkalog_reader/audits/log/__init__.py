"""What the files of one replica hold, batch by batch, for all audits."""
