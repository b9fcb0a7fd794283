# What plausible_entries_cy.py offers to the other kernel modules.
cdef Py_ssize_t keep_plausible(
    int *positions, Py_ssize_t count, const unsigned char *source, Py_ssize_t size,
    long long left, long long lowest, long long highest
) noexcept nogil
