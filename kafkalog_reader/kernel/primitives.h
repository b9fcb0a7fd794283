/* What the kernel needs of the machine and what Cython cannot say; primitives.py is its twin. */
#ifndef KAFKALOG_PRIMITIVES_H
#define KAFKALOG_PRIMITIVES_H

#include "candidates.h"
#include "codecs.h"
#include "crc32.h"
#include "crc32c.h"
#include "crc_shift.h"
#include "prefix_registers.h"

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
