"""From the bytes of segments to record batches as columns, and to the regions that hold none."""
