/* What the search for sound batches does to every byte: which positions may begin one, and the
 * registers of both CRCs, noted every 16 bytes. primitives.py is its twin.
 */
#ifndef KAFKALOG_BATCH_SEARCH_H
#define KAFKALOG_BATCH_SEARCH_H

#include "crc_shift.h"

#define KL_BLOCK 16
#define KL_HEADER 61

/* Where an entry may begin by single bytes of its header; 61 are readable. Never false where one
 * begins: what it lets pass is looked at field by field. */
static inline int kl_may_begin_here(
    const uint8_t *data, int same, const uint8_t *lowest, const uint8_t *highest, uint8_t left
) {
    uint8_t magic = data[16], length = data[8];
    if (magic > 2 || length > left) return 0;
    if (!(length | data[9] | data[10]) && data[11] < 14) return 0;
    for (int byte = 0; byte < same; byte++)
        if (data[byte] != lowest[byte]) return 0;
    if (same < 8 && (data[same] < lowest[same] || data[same] > highest[same])) return 0;
    if (magic == 2)
        return !data[21] && (data[22] & 7) <= 4 && !((data[23] | data[57]) & 0x80);
    const uint8_t *key = data + (magic ? 26 : 18);
    return !(data[17] & 0xF4) && (key[0] <= length || key[0] == 0xFF);
}

#if defined(__SSE2__)
#define KL_AT(byte) _mm_loadu_si128((const __m128i *)(data + (byte)))
#define KL_ALL(value) _mm_set1_epi8((char)(value))
#define KL_AT_MOST(value, limit) _mm_cmpeq_epi8(_mm_min_epu8(value, limit), value)
#define KL_AT_LEAST(value, limit) _mm_cmpeq_epi8(_mm_max_epu8(value, limit), value)

/* Where the key's length is null or 14 less than the message's: compared byte by byte. */
static inline __m128i kl_key_fits_16(const uint8_t *data, __m128i has_timestamp) {
    __m128i fits = _mm_setzero_si128(), null = KL_ALL(0xFF);
    for (int byte = 3; byte >= 0; byte--) {
        __m128i length = KL_AT(8 + byte);
        __m128i key = _mm_or_si128(_mm_and_si128(has_timestamp, KL_AT(26 + byte)),
                                   _mm_andnot_si128(has_timestamp, KL_AT(18 + byte)));
        null = _mm_and_si128(null, key);
        if (byte == 3) { /* a length below 14 has nothing to give */
            fits = _mm_and_si128(KL_AT_MOST(key, _mm_subs_epu8(length, KL_ALL(14))),
                                 KL_AT_LEAST(length, KL_ALL(14)));
            continue;
        }
        __m128i same = _mm_cmpeq_epi8(key, length);
        fits = _mm_or_si128(_mm_and_si128(same, fits),
                            _mm_andnot_si128(same, KL_AT_MOST(key, length)));
    }
    return _mm_or_si128(fits, _mm_cmpeq_epi8(null, KL_ALL(0xFF)));
}

/* The same of 16 positions, one bit each. */
static inline uint64_t kl_may_begin_16(
    const uint8_t *data, int same, const uint8_t *lowest, const uint8_t *highest, uint8_t left
) {
    const __m128i zero = _mm_setzero_si128();
    __m128i magic = KL_AT(16), length = KL_AT(8);
    __m128i may = KL_AT_MOST(magic, KL_ALL(2));
    for (int byte = 0; byte < same; byte++)
        may = _mm_and_si128(may, _mm_cmpeq_epi8(KL_AT(byte), KL_ALL(lowest[byte])));
    if (same < 8) {
        __m128i next = KL_AT(same);
        may = _mm_and_si128(may, KL_AT_LEAST(next, KL_ALL(lowest[same])));
        may = _mm_and_si128(may, KL_AT_MOST(next, KL_ALL(highest[same])));
    }
    may = _mm_and_si128(may, KL_AT_MOST(length, KL_ALL(left)));
    if (!_mm_movemask_epi8(may)) return 0;
    __m128i high = _mm_or_si128(length, _mm_or_si128(KL_AT(9), KL_AT(10)));
    __m128i small = _mm_andnot_si128(KL_AT_LEAST(KL_AT(11), KL_ALL(14)), _mm_cmpeq_epi8(high, zero));
    may = _mm_andnot_si128(small, may);
    __m128i codec = _mm_and_si128(KL_AT(22), KL_ALL(7));
    __m128i batch = _mm_and_si128(_mm_cmpeq_epi8(KL_AT(21), zero), KL_AT_MOST(codec, KL_ALL(4)));
    batch = _mm_andnot_si128(_mm_cmpgt_epi8(zero, _mm_or_si128(KL_AT(23), KL_AT(57))), batch);
    __m128i message = _mm_cmpeq_epi8(_mm_and_si128(KL_AT(17), KL_ALL(0xF4)), zero);
    message = _mm_and_si128(message, kl_key_fits_16(data, _mm_cmpeq_epi8(magic, KL_ALL(1))));
    __m128i second = _mm_cmpeq_epi8(magic, KL_ALL(2));
    batch = _mm_or_si128(_mm_and_si128(second, batch), _mm_andnot_si128(second, message));
    return (uint64_t)_mm_movemask_epi8(_mm_and_si128(may, batch));
}
#endif

/* Which of 64 positions may begin an entry that ends within ``left`` bytes, the first one's bit
 * lowest; ``available`` bytes can be read. */
static inline uint64_t kl_may_begin(
    const uint8_t *data, size_t available, int64_t lowest, int64_t highest, int64_t left
) {
    uint8_t from[8], to[8];
    uint64_t found = 0;
    int same = 0;
    for (int byte = 0; byte < 8; byte++) {
        from[byte] = (uint8_t)((uint64_t)lowest >> (56 - 8 * byte));
        to[byte] = (uint8_t)((uint64_t)highest >> (56 - 8 * byte));
    }
    while (same < 8 && from[same] == to[same]) same++;
    uint8_t longest = left > 0x7FFFFFFF ? 0x7F : (uint8_t)(left >> 24);
#if defined(__SSE2__)
    if (available >= 64 + KL_HEADER) {
        for (int at = 0; at < 64; at += 16)
            found |= kl_may_begin_16(data + at, same, from, to, longest) << at;
        return found;
    }
#endif
    for (size_t at = 0; at < 64; at++) {
        if (available - at < 26 || available < at) break;
        if (available - at < KL_HEADER) /* the field by field check knows what it may read */
            found |= (uint64_t)1 << at;
        else
            found |= (uint64_t)kl_may_begin_here(data + at, same, from, to, longest) << at;
    }
    return found;
}

#ifdef KL_CRC32_FOLDING
__attribute__((target("sse4.2"))) static void kl_note_castagnoli(
    long long *registers, uint32_t state, const uint8_t *data, size_t blocks
) {
    uint64_t now = state;
    for (size_t block = 0; block < blocks; block++, data += KL_BLOCK) {
        registers[block] = (long long)now;
        now = _mm_crc32_u64(_mm_crc32_u64(now, kl_load_native(data)), kl_load_native(data + 8));
    }
    registers[blocks] = (long long)now;
}
#endif

/* The register before every block of 16 bytes, and that behind the last whole one. */
static void kl_note_registers(
    int castagnoli, long long *registers, uint32_t state, const uint8_t *data, size_t size
) {
    size_t blocks = size / KL_BLOCK;
#ifdef KL_CRC32_FOLDING
    if (castagnoli && kl_crc_use_instruction) {
        kl_note_castagnoli(registers, state, data, blocks);
        return;
    }
#endif
    uint32_t (*by_tables)(uint32_t, const uint8_t *, size_t) =
        castagnoli ? kl_crc32c_tables : kl_crc32_tables;
    size_t block = 0;
    for (; blocks - block >= 4; block += 4, data += 4 * KL_BLOCK) {
        uint32_t inside = state; /* the next four blocks do not wait for these tables */
        registers[block] = state;
        for (int next = 1; next < 4; next++) {
            inside = by_tables(inside, data + (next - 1) * KL_BLOCK, KL_BLOCK);
            registers[block + next] = inside;
        }
        state = castagnoli ? kl_crc32c_extend(state, data, 4 * KL_BLOCK)
                           : kl_crc32_extend(state, data, 4 * KL_BLOCK);
    }
    for (; block < blocks; block++, data += KL_BLOCK) {
        registers[block] = state;
        state = by_tables(state, data, KL_BLOCK);
    }
    registers[blocks] = state;
}

static inline uint32_t kl_register_at(
    int castagnoli, const long long *registers, const uint8_t *data, size_t at, size_t size
) {
    size_t start = at / KL_BLOCK * KL_BLOCK;
    uint32_t state = (uint32_t)registers[at / KL_BLOCK];
    if (size - start >= KL_BLOCK + 8) return kl_crc_few(castagnoli, state, data + start, at - start);
    return castagnoli ? kl_crc32c_tables(state, data + start, at - start)
                      : kl_crc32_tables(state, data + start, at - start);
}

#endif
