/* Eight candidates at once, each in 64 bits of a register of AVX-512: whether their fields
 * contradict each other, and the registers of their CRCs. plausible_entries_cy.py and
 * prefix_registers.h do what is left, and say why.
 */
#ifndef KAFKALOG_EIGHT_CANDIDATES_X86_H
#define KAFKALOG_EIGHT_CANDIDATES_X86_H

#include "crc_shift.h"

#if !defined(KL_CRC32_FOLDING) || defined(KAFKALOG_WITHOUT_AVX512)
static inline int kl_has_eights(void) { return 0; }
#else
#define KL_EIGHT __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq,pclmul")))
static inline int kl_has_eights(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("vpclmulqdq");
}

#define kl_8_of(number) _mm512_set1_epi64((long long)(number))
#define kl_8_add(left, right) _mm512_add_epi64(left, right)
#define kl_8_sub(left, right) _mm512_sub_epi64(left, right)
#define kl_8_and(left, number) _mm512_and_si512(left, kl_8_of(number))

KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_positions(const int32_t *positions) {
    return _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)positions));
}

/* Eight bytes at each position, the first one lowest. */
KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_little(
    __mmask8 which, const void *data, __m512i at
) {
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), which, at, data, 1);
}

/* Eight bytes at each position, the first one highest. */
KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_big(__mmask8 which, const void *data, __m512i at) {
    const __m512i reversed = _mm512_broadcast_i32x4(
        _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    return _mm512_shuffle_epi8(kl_8_little(which, data, at), reversed);
}

/* Four bytes at each position, unsigned, as this machine orders them. */
KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_native32(
    __mmask8 which, const void *data, __m512i at
) {
    return _mm512_cvtepu32_epi64(
        _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), which, at, data, 1));
}

/* The signed number in the upper or the lower half of each. */
#define kl_8_upper(numbers) _mm512_srai_epi64(numbers, 32)
#define kl_8_lower(numbers) _mm512_srai_epi64(_mm512_slli_epi64(numbers, 32), 32)
#define kl_8_at_least(which, left, right) _mm512_mask_cmpge_epi64_mask(which, left, right)
#define kl_8_at_most(which, left, right) _mm512_mask_cmple_epi64_mask(which, left, right)

struct kl_limits {
    const uint8_t *data;
    int64_t size, left, lowest, highest;
};

/* What an entry has in all magics. */
struct kl_8_entries {
    __m512i at, offset, length, sixteenth; /* the eight bytes from the magic on, that lowest */
};

/* ``looks_like_batch`` of eight. */
KL_EIGHT static KL_ALWAYS_INLINE __mmask8 kl_8_like_batches(
    __mmask8 which, struct kl_8_entries entries, struct kl_limits limits
) {
    const __m512i none = kl_8_of(-1), zero = kl_8_of(0);
    __m512i at = entries.at, offset = entries.offset, length = entries.length;
    __m512i epoch = kl_8_lower(kl_8_big(0xFF, limits.data, kl_8_add(at, kl_8_of(8))));
    __m512i delta = kl_8_upper(kl_8_big(0xFF, limits.data, kl_8_add(at, kl_8_of(23))));
    __m512i producer = kl_8_big(0xFF, limits.data, kl_8_add(at, kl_8_of(43)));
    __m512i producer_epoch = kl_8_big(0xFF, limits.data, kl_8_add(at, kl_8_of(45)));
    __m512i last = kl_8_big(0xFF, limits.data, kl_8_add(at, kl_8_of(53)));
    __m512i count = kl_8_lower(last);
    producer_epoch = _mm512_srai_epi64(_mm512_slli_epi64(producer_epoch, 48), 48);
    __m512i codec = kl_8_and(_mm512_srli_epi64(entries.sixteenth, 48), 7);
    which = kl_8_at_least(which, length, kl_8_of(49));
    which = kl_8_at_most(which, codec, kl_8_of(4));
    which = _mm512_mask_testn_epi64_mask(which, entries.sixteenth, kl_8_of((int64_t)0xFF << 40));
    which = kl_8_at_least(which, delta, zero);
    which = kl_8_at_least(which, count, zero);
    which = kl_8_at_most(which, count, kl_8_add(delta, kl_8_of(1)));
    which = kl_8_at_most(which, delta, kl_8_sub(kl_8_of(limits.highest), offset));
    __mmask8 is_plain = _mm512_mask_testn_epi64_mask(which, codec, codec);
    __m512i least = kl_8_add(kl_8_sub(_mm512_slli_epi64(count, 3), count), kl_8_of(49));
    which &= ~_mm512_mask_cmpgt_epi64_mask(is_plain, least, length);
    which = kl_8_at_least(which, epoch, none);
    which = kl_8_at_least(which, producer, none);
    which = kl_8_at_least(which, producer_epoch, none);
    return kl_8_at_least(which, kl_8_upper(last), none);
}

/* Where the length of a message's value stands, and what it must be. */
struct kl_8_values {
    __m512i at, wanted;
};
#define KL_NOT_ASKED (-2) /* instead of what it must be: any will do */
#define KL_NO_ENTRY (-3)

/* ``looks_like_message`` of eight, but for the length of the value. */
KL_EIGHT static KL_ALWAYS_INLINE struct kl_8_values kl_8_like_messages(
    __mmask8 which, struct kl_8_entries entries, struct kl_limits limits
) {
    const __m512i zero = kl_8_of(0), none = kl_8_of(-1);
    __m512i magic_bytes = _mm512_slli_epi64(kl_8_and(entries.sixteenth, 1), 3);
    __m512i attributes = _mm512_srli_epi64(entries.sixteenth, 8);
    __m512i rest = kl_8_sub(kl_8_sub(entries.length, kl_8_of(14)), magic_bytes);
    __m512i key = kl_8_add(kl_8_add(entries.at, kl_8_of(18)), magic_bytes);
    which = kl_8_at_least(which, rest, zero);
    which = _mm512_mask_testn_epi64_mask(which, attributes, kl_8_of(0xF4));
    /* 8 is a bit of magic 1 only */
    which = kl_8_at_most(which, kl_8_and(attributes, 8), magic_bytes);
    __m512i key_length = kl_8_upper(kl_8_big(0xFF, limits.data, key));
    which = kl_8_at_least(which, key_length, none);
    which = kl_8_at_most(which, key_length, rest);
    key_length = _mm512_max_epi64(key_length, zero);
    /* in a later window the CRC will tell */
    __m512i room = kl_8_sub(kl_8_of(limits.size - 8), key);
    __mmask8 is_here = kl_8_at_most(which, key_length, room);
    __m512i wanted = _mm512_mask_mov_epi64(kl_8_of(KL_NO_ENTRY), which, kl_8_of(KL_NOT_ASKED));
    return (struct kl_8_values){
        .at = _mm512_mask_add_epi64(entries.at, is_here, kl_8_add(key, key_length), kl_8_of(4)),
        .wanted = _mm512_mask_sub_epi64(wanted, is_here, rest, key_length),
    };
}

KL_EIGHT static KL_ALWAYS_INLINE void kl_8_store(int32_t *numbers, __m512i from) {
    _mm256_storeu_si256((__m256i *)(void *)numbers, _mm512_cvtepi64_epi32(from));
}

/* Of eight positions what ``keep_plausible`` asks, but for the lengths of values. */
KL_EIGHT static KL_ALWAYS_INLINE void kl_8_look(
    int32_t *value_at, int32_t *wanted, const int32_t *positions, struct kl_limits limits
) {
    struct kl_8_entries entries = {.at = kl_8_positions(positions)};
    __m512i at = entries.at;
    entries.offset = kl_8_big(0xFF, limits.data, at);
    entries.length = kl_8_upper(kl_8_big(0xFF, limits.data, kl_8_add(at, kl_8_of(8))));
    entries.sixteenth = kl_8_little(0xFF, limits.data, kl_8_add(at, kl_8_of(16)));
    __m512i magic = kl_8_and(entries.sixteenth, 0xFF);
    __mmask8 which = kl_8_at_least(0xFF, entries.offset, kl_8_of(limits.lowest));
    which = kl_8_at_most(which, entries.offset, kl_8_of(limits.highest));
    which = kl_8_at_most(which, kl_8_add(entries.length, at), kl_8_of(limits.left - 12));
    __mmask8 batches = _mm512_mask_cmpeq_epi64_mask(which, magic, kl_8_of(2));
    __mmask8 messages = _mm512_mask_cmplt_epi64_mask(which, magic, kl_8_of(2));
    struct kl_8_values values = {at, kl_8_of(KL_NO_ENTRY)};
    if (messages) values = kl_8_like_messages(messages, entries, limits);
    if (batches) {
        batches = kl_8_like_batches(batches, entries, limits);
        values.wanted = _mm512_mask_mov_epi64(values.wanted, batches, kl_8_of(KL_NOT_ASKED));
    }
    kl_8_store(value_at, values.at);
    kl_8_store(wanted, values.wanted);
}

#define KL_LOOKED_AT 256 /* together */

/* ``keep_plausible`` of a multiple of eight positions, each with a whole header of magic 2. Lengths
 * of values come after all else: loads that wait for loads that wait would keep the rest waiting. */
KL_EIGHT static size_t kl_keep_plausible_eights(
    int32_t *positions, size_t count, struct kl_limits limits
) {
    const __m512i reversed = _mm512_broadcast_i32x4(
        _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
    int32_t value_at[KL_LOOKED_AT], wanted[KL_LOOKED_AT];
    size_t kept = 0;
    for (size_t start = 0; start < count; start += KL_LOOKED_AT) {
        size_t number = count - start < KL_LOOKED_AT ? count - start : KL_LOOKED_AT;
        for (size_t row = 0; row < number; row += 8)
            kl_8_look(value_at + row, wanted + row, positions + start + row, limits);
        for (size_t row = 0; row < number; row += 16) {
            __mmask16 there = number - row < 16 ? 0xFF : 0xFFFF;
            __m512i want = _mm512_maskz_loadu_epi32(there, wanted + row);
            __m512i where = _mm512_maskz_loadu_epi32(there, value_at + row);
            __m512i at = _mm512_maskz_loadu_epi32(there, positions + start + row);
            __mmask16 asked = _mm512_mask_cmpge_epi32_mask(there, want, _mm512_setzero_si512());
            __m512i value = _mm512_shuffle_epi8(_mm512_mask_i32gather_epi32(
                _mm512_setzero_si512(), asked, where, limits.data, 1), reversed);
            value = _mm512_maskz_mov_epi32( /* null counts as empty */
                _mm512_cmpneq_epi32_mask(value, _mm512_set1_epi32(-1)), value);
            there = _mm512_mask_cmpeq_epi32_mask(there, want, _mm512_set1_epi32(KL_NOT_ASKED));
            there |= _mm512_mask_cmpeq_epi32_mask(asked, want, value);
            __mmask16 room = number - row < 16 ? 0xFF : 0xFFFF;
            _mm512_mask_storeu_epi32(
                positions + kept, room, _mm512_maskz_compress_epi32(there, at));
            kept += (size_t)_mm_popcnt_u32(there);
        }
    }
    return kept;
}

/* What the register of each is reduced by: CRC-32C's or, of messages, CRC-32's. */
struct kl_8_crcs {
    __mmask8 castagnoli;
    __m512i inverse, polynomial;
};

KL_EIGHT static KL_ALWAYS_INLINE struct kl_8_crcs kl_8_crcs_of(__mmask8 castagnoli) {
    struct kl_8_crcs crcs = {.castagnoli = castagnoli};
    crcs.inverse = _mm512_mask_blend_epi64(
        castagnoli, kl_8_of(0xb4e5b025f7011641u), kl_8_of(0x4869ec38dea713f1));
    crcs.polynomial = _mm512_mask_blend_epi64(
        castagnoli, kl_8_of(0x1db710640), kl_8_of(0x105ec76f0));
    return crcs;
}

/* The lower halves of the carry-less products. */
KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_product(__m512i left, __m512i right) {
    return _mm512_unpacklo_epi64(
        _mm512_clmulepi64_epi128(left, right, 0x00), _mm512_clmulepi64_epi128(left, right, 0x11));
}

/* ``kl_reduce_folded`` of both CRCs. */
KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_reduce(__m512i words, struct kl_8_crcs crcs) {
    __m512i quotient = _mm512_srli_epi64(kl_8_product(words, crcs.inverse), 32);
    return _mm512_srli_epi64(kl_8_product(quotient, crcs.polynomial), 32);
}

/* The blocks of positions below have 24 bytes: what ``kl_8_registers`` reads. */
static inline int64_t kl_8_limit(size_t size) { return (int64_t)(size & ~(size_t)15) - 16; }

/* The registers that are noted before the blocks of positions. */
KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_noted(
    __mmask8 which, __m512i at, struct kl_8_crcs crcs, const uint32_t *registers,
    const uint32_t *message_registers
) {
    __m512i start = kl_8_and(at, ~(int64_t)15), state = kl_8_of(0);
    __mmask8 batches = which & crcs.castagnoli, messages = which & ~crcs.castagnoli;
    if (messages) {
        __m512i first = kl_8_little(messages, message_registers, start);
        __m512i second = kl_8_little(messages, message_registers, kl_8_add(start, kl_8_of(8)));
        state = kl_8_reduce(_mm512_xor_si512(kl_8_reduce(first, crcs), second), crcs);
    }
    if (batches)
        state = _mm512_mask_mov_epi64(
            state, batches, kl_8_native32(batches, registers, _mm512_srli_epi64(start, 2)));
    return state;
}

/* ``KL_FEW`` from those on, of positions below ``kl_8_limit``. */
KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_few(
    __mmask8 which, __m512i at, __m512i state, struct kl_8_crcs crcs, const uint8_t *data
) {
    __m512i start = kl_8_and(at, ~(int64_t)15);
    __m512i eight = _mm512_xor_si512(kl_8_little(which, data, start), state);
    __m512i second = kl_8_and(at, 8), bits = _mm512_slli_epi64(kl_8_and(at, 7), 3);
    state = _mm512_mask_mov_epi64(
        state, _mm512_test_epi64_mask(second, second), kl_8_reduce(eight, crcs));
    __m512i word = _mm512_xor_si512(kl_8_little(which, data, kl_8_add(start, second)), state);
    word = kl_8_reduce(_mm512_sllv_epi64(word, kl_8_sub(kl_8_of(64), bits)), crcs);
    return _mm512_xor_si512(word, _mm512_srlv_epi64(state, bits));
}

/* What multiplies a register by so many zero bytes. */
KL_EIGHT static KL_ALWAYS_INLINE __m512i kl_8_factors(__m512i count, struct kl_8_crcs crcs) {
    const uint32_t *digits = kl_shift_factors[0][0];
    const __m512i mask = kl_8_of(4 * (KL_SHIFT_BASE - 1));
    __m512i at = _mm512_maskz_mov_epi64(
        crcs.castagnoli, kl_8_of(4 * KL_SHIFT_DIGITS * KL_SHIFT_BASE));
    __m512i low = kl_8_native32(0xFF, digits, _mm512_or_si512(
        at, _mm512_and_si512(_mm512_slli_epi64(count, 2), mask)));
    __m512i middle = kl_8_native32(0xFF, digits + KL_SHIFT_BASE, _mm512_or_si512(
        at, _mm512_and_si512(_mm512_srli_epi64(count, 9), mask)));
    __m512i factors = kl_8_reduce(kl_8_product(low, middle), crcs);
    __m512i high = _mm512_srli_epi64(count, 22);
    if (!_mm512_test_epi64_mask(high, high)) return factors;
    high = kl_8_native32(0xFF, digits + 2 * KL_SHIFT_BASE, _mm512_add_epi64(
        at, _mm512_and_si512(_mm512_slli_epi64(high, 2), mask)));
    return kl_8_reduce(kl_8_product(factors, high), crcs);
}

/* ``KL_DIFFERENCE`` of candidates, eight after eight; how many are done, up to one whose start or
 * end is too near the window's end. */
KL_EIGHT static size_t kl_differences_eights(
    uint32_t *differences, const int32_t *positions, size_t count, const uint8_t *data,
    size_t size, const uint32_t *registers, const uint32_t *message_registers
) {
    const __m512i all_ones = kl_8_of(0xFFFFFFFF), limit = kl_8_of(kl_8_limit(size));
    size_t row = 0;
    for (; count - row >= 8; row += 8) {
        __m512i at = kl_8_positions(positions + row);
        __m512i eighth = kl_8_big(0xFF, data, kl_8_add(at, kl_8_of(8)));
        __m512i sixteenth = kl_8_big(0xFF, data, kl_8_add(at, kl_8_of(16)));
        __m512i magic = _mm512_srli_epi64(sixteenth, 56);
        struct kl_8_crcs crcs = kl_8_crcs_of(_mm512_cmpeq_epi64_mask(magic, kl_8_of(2)));
        __m512i stored = _mm512_mask_srli_epi64(
            _mm512_and_si512(eighth, all_ones), crcs.castagnoli, _mm512_slli_epi64(sixteenth, 8), 32);
        __m512i start = _mm512_mask_add_epi64(
            kl_8_add(at, kl_8_of(16)), crcs.castagnoli, at, kl_8_of(21));
        __m512i end = kl_8_add(kl_8_add(at, kl_8_of(12)), _mm512_srli_epi64(eighth, 32));
        __mmask8 is_here = _mm512_cmple_epi64_mask(end, kl_8_of(size));
        __mmask8 is_near = _mm512_mask_cmpge_epi64_mask(is_here, end, limit);
        if (is_near | _mm512_cmpge_epi64_mask(start, limit)) break;
        __m512i state = kl_8_noted(0xFF, start, crcs, registers, message_registers);
        state = _mm512_xor_si512(kl_8_few(0xFF, start, state, crcs, data), all_ones);
        state = kl_8_product(state, kl_8_factors(kl_8_sub(end, start), crcs));
        state = _mm512_ternarylogic_epi64(kl_8_reduce(state, crcs), stored, all_ones, 0x96);
        if (is_here) {
            __m512i there = kl_8_noted(is_here, end, crcs, registers, message_registers);
            there = kl_8_few(is_here, end, there, crcs, data);
            state = _mm512_mask_xor_epi64(state, is_here, state, there);
        }
        _mm256_storeu_si256(
            (__m256i *)(void *)(differences + row), _mm512_cvtepi64_epi32(state));
    }
    return row;
}

/* The registers at ends, those of messages complements, eight after eight; how many are done, up to
 * one that is too near the window's. */
KL_EIGHT static size_t kl_registers_at_eights(
    uint32_t *found, const int32_t *ends, size_t count, const uint8_t *data, size_t size,
    const uint32_t *registers, const uint32_t *message_registers
) {
    const __m512i limit = kl_8_of(kl_8_limit(size));
    size_t row = 0;
    for (; count - row >= 8; row += 8) {
        __m512i at = kl_8_positions(ends + row);
        __mmask8 messages = _mm512_movepi64_mask(at);
        struct kl_8_crcs crcs = kl_8_crcs_of((__mmask8)~messages);
        at = _mm512_mask_sub_epi64(at, messages, kl_8_of(-1), at);
        if (_mm512_cmpge_epi64_mask(at, limit)) break;
        __m512i state = kl_8_noted(0xFF, at, crcs, registers, message_registers);
        state = kl_8_few(0xFF, at, state, crcs, data);
        _mm256_storeu_si256((__m256i *)(void *)(found + row), _mm512_cvtepi64_epi32(state));
    }
    return row;
}
#endif

/* How many the functions below leave that one by one must be gone through before they are asked
 * again: eights end at one near the window's end. */
#define KL_ONE_BY_ONE(left) (kl_has_eights() && (left) > 8 ? 8 : (left))

/* Of a multiple of eight positions, each with a whole header of magic 2, those where an entry may
 * begin: moved to the front. How many there are; -1 where this machine has no such instructions. */
static inline int64_t kl_keep_plausible_by_instructions(
    int32_t *positions, size_t count, const uint8_t *data, size_t size, int64_t left,
    int64_t lowest, int64_t highest
) {
#ifdef KL_EIGHT
    if (kl_has_eights()) {
        struct kl_limits limits = {data, (int64_t)size, left, lowest, highest};
        return (int64_t)kl_keep_plausible_eights(positions, count, limits);
    }
#endif
    (void)positions, (void)count, (void)data, (void)size, (void)left, (void)lowest, (void)highest;
    return -1;
}

/* ``kl_differences_eights`` where this machine has the instructions. */
static inline size_t kl_differences_by_eights(
    uint32_t *differences, const int32_t *positions, size_t count, const uint8_t *data,
    size_t size, const uint32_t *registers, const uint32_t *message_registers
) {
#ifdef KL_EIGHT
    if (kl_has_eights())
        return kl_differences_eights(
            differences, positions, count, data, size, registers, message_registers);
#endif
    (void)differences, (void)positions, (void)count, (void)data, (void)size;
    (void)registers, (void)message_registers;
    return 0;
}

/* ``kl_registers_at_eights`` where this machine has the instructions. */
static inline size_t kl_registers_at_by_eights(
    uint32_t *found, const int32_t *ends, size_t count, const uint8_t *data, size_t size,
    const uint32_t *registers, const uint32_t *message_registers
) {
#ifdef KL_EIGHT
    if (kl_has_eights())
        return kl_registers_at_eights(
            found, ends, count, data, size, registers, message_registers);
#endif
    (void)found, (void)ends, (void)count, (void)data, (void)size;
    (void)registers, (void)message_registers;
    return 0;
}

#endif
