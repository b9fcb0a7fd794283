/* What zero bytes make of a CRC's register: with it the CRC of any range follows from the registers
 * at its two ends, in constant time.
 *
 * A register is a polynomial over GF(2), the bit of x^0 on top, and a zero byte multiplies it by x^8
 * modulo the CRC's own. The carry-less product of two of them, taken as eight bytes of input, comes
 * out as their product times x^33; so what is multiplied by is x^(8 n - 33), from a table for each
 * digit of n to the base 2048.
 */
#ifndef KAFKALOG_CRC_SHIFT_H
#define KAFKALOG_CRC_SHIFT_H

#include "crc32.h"
#include "crc32c.h"

#if defined(__GNUC__) || defined(__clang__)
#define kl_lowest_bit(bits) __builtin_ctzll(bits)
#define KL_ALWAYS_INLINE inline __attribute__((always_inline))
#else
static inline int kl_lowest_bit(uint64_t bits) {
    int bit = 0;
    while (!(bits >> bit & 1)) bit++;
    return bit;
}
#define KL_ALWAYS_INLINE inline
#endif

#define KL_SHIFT_DIGITS 3 /* 2048^3 = 2^33, more than any file of Kafka's has */
#define KL_SHIFT_BASE 2048

static uint32_t kl_shift_factors[2][KL_SHIFT_DIGITS][KL_SHIFT_BASE];
static uint32_t kl_back_four[2]; /* x^-65, by which a register becomes the four bytes behind zeros
                                  * that leave it */
static int kl_shift_is_prepared = 0;

static inline uint64_t kl_load_little(const uint8_t *data) {
    return (uint64_t)data[0] | (uint64_t)data[1] << 8 | (uint64_t)data[2] << 16
        | (uint64_t)data[3] << 24 | (uint64_t)data[4] << 32 | (uint64_t)data[5] << 40
        | (uint64_t)data[6] << 48 | (uint64_t)data[7] << 56;
}

static inline uint32_t kl_load_uint32(const uint8_t *data) {
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8
        | (uint32_t)data[3];
}

/* The register that eight bytes leave, from zero. */
static inline uint32_t kl_reduce(uint32_t slices[16][256], uint64_t word) {
    return slices[7][word & 0xFF] ^ slices[6][word >> 8 & 0xFF] ^ slices[5][word >> 16 & 0xFF]
        ^ slices[4][word >> 24 & 0xFF] ^ slices[3][word >> 32 & 0xFF]
        ^ slices[2][word >> 40 & 0xFF] ^ slices[1][word >> 48 & 0xFF] ^ slices[0][word >> 56];
}

static inline uint32_t kl_reduce_by_tables(int castagnoli, uint64_t word) {
    return kl_reduce(castagnoli ? kl_slices : kl_crc32_slices, word);
}

static inline uint32_t kl_multiply(uint32_t slices[16][256], uint32_t left, uint32_t right) {
    uint64_t product = 0;
    for (int bit = 0; bit < 32; bit++)
        product ^= (0 - (uint64_t)(right >> bit & 1)) & ((uint64_t)left << bit);
    return kl_reduce(slices, product);
}

/* The register after ``count`` zero bytes, ``count`` below 2^33. */
static inline uint32_t kl_shift_by_tables(int castagnoli, uint32_t state, uint64_t count) {
    for (int digit = 0; count; digit++, count /= KL_SHIFT_BASE)
        if (count % KL_SHIFT_BASE)
            state = kl_multiply(castagnoli ? kl_slices : kl_crc32_slices, state,
                                kl_shift_factors[castagnoli][digit][count % KL_SHIFT_BASE]);
    return state;
}

#ifdef KL_CRC32_FOLDING
#define KL_SHIFT_TARGET __attribute__((target("sse4.2,pclmul")))

/* CRC-32 has no instruction: Barrett's quotient of word x^32, of which the lowest 32 coefficients
 * are enough, from floor(x^96 / P), and its product with P. */
KL_SHIFT_TARGET static KL_ALWAYS_INLINE uint32_t kl_reduce_folded(int castagnoli, uint64_t word) {
    if (castagnoli) return (uint32_t)_mm_crc32_u64(0, word);
    const __m128i inverse = _mm_cvtsi64_si128((long long)0xb4e5b025f7011641u);
    const __m128i polynomial = _mm_cvtsi64_si128(0x1db710640);
    __m128i quotient = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)word), inverse, 0);
    quotient = _mm_clmulepi64_si128(_mm_srli_epi64(quotient, 32), polynomial, 0);
    return (uint32_t)((uint64_t)_mm_cvtsi128_si64(quotient) >> 32);
}

KL_SHIFT_TARGET static KL_ALWAYS_INLINE uint32_t kl_multiply_folded(
    int castagnoli, uint32_t left, uint32_t right
) {
    __m128i product = _mm_clmulepi64_si128(
        _mm_cvtsi32_si128((int)left), _mm_cvtsi32_si128((int)right), 0);
    return kl_reduce_folded(castagnoli, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Without a branch for digits of zero, whose factors are one. */
KL_SHIFT_TARGET static KL_ALWAYS_INLINE uint32_t kl_shift_folded(
    int castagnoli, uint32_t state, uint64_t count
) {
    uint32_t(*factors)[KL_SHIFT_BASE] = kl_shift_factors[castagnoli];
    state = kl_multiply_folded(castagnoli, state, factors[0][count % KL_SHIFT_BASE]);
    count /= KL_SHIFT_BASE;
    state = kl_multiply_folded(castagnoli, state, factors[1][count % KL_SHIFT_BASE]);
    count /= KL_SHIFT_BASE;
    if (count) state = kl_multiply_folded(castagnoli, state, factors[2][count]);
    return state;
}
#endif

/* Called with the GIL held, once a search; the kernel's module that searches is the only one. */
static void kl_crc_shift_prepare(void) {
    if (kl_shift_is_prepared) return;
    for (int castagnoli = 0; castagnoli < 2; castagnoli++) {
        uint32_t(*slices)[256] = castagnoli ? kl_slices : kl_crc32_slices;
        uint32_t polynomial = castagnoli ? 0x82F63B78u : 0xEDB88320u;
        uint32_t inverse = 0x80000000u, none = 0, step = 0; /* x^-33, and x^-25 for one byte more */
        for (int power = 1; power <= 65; power++) {
            inverse = inverse >> 31 ? (inverse ^ polynomial) << 1 | 1 : inverse << 1;
            if (power == 25) step = inverse;
            if (power == 33) none = inverse;
        }
        kl_back_four[castagnoli] = inverse;
        for (int digit = 0; digit < KL_SHIFT_DIGITS; digit++) {
            uint32_t factor = none;
            for (int value = 0; value < KL_SHIFT_BASE; value++) {
                kl_shift_factors[castagnoli][digit][value] = factor;
                factor = kl_multiply(slices, factor, step);
            }
            step = factor;
        }
    }
    kl_shift_is_prepared = 1;
}

#endif
