"""JSON Schemas of what commands print with ``--format json``, a module a kind of output."""
