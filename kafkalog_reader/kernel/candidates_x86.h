/* Candidates of 32 or 64 positions at once, by instructions of x86-64; candidates.h says what is
 * asked of each, and does what is left.
 */
#ifndef KAFKALOG_CANDIDATES_X86_H
#define KAFKALOG_CANDIDATES_X86_H

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(KAFKALOG_PORTABLE)
#include <immintrin.h>
#define KL_WIDE __attribute__((target("avx2,bmi,popcnt")))
static inline int kl_is_wide(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")
        && __builtin_cpu_supports("popcnt");
}

#define kl_bytes_at(position) _mm256_loadu_si256((const __m256i *)(const void *)(position))
#define kl_all(byte) _mm256_set1_epi8((char)(byte))
#define kl_at_most(left, right) _mm256_cmpeq_epi8(_mm256_min_epu8(left, right), left)

/* ``kl_mark_by_offset`` of 32 positions: a bit for each. */
KL_WIDE static KL_ALWAYS_INLINE uint32_t kl_bits_by_offset(
    const uint8_t *data, const struct kl_bounds *bounds
) {
    __m256i wrong = _mm256_setzero_si256(), none = wrong;
    for (int byte = 0; byte < 4; byte++)
        wrong = _mm256_or_si256(wrong, _mm256_xor_si256(
            _mm256_and_si256(kl_bytes_at(data + byte), kl_all(bounds->fixed[byte])),
            kl_all(bounds->offset[byte])));
    __m256i fits = _mm256_and_si256(
        _mm256_cmpeq_epi8(wrong, none), kl_at_most(kl_bytes_at(data + 16), kl_all(2)));
    if (_mm256_testz_si256(fits, fits)) return 0;
    __m256i length = kl_bytes_at(data + 8);
    __m256i high = _mm256_or_si256(
        length, _mm256_or_si256(kl_bytes_at(data + 9), kl_bytes_at(data + 10)));
    __m256i above = _mm256_sub_epi8(kl_bytes_at(data + bounds->first), kl_all(bounds->least));
    __m256i is_short = _mm256_and_si256(
        _mm256_cmpeq_epi8(high, none), kl_at_most(kl_bytes_at(data + 11), kl_all(13)));
    fits = _mm256_and_si256(fits, kl_at_most(above, kl_all(bounds->most - bounds->least)));
    fits = _mm256_and_si256(fits, kl_at_most(length, kl_all(bounds->length)));
    return (uint32_t)_mm256_movemask_epi8(_mm256_andnot_si256(is_short, fits));
}

/* ``kl_mark_by_fields`` of 32 positions. */
KL_WIDE static KL_ALWAYS_INLINE uint32_t kl_bits_by_fields(
    const uint8_t *data, const struct kl_bounds *bounds
) {
    __m256i wrong = _mm256_setzero_si256(), none = wrong;
    if (bounds->fixed[4])
        for (int byte = 4; byte < 8; byte++)
            wrong = _mm256_or_si256(wrong, _mm256_xor_si256(
                _mm256_and_si256(kl_bytes_at(data + byte), kl_all(bounds->fixed[byte])),
                kl_all(bounds->offset[byte])));
    __m256i magic = kl_bytes_at(data + 16);
    __m256i codec = _mm256_and_si256(kl_bytes_at(data + 22), kl_all(7));
    __m256i sign = _mm256_or_si256(kl_bytes_at(data + 23), kl_bytes_at(data + 57));
    __m256i batch = _mm256_and_si256(
        _mm256_and_si256(_mm256_cmpeq_epi8(kl_bytes_at(data + 21), none),
                         kl_at_most(codec, kl_all(4))),
        kl_at_most(sign, kl_all(0x7F)));
    __m256i is_1 = _mm256_cmpeq_epi8(magic, kl_all(1)), null = kl_all(0xFF), fits = none;
    for (int byte = 3; byte >= 0; byte--) {
        __m256i length = kl_bytes_at(data + 8 + byte);
        __m256i key = _mm256_blendv_epi8(
            kl_bytes_at(data + 18 + byte), kl_bytes_at(data + 26 + byte), is_1);
        null = _mm256_and_si256(null, key);
        if (byte == 3) {
            __m256i rest = _mm256_subs_epu8(length, kl_all(14));
            fits = _mm256_and_si256(kl_at_most(kl_all(14), length), kl_at_most(key, rest));
        } else {
            __m256i equal = _mm256_cmpeq_epi8(key, length);
            fits = _mm256_andnot_si256(
                _mm256_andnot_si256(fits, equal), kl_at_most(key, length));
        }
    }
    __m256i known = _mm256_cmpeq_epi8(
        _mm256_and_si256(kl_bytes_at(data + 17), kl_all(0xF4)), none);
    __m256i message = _mm256_and_si256(
        known, _mm256_or_si256(fits, _mm256_cmpeq_epi8(null, kl_all(0xFF))));
    __m256i either = _mm256_blendv_epi8(message, batch, _mm256_cmpeq_epi8(magic, kl_all(2)));
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_and_si256(either, _mm256_cmpeq_epi8(wrong, none)));
}

/* Lists the candidates among the first whole 32s of ``count`` positions; how many are done. Four
 * numbers are written each time, needed or not: how many bits are set is anybody's guess. */
KL_WIDE static size_t kl_list_wide(
    int32_t *positions, size_t *listed, const uint8_t *data, size_t position, size_t count,
    struct kl_bounds bounds
) {
    size_t found = 0, at = 0;
    for (; count - at >= 32; at += 32) {
        uint32_t bits = kl_bits_by_offset(data + position + at, &bounds);
        if (!bits) continue;
        bits &= kl_bits_by_fields(data + position + at, &bounds);
        int32_t *next = positions + found;
        found += (size_t)_mm_popcnt_u32(bits);
        for (int few = 0; few < 4; few++, bits &= bits - 1)
            *next++ = (int32_t)(position + at + _tzcnt_u32(bits));
        for (; bits; bits &= bits - 1)
            *next++ = (int32_t)(position + at + _tzcnt_u32(bits));
    }
    *listed = found;
    return at;
}

#ifndef KAFKALOG_WITHOUT_AVX512
#define KL_WIDER __attribute__((target("avx512f,avx512bw,avx512vbmi2,popcnt")))
static inline int kl_is_wider(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("popcnt");
}

#define kl_64_at(position) _mm512_loadu_si512((const void *)(position))
#define kl_64_of(byte) _mm512_set1_epi8((char)(byte))
#define kl_none_in(fits, bytes, bits) _mm512_mask_testn_epi8_mask(fits, bytes, bits)

/* Whether four bytes from ``first`` on have the bits that all offsets share. */
KL_WIDER static KL_ALWAYS_INLINE __mmask64 kl_64_share_offset(
    const uint8_t *data, int first, const struct kl_bounds *bounds
) {
    __m512i wrong = _mm512_setzero_si512();
    for (int byte = first; byte < first + 4; byte++) {
        __m512i differs = _mm512_xor_si512(kl_64_at(data + byte), kl_64_of(bounds->offset[byte]));
        wrong = _mm512_or_si512(wrong, _mm512_and_si512(differs, kl_64_of(bounds->fixed[byte])));
    }
    return _mm512_testn_epi8_mask(wrong, wrong);
}

/* ``kl_mark_by_offset`` of 64 positions: a bit for each. */
KL_WIDER static KL_ALWAYS_INLINE __mmask64 kl_64_by_offset(
    const uint8_t *data, const struct kl_bounds *bounds
) {
    __mmask64 fits = _mm512_mask_cmple_epu8_mask(
        kl_64_share_offset(data, 0, bounds), kl_64_at(data + 16), kl_64_of(2));
    if (!fits) return 0;
    __m512i length = kl_64_at(data + 8);
    __m512i high = _mm512_or_si512(
        length, _mm512_or_si512(kl_64_at(data + 9), kl_64_at(data + 10)));
    __m512i above = _mm512_sub_epi8(kl_64_at(data + bounds->first), kl_64_of(bounds->least));
    fits = _mm512_mask_cmple_epu8_mask(fits, above, kl_64_of(bounds->most - bounds->least));
    fits = _mm512_mask_cmple_epu8_mask(fits, length, kl_64_of(bounds->length));
    __mmask64 is_short = _mm512_mask_cmplt_epu8_mask(
        kl_none_in(fits, high, high), kl_64_at(data + 11), kl_64_of(14));
    return fits & ~is_short;
}

/* ``kl_mark_by_fields`` of those of 64 positions that fit so far. */
KL_WIDER static KL_ALWAYS_INLINE __mmask64 kl_64_by_fields(
    const uint8_t *data, const struct kl_bounds *bounds, __mmask64 fits
) {
    if (bounds->fixed[4]) fits &= kl_64_share_offset(data, 4, bounds);
    __m512i magic = kl_64_at(data + 16), codec = _mm512_and_si512(kl_64_at(data + 22), kl_64_of(7));
    __m512i sign = _mm512_or_si512(kl_64_at(data + 23), kl_64_at(data + 57)), null = kl_64_of(0xFF);
    __mmask64 is_batch = _mm512_cmpeq_epi8_mask(magic, kl_64_of(2));
    __mmask64 batch = kl_none_in(fits & is_batch, kl_64_at(data + 21), kl_64_of(0xFF));
    batch = _mm512_mask_cmple_epu8_mask(batch, codec, kl_64_of(4));
    batch = kl_none_in(batch, sign, kl_64_of(0x80));
    __mmask64 is_1 = _mm512_cmpeq_epi8_mask(magic, kl_64_of(1)), key_fits = 0;
    for (int byte = 3; byte >= 0; byte--) {
        __m512i length = kl_64_at(data + 8 + byte);
        __m512i key = _mm512_mask_blend_epi8(
            is_1, kl_64_at(data + 18 + byte), kl_64_at(data + 26 + byte));
        null = _mm512_and_si512(null, key);
        if (byte == 3)
            key_fits = _mm512_mask_cmple_epu8_mask(
                _mm512_cmpge_epu8_mask(length, kl_64_of(14)), key,
                _mm512_sub_epi8(length, kl_64_of(14)));
        else
            key_fits = _mm512_cmplt_epu8_mask(key, length)
                | _mm512_mask_cmpeq_epi8_mask(key_fits, key, length);
    }
    key_fits |= _mm512_cmpeq_epi8_mask(null, kl_64_of(0xFF));
    return batch | kl_none_in(fits & ~is_batch & key_fits, kl_64_at(data + 17), kl_64_of(0xF4));
}

/* ``kl_list_wide`` by 64s; sixteen numbers are written each time. */
KL_WIDER static size_t kl_list_wider(
    int32_t *positions, size_t *listed, const uint8_t *data, size_t position, size_t count,
    struct kl_bounds bounds
) {
    static const uint8_t numbers[64] = {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42,
        43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    size_t found = 0, at = 0;
    for (; count - at >= 64; at += 64) {
        __mmask64 fits = kl_64_by_offset(data + position + at, &bounds);
        if (!fits) continue;
        fits = kl_64_by_fields(data + position + at, &bounds, fits);
        __m512i which = _mm512_maskz_compress_epi8(fits, kl_64_at(numbers));
        __m512i here = _mm512_set1_epi32((int)(position + at));
        size_t stop = found + (size_t)_mm_popcnt_u64(fits);
        for (size_t next = found; next < stop; next += 16) {
            __m512i sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(which));
            _mm512_storeu_si512((void *)(positions + next), _mm512_add_epi32(here, sixteen));
            which = _mm512_alignr_epi32(which, which, 4);
        }
        found = stop;
    }
    *listed = found;
    return at;
}
#endif
#endif

/* Lists the candidates among the first of ``count`` positions; how many are done. */
static size_t kl_list_by_instructions(
    int32_t *positions, size_t *listed, const uint8_t *data, size_t position, size_t count,
    struct kl_bounds bounds
) {
#ifdef KL_WIDER
    if (kl_is_wider()) return kl_list_wider(positions, listed, data, position, count, bounds);
#endif
#ifdef KL_WIDE
    if (kl_is_wide()) return kl_list_wide(positions, listed, data, position, count, bounds);
#endif
    (void)positions, (void)data, (void)position, (void)count, (void)bounds;
    *listed = 0;
    return 0;
}

#endif
