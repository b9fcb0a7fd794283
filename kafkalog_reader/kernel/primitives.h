/* What the kernel needs of the machine and what Cython cannot say; primitives.py is its twin. */
#ifndef KAFKALOG_PRIMITIVES_H
#define KAFKALOG_PRIMITIVES_H

#include "batch_search.h"
#include "crc32.h"
#include "crc32c.h"
#include "crc_shift.h"

#if defined(__GNUC__) || defined(__clang__)
#define kl_lowest_bit(bits) __builtin_ctzll(bits)
#else
static inline int kl_lowest_bit(uint64_t bits) {
    int bit = 0;
    while (!(bits >> bit & 1)) bit++;
    return bit;
}
#endif

/* Copies a record's bytes. Keys and values are short: two overlapping-safe 16-byte moves are
 * cheaper than a call of memcpy, where both sides have 32 bytes left to be written and read. */
static inline void kl_copy(uint8_t *target, const uint8_t *source, size_t size, size_t room) {
    if (size <= 32 && room >= 32) {
        memcpy(target, source, 16);
        memcpy(target + 16, source + 16, 16);
    } else {
        memcpy(target, source, size);
    }
}

#endif
