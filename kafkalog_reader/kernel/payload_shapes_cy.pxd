# What payload_shapes_cy.py offers to the other kernel modules.
cdef (Py_ssize_t, Py_ssize_t, long long) single_block(
    int codec, const unsigned char *source, Py_ssize_t position, Py_ssize_t end,
    long long room
) noexcept nogil
