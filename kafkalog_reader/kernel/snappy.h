/* Snappy in record batches: snappy-java's stream of raw blocks, or one raw block.
 *
 * Sources: google/snappy format_description.txt; snappy-java SnappyInputStream. No Python package
 * contains a library that exports a function for it.
 *
 * Nothing is read outside of the source or written outside of the room, whatever the bytes say.
 * While 64 bytes are left on both sides, an element costs at most one copy of 64 bytes and no
 * branch that depends on its kind, which a processor cannot predict in compressed data.
 */
#ifndef KAFKALOG_SNAPPY_H
#define KAFKALOG_SNAPPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KL_SNAPPY_WHOLE 64 /* the longest copy, and more than the longest literal of one tag byte */
#define KL_SNAPPY_STREAM 0x82534E41u /* the first half of the magic, where a length may stand */

/* For each tag byte: the length of its element, and its part of the offset, a multiple of 256.
 * A literal is treated as a copy from 256 bytes before. An offset of 0 marks tags that do not hold
 * the whole length, or whose offset takes four bytes. */
static uint16_t kl_snappy_tags[256];

static void kl_snappy_prepare(void) {
    for (int tag = 0; tag < 256; tag++) {
        int kind = tag & 3, length = (tag >> 2) + 1, offset = 0;
        if (kind == 0 && length <= 60) offset = 256;
        if (kind == 1) {
            length = 4 + (tag >> 2 & 7);
            offset = tag >> 5 << 8;
        }
        kl_snappy_tags[tag] = (uint16_t)(offset | length);
    }
}

/* The stated size of a raw block: a varint of at most five bytes. Returns the size of the varint, 0
 * if it is invalid. */
static inline size_t kl_snappy_size(const uint8_t *block, size_t size, uint64_t *announced) {
    uint64_t value = 0;
    for (size_t byte = 0; byte < size && byte < 5; byte++) {
        value |= (uint64_t)(block[byte] & 0x7F) << (7 * byte);
        if (block[byte] < 0x80) {
            *announced = value;
            return byte + 1;
        }
    }
    return 0;
}

/* Copies ``length`` bytes from ``offset`` before ``out``, which may be among those it writes. */
static inline void kl_snappy_repeat(uint8_t *out, size_t offset, size_t length, size_t room) {
    const uint8_t *from = out - offset;
    if (room - length < 8) { /* no room to write too far */
        for (size_t byte = 0; byte < length; byte++) out[byte] = from[byte];
        return;
    }
    ptrdiff_t left = (ptrdiff_t)length;
    while (out - from < 8 && left > 0) { /* copying a pattern once doubles its length */
        ptrdiff_t period = out - from;
        memmove(out, from, 8);
        out += period;
        left -= period;
    }
    for (; left > 0; out += 8, from += 8, left -= 8) memcpy(out, from, 8);
}

/* Decompresses the elements of one block until they fill ``size`` bytes. Returns 0, or -1 if they
 * are invalid or do not fill it exactly. */
static int kl_snappy_elements(const uint8_t *in, const uint8_t *end, uint8_t *start, size_t size) {
    uint8_t *out = start, *const stop = start + size;
    while (in < end) {
        uint32_t tag = *in;
        while (end - in > KL_SNAPPY_WHOLE && stop - out >= KL_SNAPPY_WHOLE) {
            uint32_t kind = tag & 3;
            size_t is_literal = kind == 0;
            size_t length = kl_snappy_tags[tag] & 0xFF;
            size_t offset = ((size_t)in[1] | (size_t)in[2] << 8) & 0xFFFF & (0xFFFF00FF0000 >> 16 * kind);
            offset += kl_snappy_tags[tag] & 0xFF00;
            if (offset < length || offset > (size_t)(out - start)) break;
            uintptr_t copied = (uintptr_t)out - offset;
            uintptr_t from = copied ^ ((copied ^ (uintptr_t)(in + 1)) & (0 - is_literal));
            in += is_literal ? (tag >> 2) + 2 : kind + 1;
            tag = *in;
            memcpy(out, (const void *)from, 16);
            memcpy(out + 16, (const void *)(from + 16), 16);
            if (length > 32) {
                memcpy(out + 32, (const void *)(from + 32), 16);
                memcpy(out + 48, (const void *)(from + 48), 16);
            }
            out += length;
        }
        size_t left = (size_t)(end - ++in);
        size_t kind = tag & 3;
        size_t bytes = kind == 0 ? (tag >= 60 << 2 ? (tag >> 2) - 59 : 0) : kind == 3 ? 4 : kind;
        /* The library (snap) requires four bytes after the tag of any literal whose length is
         * outside of the tag. A tag longer than needed at the very end is left to the library. */
        if (bytes > left || (kind == 0 && bytes && left < 4)) return -1;
        size_t value = 0;
        for (size_t byte = 0; byte < bytes; byte++) value |= (size_t)in[byte] << (8 * byte);
        in += bytes;
        left -= bytes;
        size_t room = (size_t)(stop - out);
        size_t length = (tag >> 2) + 1;
        if (kind == 0) {
            if (bytes && value >= left) return -1;
            if (bytes) length = value + 1;
            if (length > left || length > room) return -1;
            memcpy(out, in, length);
            in += length;
        } else {
            if (kind == 1) {
                length = 4 + (tag >> 2 & 7);
                value |= (size_t)(tag >> 5) << 8;
            }
            if (value == 0 || value > (size_t)(out - start) || length > room) return -1;
            kl_snappy_repeat(out, value, length, room);
        }
        out += length;
    }
    return out == stop ? 0 : -1;
}

/* Finds the raw block at ``*at`` of a payload and moves ``*at`` after it; ``*at`` begins as 0.
 * Returns 1, 0 at the payload's end, or -1 if a length is wrong. */
static inline int kl_snappy_next(
    const uint8_t *payload, size_t size, size_t *at, const uint8_t **block, size_t *block_size) {
    static const uint8_t magic[8] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
    if (*at == 0) {
        if (size < 16 || memcmp(payload, magic, 8) != 0) {
            *block = payload;
            *block_size = *at = size;
            return size ? 1 : -1;
        }
        *at = 16; /* after two versions, which snappy-java does not read either */
    }
    while (size >= *at && size - *at >= 4) { /* fewer stray bytes are ignored */
        const uint8_t *p = payload + *at;
        uint32_t length = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        if (length == KL_SNAPPY_STREAM) { /* another stream begins */
            *at += 16;
            continue;
        }
        if (length == 0 || length > size - *at - 4) return -1;
        *block = p + 4;
        *block_size = length;
        *at += 4 + (size_t)length;
        return 1;
    }
    return 0;
}

/* Decompresses a payload, like LZ4_decompress_safe a block; returns the size of the output, or -1. */
static int kl_snappy_decompress(const char *source, char *target, int size, int room) {
    const uint8_t *payload = (const uint8_t *)source, *block = NULL;
    size_t at = 0, block_size = 0, done = 0;
    uint64_t announced;
    int more;
    while ((more = kl_snappy_next(payload, (size_t)size, &at, &block, &block_size)) > 0) {
        size_t header = kl_snappy_size(block, block_size, &announced);
        if (!header || announced > (size_t)room - done) return -1;
        if (kl_snappy_elements(
                block + header, block + block_size, (uint8_t *)target + done, (size_t)announced))
            return -1;
        done += (size_t)announced;
    }
    return more < 0 ? -1 : (int)done;
}

#endif
