# What message_fields_cy.py offers to the other kernel modules.
cdef (Py_ssize_t, long long, Py_ssize_t, long long, int) parse_fields(
    const unsigned char *source, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef (long long, long long, int, Py_ssize_t) measure_wrapper(
    const unsigned char *content, Py_ssize_t start, Py_ssize_t stop, int magic, long long offset
) noexcept nogil
