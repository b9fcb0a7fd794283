/* Which positions may begin a batch or a message: what the search for sound ones asks of every byte.
 * primitives.py is its twin.
 */
#ifndef KAFKALOG_CANDIDATES_H
#define KAFKALOG_CANDIDATES_H

#include "crc_shift.h"

#define KL_HEADER 61
#define KL_GROUP 224 /* positions that are looked at together; marks are counted in a byte */
#define KL_LIST_SLACK 16 /* entries of room behind as many as there are positions */
#define KL_FEW_MARKS 14 /* in a group: looked at one by one, they cost less than all together */

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

#include "candidates_x86.h"

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
    size_t done = kl_list_by_instructions(positions, &listed, data, position, whole, bounds);
    position += done;
    whole -= done;
    count -= done;
    kl_mark_all(marks, data + position, whole, bounds);
    memset(marks + whole, 1, count - whole);
    return listed + kl_list_marks(positions + listed, marks, count, position);
}

#endif
