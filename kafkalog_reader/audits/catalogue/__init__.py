"""Every finding code as data: one rule a code, declared once."""
