# What record_batches_cy.py offers to the other kernel modules.
cdef int find_problem(
    const unsigned char *source, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
