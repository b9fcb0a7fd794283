/* What the kernel needs from C and Cython cannot express; primitives.py is its twin. */
#ifndef KAFKALOG_PRIMITIVES_H
#define KAFKALOG_PRIMITIVES_H

#include <errno.h>
#include <unistd.h>

#include "codecs.h"
#include "crc32.h"
#include "crc32c.h"

/* Copies a record's bytes. Keys and values are short: if both sides have room beyond them, moves of
 * 32 bytes are cheaper than a call of memcpy. */
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

/* Reads up to size bytes of a file; fewer if it ends or reading fails. */
static inline size_t kl_read_at(int descriptor, uint8_t *target, size_t size, long long position) {
    size_t done = 0;
    while (done < size) {
        ssize_t count = pread(descriptor, target + done, size - done, (off_t)position + (off_t)done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += (size_t)count;
    }
    return done;
}

#endif
