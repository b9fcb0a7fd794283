"""Every Arrow schema, column by column, with units and meanings.

Spark's schema, the documented columns and empty results derive from these. Spark's types decide:
nothing unsigned (a CRC is an int64), no dictionaries, timestamps in UTC microseconds.
"""
