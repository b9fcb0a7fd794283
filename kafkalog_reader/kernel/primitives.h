/* What the kernel needs of the machine and what Cython cannot say; primitives.py is its twin. */
#ifndef KAFKALOG_PRIMITIVES_H
#define KAFKALOG_PRIMITIVES_H

#include "crc32.h"
#include "crc32c.h"
#include "crc_shift.h"

/* Whether a batch or message may begin at one of 64 positions, by single bytes of its header: magic
 * 0 to 2, a length of 14 or more, the first byte of the offset. 28 bytes behind them are readable.
 * Without branches, so that compilers make it a few vector instructions. */
static inline int kl_may_begin(const uint8_t *data, uint8_t lowest, uint8_t highest) {
    uint8_t found = 0;
    for (int at = 0; at < 64; at++) {
        uint8_t magic = data[at + 16] <= 2;
        uint8_t offset = (uint8_t)(data[at] - lowest) <= (uint8_t)(highest - lowest);
        uint8_t length = (uint8_t)(data[at + 8] | data[at + 9] | data[at + 10]) != 0;
        uint8_t short_length = data[at + 11] >= 14;
        found |= magic & offset & (length | short_length);
    }
    return found;
}

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
