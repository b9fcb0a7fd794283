/* Calls the codecs' functions at the addresses that decode/codec_libraries.py found. */
#ifndef KAFKALOG_CODECS_H
#define KAFKALOG_CODECS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crc32.h"
#include "snappy.h"

/* How isal's inflate_state begins (igzip_lib.h, since 2.19); what follows is the library's own. */
struct kl_inflate_state {
    uint8_t *next_out;
    uint32_t avail_out;
    uint32_t total_out;
    const uint8_t *next_in;
    uint64_t read_in;
    uint32_t avail_in;
    int32_t read_in_length;
};

/* A gzip context: the address of isal_inflate_init, then the state. */
struct kl_gzip_context {
    size_t init;
    size_t unused[7];
    struct kl_inflate_state state;
};

static inline uint32_t kl_little_endian(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Calls isal_inflate_stateless for a gzip member without its header. The output must have the size
 * and the CRC of its trailer, and no byte may be left before the trailer. */
static inline int kl_gunzip(
    size_t function, struct kl_gzip_context *context,
    const uint8_t *source, size_t size, uint8_t *target, size_t room) {
    int (*inflate)(struct kl_inflate_state *);
    void (*init)(struct kl_inflate_state *);
    struct kl_inflate_state *state = &context->state;
    memcpy(&inflate, &function, sizeof inflate);
    memcpy(&init, &context->init, sizeof init);
    if (size < 8) return -1;
    const uint8_t *trailer = source + size - 8;
    init(state); /* forgets what a damaged member may have left */
    state->next_in = source;
    state->avail_in = (uint32_t)(size - 8);
    state->next_out = target;
    state->avail_out = (uint32_t)room;
    if (inflate(state) != 0 || state->avail_in != 0 || state->avail_out > room) return -1;
    size_t count = room - state->avail_out;
    if (count != kl_little_endian(trailer + 4)) return -1;
    if (~kl_crc32_extend(0xFFFFFFFFu, target, count) != kl_little_endian(trailer)) return -1;
    return (int)count;
}

/* Calls the function of a codec: isal_inflate_stateless (1), kl_snappy_decompress (2),
 * LZ4_decompress_safe (3) or ZSTD_decompressDCtx (4). Returns the size of the output, or a
 * negative number if the source is damaged or the output does not fit. Sizes are far below 2^31. */
static inline int kl_decompress(
    int codec, size_t function, size_t context,
    const uint8_t *source, size_t size, uint8_t *target, size_t room) {
    if (codec == 1)
        return kl_gunzip(function, (struct kl_gzip_context *)context, source, size, target, room);
    if (codec == 2 || codec == 3) {
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

/* The address of the one function that no library exports. */
static inline size_t kl_snappy_address(void) {
    int (*decompress)(const char *, char *, int, int) = kl_snappy_decompress;
    size_t address;
    memcpy(&address, &decompress, sizeof address);
    return address;
}

#endif
