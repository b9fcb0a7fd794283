# Attributes and methods of the class in waiting_candidates_cy.py, for the search.
from kafkalog_reader.kernel.prefix_registers_cy cimport PrefixRegisters

cdef class WaitingCandidates:
    cdef readonly Py_ssize_t count
    cdef readonly long long given_up
    cdef long long *_positions
    cdef long long *_words
    cdef long long *_lists
    cdef int *_chains
    cdef long long _current_list
    cdef long long _farthest_list
    cdef long long _free_chunk
    cdef long long _free_chunks
    cdef long long _used
    cdef Py_ssize_t _chunks
    cdef int *_ends
    cdef unsigned int *_registers
    cdef object _owners

    cdef bint is_roomy(self, Py_ssize_t count) noexcept nogil
    cdef bint has_room(self, long long end) noexcept nogil
    cdef void add(
        self, const int *positions, const unsigned int *demanded, Py_ssize_t count,
        const unsigned char *source, Py_ssize_t size, long long origin
    ) noexcept nogil
    cdef bint _begins_chunk(self, long long last) noexcept nogil
    cdef void _give_up_farthest(self) noexcept nogil
    cdef Py_ssize_t _newest(self, long long here) noexcept nogil
    cdef void _drop_newest(self, long long here) noexcept nogil
    cdef long long judge(
        self, PrefixRegisters registers, long long origin, Py_ssize_t size, long long found
    ) noexcept nogil
    cdef long long _judge_newest(
        self, long long here, PrefixRegisters registers, long long origin, long long found
    ) noexcept nogil
    cdef long long _judge_some(
        self, PrefixRegisters registers, long long origin, Py_ssize_t size, long long found
    ) noexcept nogil
    cdef long long _judge_entries(
        self, long long first, Py_ssize_t count, PrefixRegisters registers, long long origin,
        long long found
    ) noexcept nogil
