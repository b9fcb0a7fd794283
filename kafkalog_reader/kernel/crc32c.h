/* CRC-32C (Castagnoli, reflected polynomial 0x82F63B78) as Kafka checks its record batches.
 *
 * The instruction is chosen at run time: SSE 4.2 on x86-64, the CRC32 extension on arm64, else
 * eight tables ("slicing by 8"). The instruction takes three cycles but starts every cycle, so long
 * input runs as three streams whose remainders are joined by tables that append zero bytes.
 */
#ifndef KAFKALOG_CRC32C_H
#define KAFKALOG_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(KAFKALOG_PORTABLE)
#include <nmmintrin.h>
#define KL_CRC_INSTRUCTION 1
#define KL_CRC_TARGET __attribute__((target("sse4.2")))
#define kl_crc_word(crc, word) _mm_crc32_u64((crc), (word))
#define kl_crc_half(crc, word) _mm_crc32_u32((crc), (word))
#define kl_crc_quarter(crc, word) _mm_crc32_u16((crc), (word))
#define kl_crc_byte(crc, byte) _mm_crc32_u8((crc), (byte))
static int kl_crc_instruction_here(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(KAFKALOG_PORTABLE)
#include <arm_acle.h>
#define KL_CRC_INSTRUCTION 1
#if defined(__ARM_FEATURE_CRC32)
#define KL_CRC_TARGET
static int kl_crc_instruction_here(void) { return 1; }
#else
#if defined(__clang__)
#define KL_CRC_TARGET __attribute__((target("crc")))
#else
#define KL_CRC_TARGET __attribute__((target("+crc")))
#endif
#if defined(__linux__)
#include <sys/auxv.h>
static int kl_crc_instruction_here(void) { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }
#else
static int kl_crc_instruction_here(void) { return 0; }
#endif
#endif
#define kl_crc_word(crc, word) __crc32cd((uint32_t)(crc), (word))
#define kl_crc_half(crc, word) __crc32cw((crc), (word))
#define kl_crc_quarter(crc, word) __crc32ch((crc), (word))
#define kl_crc_byte(crc, byte) __crc32cb((crc), (byte))
#endif

#define KL_LONG_STREAM 4096
#define KL_SHORT_STREAM 256

static uint32_t kl_slices[8][256];   /* [n][b]: the effect of byte b followed by n zero bytes */
static uint32_t kl_long_zeros[4][256];  /* appends KL_LONG_STREAM zero bytes to a remainder */
static uint32_t kl_short_zeros[4][256];
static int kl_crc_use_instruction = 0;

static uint32_t kl_append_zeros(uint32_t crc, size_t count) {
    while (count--) crc = kl_slices[0][crc & 0xFF] ^ (crc >> 8);
    return crc;
}

/* The tables of a linear map on 32 bits: one column a bit, four bytes looked up at once. */
static void kl_fill_zeros(uint32_t tables[4][256], size_t count) {
    uint32_t column[32];
    for (int bit = 0; bit < 32; bit++) column[bit] = kl_append_zeros((uint32_t)1 << bit, count);
    for (int byte = 0; byte < 4; byte++)
        for (int value = 0; value < 256; value++) {
            uint32_t crc = 0;
            for (int bit = 0; bit < 8; bit++)
                if (value >> bit & 1) crc ^= column[8 * byte + bit];
            tables[byte][value] = crc;
        }
}

static void kl_crc32c_prepare(void) {
    for (int value = 0; value < 256; value++) {
        uint32_t crc = (uint32_t)value;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
        kl_slices[0][value] = crc;
    }
    for (int value = 0; value < 256; value++)
        for (int slice = 1; slice < 8; slice++) {
            uint32_t before = kl_slices[slice - 1][value];
            kl_slices[slice][value] = kl_slices[0][before & 0xFF] ^ (before >> 8);
        }
#ifdef KL_CRC_INSTRUCTION
    kl_fill_zeros(kl_long_zeros, KL_LONG_STREAM);
    kl_fill_zeros(kl_short_zeros, KL_SHORT_STREAM);
    kl_crc_use_instruction = kl_crc_instruction_here();
#endif
}

static inline uint64_t kl_load_native(const uint8_t *data) {
    uint64_t word;
    memcpy(&word, data, 8);
    return word;
}

static uint32_t kl_crc32c_tables(uint32_t crc, const uint8_t *data, size_t size) {
    for (; size >= 8; size -= 8, data += 8) {
        crc ^= (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16
            | (uint32_t)data[3] << 24;
        crc = kl_slices[7][crc & 0xFF] ^ kl_slices[6][crc >> 8 & 0xFF]
            ^ kl_slices[5][crc >> 16 & 0xFF] ^ kl_slices[4][crc >> 24]
            ^ kl_slices[3][data[4]] ^ kl_slices[2][data[5]]
            ^ kl_slices[1][data[6]] ^ kl_slices[0][data[7]];
    }
    while (size--) crc = kl_slices[0][(crc ^ *data++) & 0xFF] ^ (crc >> 8);
    return crc;
}

#ifdef KL_CRC_INSTRUCTION
static inline uint32_t kl_shift(uint32_t tables[4][256], uint32_t crc) {
    return tables[0][crc & 0xFF] ^ tables[1][crc >> 8 & 0xFF] ^ tables[2][crc >> 16 & 0xFF]
        ^ tables[3][crc >> 24];
}

#define KL_THREE_STREAMS(STREAM, ZEROS)                                  \
    while (size >= 3 * (STREAM)) {                                       \
        uint64_t first = crc, second = 0, third = 0;                     \
        for (size_t i = 0; i < (STREAM); i += 8) {                       \
            first = kl_crc_word(first, kl_load_native(data + i));        \
            second = kl_crc_word(second, kl_load_native(data + (STREAM) + i)); \
            third = kl_crc_word(third, kl_load_native(data + 2 * (STREAM) + i)); \
        }                                                                \
        crc = kl_shift(ZEROS, (uint32_t)first) ^ (uint32_t)second;       \
        crc = kl_shift(ZEROS, crc) ^ (uint32_t)third;                    \
        data += 3 * (STREAM);                                            \
        size -= 3 * (STREAM);                                            \
    }

KL_CRC_TARGET static uint32_t kl_crc32c_instruction(uint32_t crc, const uint8_t *data, size_t size) {
    KL_THREE_STREAMS(KL_LONG_STREAM, kl_long_zeros)
    KL_THREE_STREAMS(KL_SHORT_STREAM, kl_short_zeros)
    uint64_t state = crc;
    for (; size >= 32; size -= 32, data += 32) {  /* few instructions besides: batches overlap */
        state = kl_crc_word(state, kl_load_native(data));
        state = kl_crc_word(state, kl_load_native(data + 8));
        state = kl_crc_word(state, kl_load_native(data + 16));
        state = kl_crc_word(state, kl_load_native(data + 24));
    }
    if (size & 16) {
        state = kl_crc_word(state, kl_load_native(data));
        state = kl_crc_word(state, kl_load_native(data + 8));
        data += 16;
    }
    if (size & 8) {
        state = kl_crc_word(state, kl_load_native(data));
        data += 8;
    }
    crc = (uint32_t)state;
    if (size & 4) {
        uint32_t word;
        memcpy(&word, data, 4);
        crc = kl_crc_half(crc, word);
        data += 4;
    }
    if (size & 2) {
        uint16_t word;
        memcpy(&word, data, 2);
        crc = kl_crc_quarter(crc, word);
        data += 2;
    }
    if (size & 1) crc = kl_crc_byte(crc, *data);
    return crc;
}
#endif

/* The register after some more bytes; a checksum is a register inverted. */
static inline uint32_t kl_crc32c_extend(uint32_t state, const uint8_t *data, size_t size) {
#ifdef KL_CRC_INSTRUCTION
    if (kl_crc_use_instruction) return kl_crc32c_instruction(state, data, size);
#endif
    return kl_crc32c_tables(state, data, size);
}

static inline uint32_t kl_crc32c(const uint8_t *data, size_t size) {
    return ~kl_crc32c_extend(0xFFFFFFFFu, data, size);
}

#endif
