/* CRC-32 (IEEE 802.3, reflected polynomial 0xEDB88320), as in messages of magic 0 and 1.
 *
 * Long input is folded 64 bytes a step by carry-less multiplication if the processor has it
 * (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", Intel 2009, whose
 * constants these are); everything else goes through eight tables ("slicing by 8").
 */
#ifndef KAFKALOG_CRC32_H
#define KAFKALOG_CRC32_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(KAFKALOG_PORTABLE)
#include <immintrin.h>
#define KL_CRC32_FOLDING 1
#define KL_FOLD_TARGET __attribute__((target("sse4.1,pclmul")))
#endif

static uint32_t kl_crc32_slices[8][256]; /* [n][b]: the effect of byte b and n zero bytes behind */
static int kl_crc32_folds = 0;

static void kl_crc32_prepare(void) {
    for (int value = 0; value < 256; value++) {
        uint32_t crc = (uint32_t)value;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        kl_crc32_slices[0][value] = crc;
    }
    for (int value = 0; value < 256; value++)
        for (int slice = 1; slice < 8; slice++) {
            uint32_t before = kl_crc32_slices[slice - 1][value];
            kl_crc32_slices[slice][value] = kl_crc32_slices[0][before & 0xFF] ^ (before >> 8);
        }
#ifdef KL_CRC32_FOLDING
    kl_crc32_folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
#endif
}

static uint32_t kl_crc32_tables(uint32_t crc, const uint8_t *data, size_t size) {
    for (; size >= 8; size -= 8, data += 8) {
        crc ^= (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16
            | (uint32_t)data[3] << 24;
        crc = kl_crc32_slices[7][crc & 0xFF] ^ kl_crc32_slices[6][crc >> 8 & 0xFF]
            ^ kl_crc32_slices[5][crc >> 16 & 0xFF] ^ kl_crc32_slices[4][crc >> 24]
            ^ kl_crc32_slices[3][data[4]] ^ kl_crc32_slices[2][data[5]]
            ^ kl_crc32_slices[1][data[6]] ^ kl_crc32_slices[0][data[7]];
    }
    while (size--) crc = kl_crc32_slices[0][(crc ^ *data++) & 0xFF] ^ (crc >> 8);
    return crc;
}

#ifdef KL_CRC32_FOLDING
KL_FOLD_TARGET static inline __m128i kl_load128(const uint8_t *data) {
    return _mm_loadu_si128((const __m128i *)data);
}

KL_FOLD_TARGET static inline __m128i kl_fold(__m128i state, __m128i factors, __m128i more) {
    __m128i low = _mm_clmulepi64_si128(state, factors, 0x00);
    __m128i high = _mm_clmulepi64_si128(state, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), more);
}

/* ``size`` is a multiple of 16, and at least 64. */
KL_FOLD_TARGET static uint32_t kl_crc32_folded(uint32_t crc, const uint8_t *data, size_t size) {
    const __m128i by_64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
    const __m128i by_16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    const __m128i by_8 = _mm_set_epi64x(0, 0x0163cd6124);
    const __m128i barrett = _mm_set_epi64x(0x01f7011641, 0x01db710641);
    const __m128i low_32 = _mm_setr_epi32(-1, 0, -1, 0);
    __m128i a = _mm_xor_si128(kl_load128(data), _mm_cvtsi32_si128((int)crc));
    __m128i b = kl_load128(data + 16), c = kl_load128(data + 32), d = kl_load128(data + 48);
    for (data += 64, size -= 64; size >= 64; data += 64, size -= 64) {
        a = kl_fold(a, by_64, kl_load128(data));
        b = kl_fold(b, by_64, kl_load128(data + 16));
        c = kl_fold(c, by_64, kl_load128(data + 32));
        d = kl_fold(d, by_64, kl_load128(data + 48));
    }
    a = kl_fold(kl_fold(kl_fold(a, by_16, b), by_16, c), by_16, d);
    for (; size >= 16; data += 16, size -= 16) a = kl_fold(a, by_16, kl_load128(data));
    /* 128 bits to 64, to 32 */
    b = _mm_clmulepi64_si128(a, by_16, 0x10);
    a = _mm_xor_si128(_mm_srli_si128(a, 8), b);
    b = _mm_srli_si128(a, 4);
    a = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(a, low_32), by_8, 0x00), b);
    b = _mm_clmulepi64_si128(_mm_and_si128(a, low_32), barrett, 0x10);
    b = _mm_clmulepi64_si128(_mm_and_si128(b, low_32), barrett, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(a, b), 1);
}
#endif

/* The register after some more bytes; a checksum is a register inverted. */
static inline uint32_t kl_crc32_extend(uint32_t state, const uint8_t *data, size_t size) {
#ifdef KL_CRC32_FOLDING
    if (size >= 64 && kl_crc32_folds) {
        size_t folded = size & ~(size_t)15;
        state = kl_crc32_folded(state, data, folded);
        data += folded;
        size -= folded;
    }
#endif
    return kl_crc32_tables(state, data, size);
}

#endif
