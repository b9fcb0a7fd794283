/* Which positions may begin a batch or a message: what the search for sound ones asks of every byte.
 * primitives.py is its twin.
 */
#ifndef KAFKALOG_CANDIDATES_H
#define KAFKALOG_CANDIDATES_H

#include "crc_shift.h"

#define KL_HEADER 61
#define KL_GROUP 224 /* positions that are looked at together; marks are counted in a byte */
#define KL_LIST_SLACK 4 /* entries of room behind as many as there are positions */
#define KL_FEW_MARKS 14 /* in a group: looked at one by one, they cost less than all together */

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(KAFKALOG_PORTABLE)
#include <immintrin.h>
#define KL_WIDE __attribute__((target("avx2,bmi,popcnt")))
static inline int kl_is_wide(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")
        && __builtin_cpu_supports("popcnt");
}
#endif

/* Single bytes that an entry's first ones are compared with. */
struct kl_bounds {
    uint8_t offset[8], fixed[8]; /* bits that all offsets between the lowest and highest share */
    int first;                   /* the first byte that they do not share, and its limits */
    uint8_t least, most;
    uint8_t length;              /* limit of the length's first byte */
};

static inline struct kl_bounds kl_bounds_of(int64_t lowest, int64_t highest, int64_t left) {
    struct kl_bounds bounds = {.first = 0, .least = 0, .most = 0xFF};
    bounds.length = left > 0x7FFFFFFF ? 0x7F : (uint8_t)(left >> 24);
    uint64_t different = (uint64_t)lowest ^ (uint64_t)highest;
    int shared = 1;
    for (int byte = 0; byte < 8; byte++) {
        int shift = 56 - 8 * byte;
        if (shared && different >> shift & 0xFF) {
            shared = 0;
            bounds.first = byte;
            bounds.least = (uint8_t)((uint64_t)lowest >> shift);
            bounds.most = (uint8_t)((uint64_t)highest >> shift);
        }
        bounds.fixed[byte] = shared ? 0xFF : 0;
        bounds.offset[byte] = shared ? (uint8_t)((uint64_t)lowest >> shift) : 0;
    }
    return bounds;
}

/* Loops over single bytes without a branch: compilers make vectors of them. */
static KL_ALWAYS_INLINE void kl_mark_by_offset(
    uint8_t *restrict marks, const uint8_t *restrict data, size_t count, struct kl_bounds bounds
) {
    const uint8_t *differing = data + bounds.first;
    uint8_t least = bounds.least, span = (uint8_t)(bounds.most - bounds.least);
    for (size_t at = 0; at < count; at++) {
        uint8_t wrong = 0;
        for (int byte = 0; byte < 4; byte++)
            wrong |= (uint8_t)((data[at + byte] & bounds.fixed[byte]) ^ bounds.offset[byte]);
        uint8_t high = data[at + 8] | data[at + 9] | data[at + 10];
        uint8_t fits = (uint8_t)(data[at + 16] <= 2) & (uint8_t)(wrong == 0);
        fits &= (uint8_t)((uint8_t)(differing[at] - least) <= span);
        fits &= (uint8_t)(data[at + 8] <= bounds.length);
        fits &= (uint8_t)(high != 0) | (uint8_t)(data[at + 11] >= 14);
        marks[at] = fits;
    }
}

/* Of what an offset and a length may begin, what the next bytes do not contradict. */
static KL_ALWAYS_INLINE void kl_mark_by_fields(
    uint8_t *restrict marks, const uint8_t *restrict data, size_t count, struct kl_bounds bounds
) {
    for (size_t at = 0; at < count; at++) {
        uint8_t magic = data[at + 16], wrong = 0;
        for (int byte = 4; byte < 8; byte++)
            wrong |= (uint8_t)((data[at + byte] & bounds.fixed[byte]) ^ bounds.offset[byte]);
        uint8_t batch = (uint8_t)(data[at + 21] == 0) & (uint8_t)((data[at + 22] & 7) <= 4);
        batch &= (uint8_t)((data[at + 23] | data[at + 57]) < 0x80);
        /* the key is null, or its length 14 less than the message's: compared byte by byte */
        uint8_t mask = magic == 1 ? 0xFF : 0, null = 0xFF, fits = 0;
        for (int byte = 3; byte >= 0; byte--) {
            uint8_t length = data[at + 8 + byte];
            uint8_t key = (uint8_t)((data[at + 26 + byte] & mask) | (data[at + 18 + byte] & ~mask));
            null &= key;
            if (byte == 3)
                fits = (uint8_t)(length >= 14) & (uint8_t)(key <= (uint8_t)(length - 14));
            else
                fits = (uint8_t)(key < length) | ((uint8_t)(key == length) & fits);
        }
        uint8_t message = (uint8_t)((data[at + 17] & 0xF4) == 0) & (fits | (uint8_t)(null == 0xFF));
        marks[at] &= (uint8_t)(wrong == 0) & (magic == 2 ? batch : message);
    }
}

static KL_ALWAYS_INLINE size_t kl_count_marks(const uint8_t *marks, size_t count) {
    uint8_t marked = 0;
    for (size_t at = 0; at < count; at++) marked += marks[at];
    return marked;
}

static KL_ALWAYS_INLINE void kl_mark_all(
    uint8_t *marks, const uint8_t *data, size_t count, struct kl_bounds bounds
) {
    for (size_t at = 0; at < count; at += KL_GROUP) {
        size_t group = count - at < KL_GROUP ? count - at : KL_GROUP;
        kl_mark_by_offset(marks + at, data + at, group, bounds);
        if (kl_count_marks(marks + at, group) > KL_FEW_MARKS)
            kl_mark_by_fields(marks + at, data + at, group, bounds);
    }
}

/* The positions that are marked, behind ``position``. */
static KL_ALWAYS_INLINE size_t kl_list_marks(
    int32_t *positions, const uint8_t *marks, size_t count, size_t position
) {
    size_t listed = 0, at = 0;
    for (; count - at >= 8; at += 8)
        for (uint64_t eight = kl_load_little(marks + at); eight; eight &= eight - 1)
            positions[listed++] = (int32_t)(position + at + (size_t)kl_lowest_bit(eight) / 8);
    for (; at < count; at++)
        if (marks[at]) positions[listed++] = (int32_t)(position + at);
    return listed;
}

#ifdef KL_WIDE
#define kl_bytes_at(position) _mm256_loadu_si256((const __m256i *)(const void *)(position))
#define kl_all(byte) _mm256_set1_epi8((char)(byte))
#define kl_at_most(left, right) _mm256_cmpeq_epi8(_mm256_min_epu8(left, right), left)

/* ``kl_mark_by_offset`` of 32 positions: a bit for each. */
KL_WIDE static KL_ALWAYS_INLINE uint32_t kl_bits_by_offset(
    const uint8_t *data, const struct kl_bounds *bounds
) {
    __m256i wrong = _mm256_setzero_si256(), none = wrong;
    for (int byte = 0; byte < 4; byte++)
        wrong = _mm256_or_si256(wrong, _mm256_xor_si256(
            _mm256_and_si256(kl_bytes_at(data + byte), kl_all(bounds->fixed[byte])),
            kl_all(bounds->offset[byte])));
    __m256i fits = _mm256_and_si256(
        _mm256_cmpeq_epi8(wrong, none), kl_at_most(kl_bytes_at(data + 16), kl_all(2)));
    if (_mm256_testz_si256(fits, fits)) return 0;
    __m256i length = kl_bytes_at(data + 8);
    __m256i high = _mm256_or_si256(
        length, _mm256_or_si256(kl_bytes_at(data + 9), kl_bytes_at(data + 10)));
    __m256i above = _mm256_sub_epi8(kl_bytes_at(data + bounds->first), kl_all(bounds->least));
    __m256i is_short = _mm256_and_si256(
        _mm256_cmpeq_epi8(high, none), kl_at_most(kl_bytes_at(data + 11), kl_all(13)));
    fits = _mm256_and_si256(fits, kl_at_most(above, kl_all(bounds->most - bounds->least)));
    fits = _mm256_and_si256(fits, kl_at_most(length, kl_all(bounds->length)));
    return (uint32_t)_mm256_movemask_epi8(_mm256_andnot_si256(is_short, fits));
}

/* ``kl_mark_by_fields`` of 32 positions. */
KL_WIDE static KL_ALWAYS_INLINE uint32_t kl_bits_by_fields(
    const uint8_t *data, const struct kl_bounds *bounds
) {
    __m256i wrong = _mm256_setzero_si256(), none = wrong;
    if (bounds->fixed[4])
        for (int byte = 4; byte < 8; byte++)
            wrong = _mm256_or_si256(wrong, _mm256_xor_si256(
                _mm256_and_si256(kl_bytes_at(data + byte), kl_all(bounds->fixed[byte])),
                kl_all(bounds->offset[byte])));
    __m256i magic = kl_bytes_at(data + 16);
    __m256i codec = _mm256_and_si256(kl_bytes_at(data + 22), kl_all(7));
    __m256i sign = _mm256_or_si256(kl_bytes_at(data + 23), kl_bytes_at(data + 57));
    __m256i batch = _mm256_and_si256(
        _mm256_and_si256(_mm256_cmpeq_epi8(kl_bytes_at(data + 21), none),
                         kl_at_most(codec, kl_all(4))),
        kl_at_most(sign, kl_all(0x7F)));
    __m256i is_1 = _mm256_cmpeq_epi8(magic, kl_all(1)), null = kl_all(0xFF), fits = none;
    for (int byte = 3; byte >= 0; byte--) {
        __m256i length = kl_bytes_at(data + 8 + byte);
        __m256i key = _mm256_blendv_epi8(
            kl_bytes_at(data + 18 + byte), kl_bytes_at(data + 26 + byte), is_1);
        null = _mm256_and_si256(null, key);
        if (byte == 3) {
            __m256i rest = _mm256_subs_epu8(length, kl_all(14));
            fits = _mm256_and_si256(kl_at_most(kl_all(14), length), kl_at_most(key, rest));
        } else {
            __m256i equal = _mm256_cmpeq_epi8(key, length);
            fits = _mm256_andnot_si256(
                _mm256_andnot_si256(fits, equal), kl_at_most(key, length));
        }
    }
    __m256i known = _mm256_cmpeq_epi8(
        _mm256_and_si256(kl_bytes_at(data + 17), kl_all(0xF4)), none);
    __m256i message = _mm256_and_si256(
        known, _mm256_or_si256(fits, _mm256_cmpeq_epi8(null, kl_all(0xFF))));
    __m256i either = _mm256_blendv_epi8(message, batch, _mm256_cmpeq_epi8(magic, kl_all(2)));
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_and_si256(either, _mm256_cmpeq_epi8(wrong, none)));
}

/* Lists the candidates among the first whole 32s of ``count`` positions; how many are done. Four
 * numbers are written each time, needed or not: how many bits are set is anybody's guess. */
KL_WIDE static size_t kl_list_wide(
    int32_t *positions, size_t *listed, const uint8_t *data, size_t position, size_t count,
    struct kl_bounds bounds
) {
    size_t found = 0, at = 0;
    for (; count - at >= 32; at += 32) {
        uint32_t bits = kl_bits_by_offset(data + position + at, &bounds);
        if (!bits) continue;
        bits &= kl_bits_by_fields(data + position + at, &bounds);
        int32_t *next = positions + found;
        found += (size_t)_mm_popcnt_u32(bits);
        for (int few = 0; few < KL_LIST_SLACK; few++, bits &= bits - 1)
            *next++ = (int32_t)(position + at + _tzcnt_u32(bits));
        for (; bits; bits &= bits - 1)
            *next++ = (int32_t)(position + at + _tzcnt_u32(bits));
    }
    *listed = found;
    return at;
}
#endif

/* Lists which of ``count`` positions from ``position`` on may begin an entry that ends within
 * ``left`` bytes. All ``size`` bytes of ``data`` can be read, and ``positions`` has room for
 * KL_LIST_SLACK more than ``count``. What is listed is looked at field by
 * field, also where there are fewer bytes than a header has; what begins an entry is listed. */
static size_t kl_list_candidates(
    int32_t *positions, uint8_t *marks, const uint8_t *data, size_t position, size_t count,
    size_t size, int64_t lowest, int64_t highest, int64_t left
) {
    struct kl_bounds bounds = kl_bounds_of(lowest, highest, left);
    size_t available = size - position;
    size_t whole = available < KL_HEADER ? 0 : available - KL_HEADER + 1;
    if (whole > count) whole = count;
    size_t listed = 0;
#ifdef KL_WIDE
    if (kl_is_wide()) {
        size_t done = kl_list_wide(positions, &listed, data, position, whole, bounds);
        position += done;
        whole -= done;
        count -= done;
    }
#endif
    kl_mark_all(marks, data + position, whole, bounds);
    memset(marks + whole, 1, count - whole);
    return listed + kl_list_marks(positions + listed, marks, count, position);
}

#endif
