# What records_cy.py offers to the other kernel modules.
from kafkalog_reader.kernel.record_columns_cy cimport RecordColumns

cdef int decode_records(
    const unsigned char *source, Py_ssize_t available, long long start, long long size,
    long long base_offset, long long last_offset_delta, long long base_timestamp,
    long long max_timestamp, int attributes, long long base_sequence, long long count,
    RecordColumns out,
) noexcept nogil
