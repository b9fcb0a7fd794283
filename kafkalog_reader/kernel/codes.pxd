# The numbers of codes.py for the compiled kernel; a test compares the two.
cdef enum:
    SCAN_FULL = 0
    SCAN_SHORT = 1
    SCAN_BAD_LENGTH = 2
    SCAN_LEGACY_MAGIC = 3
    SCAN_UNKNOWN_MAGIC = 4

cdef enum:
    SOUND = 0
    BAD_COUNT = 1
    BAD_OFFSETS = 2
    BAD_VARINT = 3
    BAD_RECORD_LENGTH = 4
    BAD_OFFSET_DELTA = 5
    BAD_KEY_LENGTH = 6
    BAD_VALUE_LENGTH = 7
    BAD_HEADERS_COUNT = 8
    BAD_HEADER_KEY_LENGTH = 9
    BAD_HEADER_VALUE_LENGTH = 10
    BAD_RECORD_END = 11
    BAD_BATCH_END = 12
    NO_ROOM = 13

cdef enum:
    SHAPE_OTHER = 0
    SHAPE_STORED = 1
    SHAPE_LZ4_BLOCK = 2
    SHAPE_SNAPPY_BLOCK = 3
    SHAPE_ZSTD_FRAME = 4
    SHAPE_GZIP = 5
