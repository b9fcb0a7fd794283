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
    void kl_snappy_prepare()
    size_t kl_snappy_address()
    int kl_decompress(
        int codec, size_t function, size_t context,
        const uint8_t *source, size_t size, uint8_t *target, size_t room)
    size_t kl_read_at(int descriptor, uint8_t *target, size_t size, long long position)
    void kl_copy(uint8_t *target, const uint8_t *source, size_t size, size_t room)

cdef inline void prepare_checksums() noexcept nogil:
    kl_crc32c_prepare()
    kl_crc32_prepare()

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
