# Attributes and methods of the class in prefix_registers_cy.py, for the kernel modules that use it.
cdef class PrefixRegisters:
    cdef readonly Py_ssize_t blocks
    cdef const unsigned char *_source
    cdef Py_ssize_t _size
    cdef unsigned int *_registers
    cdef unsigned int *_message_registers
    cdef unsigned int _register
    cdef unsigned int _message_register
    cdef bint _noted
    cdef object _owners

    cdef void begin(self, const unsigned char *source, Py_ssize_t size) noexcept nogil
    cdef void note(self) noexcept nogil
    cdef void carry(self, Py_ssize_t at, bint needed) noexcept nogil
    cdef unsigned int _carried(self, Py_ssize_t at, bint castagnoli) noexcept nogil
    cdef void differences(
        self, unsigned int *found, const int *positions, Py_ssize_t count) noexcept nogil
    cdef void at_ends(self, unsigned int *found, const int *ends, Py_ssize_t count) noexcept nogil
