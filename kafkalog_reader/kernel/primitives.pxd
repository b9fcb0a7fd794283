# Declarations for the compiled kernel. Each name has a Python twin in primitives.py that does the
# same on memoryviews: `*_at` gives a pointer here and the view itself there, and both are only
# ever indexed.
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "primitives.h" nogil:
    void kl_crc32c_prepare()
    uint32_t kl_crc32c(const uint8_t *data, size_t size)
    uint32_t kl_crc32c_tables(uint32_t crc, const uint8_t *data, size_t size)
    void kl_crc32_prepare()
    uint32_t kl_crc32_extend(uint32_t state, const uint8_t *data, size_t size)
    void kl_crc_shift_prepare()
    void kl_snappy_prepare()
    size_t kl_snappy_address()
    int kl_decompress(
        int codec, size_t function, size_t context,
        const uint8_t *source, size_t size, uint8_t *target, size_t room)
    size_t kl_list_candidates(
        int *positions, uint8_t *marks, const uint8_t *data, size_t position, size_t count,
        size_t size, long long lowest, long long highest, long long left)
    long long kl_keep_plausible_by_instructions(
        int *positions, size_t count, const uint8_t *data, size_t size,
        long long left, long long lowest, long long highest)
    void kl_note_registers(
        uint32_t *registers, uint32_t state, uint32_t *message_registers, uint32_t message_state,
        const uint8_t *data, size_t size)
    uint32_t kl_register_at(
        int castagnoli, size_t at, const uint8_t *data, size_t size,
        const uint32_t *registers, const uint32_t *message_registers)
    void kl_find_differences(
        uint32_t *differences, const int *positions, size_t count, const uint8_t *data,
        size_t size, const uint32_t *registers, const uint32_t *message_registers)
    void kl_find_registers(
        uint32_t *found, const int *ends, size_t count, const uint8_t *data,
        size_t size, const uint32_t *registers, const uint32_t *message_registers)
    size_t kl_read_at(int descriptor, uint8_t *target, size_t size, long long position)
    void kl_copy(uint8_t *target, const uint8_t *source, size_t size, size_t room)

cdef inline void prepare_checksums() noexcept nogil:
    kl_crc32c_prepare()
    kl_crc32_prepare()

cdef inline void prepare_crc_shift() noexcept nogil:
    kl_crc_shift_prepare()

cdef inline const unsigned char *read_bytes(const unsigned char[::1] buffer) noexcept nogil:
    return &buffer[0] if buffer.shape[0] > 0 else NULL

cdef inline unsigned char *write_bytes(unsigned char[::1] buffer) noexcept nogil:
    return &buffer[0] if buffer.shape[0] > 0 else NULL

cdef inline long long *write_int64(long long[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline int *write_int32(int[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline unsigned int *write_uint32(unsigned int[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline short *write_int16(short[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline signed char *write_int8(signed char[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline unsigned int crc32c(
    const unsigned char *source, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    return kl_crc32c(source + start, <size_t>(stop - start))

cdef inline Py_ssize_t list_candidates(
    int *positions, unsigned char *marks, const unsigned char *source, Py_ssize_t position,
    Py_ssize_t count, Py_ssize_t size, long long lowest, long long highest, long long left
) noexcept nogil:
    return <Py_ssize_t>kl_list_candidates(
        positions, marks, source, <size_t>position, <size_t>count, <size_t>size,
        lowest, highest, left)

cdef inline Py_ssize_t keep_plausible_eights(
    int *positions, Py_ssize_t count, const unsigned char *source, Py_ssize_t size,
    long long left, long long lowest, long long highest
) noexcept nogil:
    return <Py_ssize_t>kl_keep_plausible_by_instructions(
        positions, <size_t>count, source, <size_t>size, left, lowest, highest)

cdef inline void note_registers(
    unsigned int *registers, unsigned int state,
    unsigned int *message_registers, unsigned int message_state,
    const unsigned char *source, Py_ssize_t size
) noexcept nogil:
    kl_note_registers(
        registers, state, message_registers, message_state, source, <size_t>size)

cdef inline unsigned int register_at(
    bint castagnoli, Py_ssize_t at, const unsigned char *source, Py_ssize_t size,
    const unsigned int *registers, const unsigned int *message_registers
) noexcept nogil:
    return kl_register_at(
        castagnoli, <size_t>at, source, <size_t>size, registers, message_registers)

cdef inline void find_differences(
    unsigned int *differences, const int *positions, Py_ssize_t count,
    const unsigned char *source, Py_ssize_t size,
    const unsigned int *registers, const unsigned int *message_registers
) noexcept nogil:
    kl_find_differences(
        differences, positions, <size_t>count, source, <size_t>size, registers, message_registers)

cdef inline void find_registers(
    unsigned int *found, const int *ends, Py_ssize_t count,
    const unsigned char *source, Py_ssize_t size,
    const unsigned int *registers, const unsigned int *message_registers
) noexcept nogil:
    kl_find_registers(
        found, ends, <size_t>count, source, <size_t>size, registers, message_registers)

cdef inline unsigned int crc32(
    const unsigned char *source, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    return ~kl_crc32_extend(<uint32_t>0xFFFFFFFF, source + start, <size_t>(stop - start))

cdef inline unsigned int crc32c_by_tables(
    const unsigned char *source, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    return ~kl_crc32c_tables(<uint32_t>0xFFFFFFFF, source + start, <size_t>(stop - start))

cdef inline Py_ssize_t read_at(
    int descriptor, unsigned char *target, long long size, long long position
) noexcept nogil:
    return <Py_ssize_t>kl_read_at(descriptor, target, <size_t>size, position)

cdef inline void copy(
    unsigned char *target, Py_ssize_t target_position,
    const unsigned char *source, Py_ssize_t source_position,
    Py_ssize_t size, Py_ssize_t room
) noexcept nogil:
    kl_copy(target + target_position, source + source_position, <size_t>size, <size_t>room)

cdef inline int decompress(
    int codec, long long function, long long context,
    const unsigned char *source, Py_ssize_t position, Py_ssize_t size,
    unsigned char *target, long long room
) noexcept nogil:
    return kl_decompress(
        codec, <size_t>function, <size_t>context,
        source + position, <size_t>size, target, <size_t>room)

cdef inline long long snappy_function() noexcept nogil:
    kl_snappy_prepare()
    return <long long>kl_snappy_address()

cdef inline const signed char *read_int8(const signed char[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline const long long *read_int64(const long long[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline const int *read_int32(const int[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline const short *read_int16(const short[::1] column) noexcept nogil:
    return &column[0] if column.shape[0] > 0 else NULL

cdef inline long long wrapping_add(long long left, long long right) noexcept nogil:
    return <long long>(<unsigned long long>left + <unsigned long long>right)

cdef inline long long wrapping_subtract(long long left, long long right) noexcept nogil:
    return <long long>(<unsigned long long>left - <unsigned long long>right)

cdef inline long long int64_at(const unsigned char *source, Py_ssize_t position) noexcept nogil:
    cdef const unsigned char *p = source + position
    return <long long>(
        <unsigned long long>p[0] << 56 | <unsigned long long>p[1] << 48
        | <unsigned long long>p[2] << 40 | <unsigned long long>p[3] << 32
        | <unsigned long long>p[4] << 24 | <unsigned long long>p[5] << 16
        | <unsigned long long>p[6] << 8 | <unsigned long long>p[7])

cdef inline unsigned int uint32_at(const unsigned char *source, Py_ssize_t position) noexcept nogil:
    cdef const unsigned char *p = source + position
    return (<unsigned int>p[0] << 24 | <unsigned int>p[1] << 16
            | <unsigned int>p[2] << 8 | <unsigned int>p[3])

cdef inline int int32_at(const unsigned char *source, Py_ssize_t position) noexcept nogil:
    return <int>uint32_at(source, position)

cdef inline short int16_at(const unsigned char *source, Py_ssize_t position) noexcept nogil:
    return <short>(<unsigned short>source[position] << 8 | <unsigned short>source[position + 1])
