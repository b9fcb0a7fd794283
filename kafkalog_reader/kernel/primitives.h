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

/* Calls LZ4_decompress_safe (codec 3) or ZSTD_decompressDCtx (codec 4) at an address that the
 * dynamic linker gave: how many bytes came out of the block, or a negative number where it is none
 * or does not fit. Sizes are far below 2^31. */
static inline int kl_decompress(
    int codec, size_t function, size_t context,
    const uint8_t *source, size_t size, uint8_t *target, size_t room) {
    if (codec == 3) {
        int (*decompress)(const char *, char *, int, int);
        memcpy(&decompress, &function, sizeof decompress);
        return decompress((const char *)source, (char *)target, (int)size, (int)room);
    }
    if (codec == 4) {
        size_t (*decompress)(void *, void *, size_t, const void *, size_t);
        memcpy(&decompress, &function, sizeof decompress);
        size_t count = decompress((void *)context, target, room, source, size);
        return count <= room ? (int)count : -1; /* errors are the largest numbers there are */
    }
    return -1;
}

/* Copies a record's bytes. Keys and values are short: moves of 32 bytes are cheaper than a call of
 * memcpy, where both sides have room for the last one to reach too far. */
static inline void kl_copy(uint8_t *target, const uint8_t *source, size_t size, size_t room) {
    if (size <= 256 && room >= 288) {
        for (size_t done = 0; done < size; done += 32) {
            memcpy(target + done, source + done, 16);
            memcpy(target + done + 16, source + done + 16, 16);
        }
    } else {
        memcpy(target, source, size);
    }
}

#endif
