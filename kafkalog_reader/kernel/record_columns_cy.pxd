# Attributes of the classes in record_columns_cy.py, for the kernel modules that write into them.
cdef class BinaryColumn:
    cdef readonly Py_ssize_t entries
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t nulls
    cdef int *_offsets
    cdef unsigned char *_validity
    cdef unsigned char *_data
    cdef Py_ssize_t _entries_capacity
    cdef Py_ssize_t _capacity
    cdef object _owners

cdef class RecordColumns:
    cdef readonly Py_ssize_t rows
    cdef readonly Py_ssize_t problem_position
    cdef long long *_offset
    cdef long long *_timestamp
    cdef int *_timestamp_type
    cdef int *_sequence
    cdef int *_control_type
    cdef int *_headers_offsets
    cdef BinaryColumn _keys
    cdef BinaryColumn _values
    cdef BinaryColumn _header_keys
    cdef BinaryColumn _header_values
    cdef bint _with_timestamp_type
    cdef bint _with_sequence
    cdef bint _with_control_type
    cdef bint _with_keys
    cdef bint _with_values
    cdef bint _with_headers
    cdef Py_ssize_t _capacity
    cdef object _owners

cdef void append(
    BinaryColumn column, const unsigned char *source, Py_ssize_t position, long long length,
    Py_ssize_t available
) noexcept nogil
cdef void forget_entries(BinaryColumn column, Py_ssize_t kept, Py_ssize_t stop) noexcept nogil
cdef void fill_others(
    RecordColumns out, Py_ssize_t row, int attributes, long long base_sequence,
    long long offset_delta, const unsigned char *source, Py_ssize_t key, long long key_length
) noexcept nogil
