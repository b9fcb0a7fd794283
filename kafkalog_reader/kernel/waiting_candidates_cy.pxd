# Attributes and methods of the class in waiting_candidates_cy.py, for the search.
from kafkalog_reader.kernel.prefix_registers_cy cimport PrefixRegisters

cdef class WaitingCandidates:
    cdef readonly Py_ssize_t count
    cdef readonly long long given_up
    cdef long long *_rows
    cdef long long *_lists
    cdef long long _current_list
    cdef long long _farthest_list
    cdef long long _free_chunk
    cdef long long _free_chunks
    cdef long long _used
    cdef Py_ssize_t _capacity
    cdef int *_ends
    cdef unsigned int *_registers
    cdef long long *_ending
    cdef object _owners

    cdef bint is_roomy(self, Py_ssize_t count) noexcept nogil
    cdef bint has_room(self, long long end) noexcept nogil
    cdef void add(
        self, long long position, long long end, unsigned int demanded, bint is_message
    ) noexcept nogil
    cdef long long judge(
        self, PrefixRegisters registers, long long origin, Py_ssize_t size, long long found
    ) noexcept nogil
    cdef long long _judge_chunk(
        self, long long chunk, PrefixRegisters registers, long long origin, Py_ssize_t size,
        long long found
    ) noexcept nogil
    cdef bint _makes_room(self, long long end) noexcept nogil
