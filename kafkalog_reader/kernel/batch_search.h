/* What the search for sound batches does to every byte: which positions may begin one, and the
 * registers of both CRCs, noted every 16 bytes. primitives.py is its twin.
 */
#ifndef KAFKALOG_BATCH_SEARCH_H
#define KAFKALOG_BATCH_SEARCH_H

#include "crc_shift.h"

#define KL_BLOCK 16
#define KL_HEADER 61
#define KL_GROUP 224 /* positions that are looked at together; marks are counted in a byte */
#define KL_FEW_MARKS 14 /* in a group: looked at one by one, they cost less than all together */

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define KL_WIDE __attribute__((target("avx2")))
static inline int kl_is_wide(void) { return __builtin_cpu_supports("avx2"); }
#endif
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

/* Single bytes that an entry's first ones are compared with. */
struct kl_bounds {
    uint8_t offset[8], fixed[8]; /* bits that all offsets between the lowest and highest share */
    int first;                   /* the first byte that they do not share, and its limits */
    uint8_t least, most;
    uint8_t length;              /* limit of the length's first byte */
};

static inline struct kl_bounds kl_bounds_of(int64_t lowest, int64_t highest, int64_t left) {
    struct kl_bounds bounds = {.first = 0, .least = 0, .most = 0xFF};
    bounds.length = left > 0x7FFFFFFF ? 0x7F : (uint8_t)(left >> 24);
    uint64_t different = (uint64_t)lowest ^ (uint64_t)highest;
    int shared = 1;
    for (int byte = 0; byte < 8; byte++) {
        int shift = 56 - 8 * byte;
        if (shared && different >> shift & 0xFF) {
            shared = 0;
            bounds.first = byte;
            bounds.least = (uint8_t)((uint64_t)lowest >> shift);
            bounds.most = (uint8_t)((uint64_t)highest >> shift);
        }
        bounds.fixed[byte] = shared ? 0xFF : 0;
        bounds.offset[byte] = shared ? (uint8_t)((uint64_t)lowest >> shift) : 0;
    }
    return bounds;
}

/* Loops over single bytes without a branch: compilers make vectors of them. */
static KL_ALWAYS_INLINE void kl_mark_by_offset(
    uint8_t *restrict marks, const uint8_t *restrict data, size_t count, struct kl_bounds bounds
) {
    const uint8_t *differing = data + bounds.first;
    uint8_t least = bounds.least, span = (uint8_t)(bounds.most - bounds.least);
    for (size_t at = 0; at < count; at++) {
        uint8_t wrong = 0;
        for (int byte = 0; byte < 4; byte++)
            wrong |= (uint8_t)((data[at + byte] & bounds.fixed[byte]) ^ bounds.offset[byte]);
        uint8_t high = data[at + 8] | data[at + 9] | data[at + 10];
        uint8_t fits = (uint8_t)(data[at + 16] <= 2) & (uint8_t)(wrong == 0);
        fits &= (uint8_t)((uint8_t)(differing[at] - least) <= span);
        fits &= (uint8_t)(data[at + 8] <= bounds.length);
        fits &= (uint8_t)(high != 0) | (uint8_t)(data[at + 11] >= 14);
        marks[at] = fits;
    }
}

/* Of what an offset and a length may begin, what the next bytes do not contradict. */
static KL_ALWAYS_INLINE void kl_mark_by_fields(
    uint8_t *restrict marks, const uint8_t *restrict data, size_t count, struct kl_bounds bounds
) {
    for (size_t at = 0; at < count; at++) {
        uint8_t magic = data[at + 16], wrong = 0;
        for (int byte = 4; byte < 8; byte++)
            wrong |= (uint8_t)((data[at + byte] & bounds.fixed[byte]) ^ bounds.offset[byte]);
        uint8_t batch = (uint8_t)(data[at + 21] == 0) & (uint8_t)((data[at + 22] & 7) <= 4);
        batch &= (uint8_t)((data[at + 23] | data[at + 57]) < 0x80);
        /* the key is null, or its length 14 less than the message's: compared byte by byte */
        uint8_t mask = magic == 1 ? 0xFF : 0, null = 0xFF, fits = 0;
        for (int byte = 3; byte >= 0; byte--) {
            uint8_t length = data[at + 8 + byte];
            uint8_t key = (uint8_t)((data[at + 26 + byte] & mask) | (data[at + 18 + byte] & ~mask));
            null &= key;
            if (byte == 3)
                fits = (uint8_t)(length >= 14) & (uint8_t)(key <= (uint8_t)(length - 14));
            else
                fits = (uint8_t)(key < length) | ((uint8_t)(key == length) & fits);
        }
        uint8_t message = (uint8_t)((data[at + 17] & 0xF4) == 0) & (fits | (uint8_t)(null == 0xFF));
        marks[at] &= (uint8_t)(wrong == 0) & (magic == 2 ? batch : message);
    }
}

static KL_ALWAYS_INLINE size_t kl_count_marks(const uint8_t *marks, size_t count) {
    uint8_t marked = 0;
    for (size_t at = 0; at < count; at++) marked += marks[at];
    return marked;
}

static KL_ALWAYS_INLINE void kl_mark_all(
    uint8_t *marks, const uint8_t *data, size_t count, struct kl_bounds bounds
) {
    for (size_t at = 0; at < count; at += KL_GROUP) {
        size_t group = count - at < KL_GROUP ? count - at : KL_GROUP;
        kl_mark_by_offset(marks + at, data + at, group, bounds);
        if (kl_count_marks(marks + at, group) > KL_FEW_MARKS)
            kl_mark_by_fields(marks + at, data + at, group, bounds);
    }
}

#ifdef KL_WIDE
KL_WIDE static void kl_mark_all_wide(
    uint8_t *marks, const uint8_t *data, size_t count, struct kl_bounds bounds
) {
    kl_mark_all(marks, data, count, bounds);
}
#endif

/* Marks which of ``count`` positions may begin an entry that ends within ``left`` bytes; of
 * ``available`` ones, which is no less, all can be read. Never 0 where one begins: what is marked
 * is looked at field by field, also where there are fewer bytes than a header has. */
static void kl_mark_candidates(
    uint8_t *marks, const uint8_t *data, size_t count, size_t available,
    int64_t lowest, int64_t highest, int64_t left
) {
    struct kl_bounds bounds = kl_bounds_of(lowest, highest, left);
    size_t whole = available < KL_HEADER ? 0 : available - KL_HEADER + 1;
    if (whole > count) whole = count;
    memset(marks + whole, 1, count - whole);
#ifdef KL_WIDE
    if (kl_is_wide()) {
        kl_mark_all_wide(marks, data, whole, bounds);
        return;
    }
#endif
    kl_mark_all(marks, data, whole, bounds);
}

/* The first marked position from ``at`` on, or ``count``. */
static inline size_t kl_next_mark(const uint8_t *marks, size_t at, size_t count) {
    for (; count - at >= 8; at += 8) {
        uint64_t eight = kl_load_little(marks + at);
        if (eight) return at + (size_t)(kl_lowest_bit(eight) / 8);
    }
    while (at < count && !marks[at]) at++;
    return at;
}

/* The registers before every block of 16 bytes, and behind the last whole one. All sixteen tables
 * are looked up at once: only the first four bytes wait for the block before. */
static void kl_note_by_tables(
    uint32_t slices[16][256], uint32_t *registers, uint32_t state, const uint8_t *data,
    size_t blocks
) {
    for (size_t block = 0; block < blocks; block++, data += KL_BLOCK) {
        registers[block] = state;
        uint32_t behind = 0, mixed = state ^ (uint32_t)kl_load_little(data);
        for (int byte = 4; byte < KL_BLOCK; byte++) behind ^= slices[15 - byte][data[byte]];
        state = behind ^ slices[15][mixed & 0xFF] ^ slices[14][mixed >> 8 & 0xFF]
            ^ slices[13][mixed >> 16 & 0xFF] ^ slices[12][mixed >> 24];
    }
    registers[blocks] = state;
}

/* The register behind fewer than 16 bytes, of which 24 can be read; ``reduce`` gives the register
 * that eight bytes leave. No branch: where a candidate begins in a block is anybody's guess. */
#define KL_FEW(reduce, state, data, count)                                              \
    uint32_t eight = reduce(kl_load_little(data) ^ state);                              \
    uint32_t before = count & 8 ? eight : state;                                        \
    size_t rest = 8 * (count & 7);                                                      \
    uint64_t word = kl_load_little(data + (count & 8)) ^ before;                        \
    return reduce(word << (56 - rest) << 8) ^ (uint32_t)((uint64_t)before >> rest)

#define KL_REDUCE_BY_TABLES(word) kl_reduce(slices, word)

static inline uint32_t kl_few_by_tables(
    uint32_t slices[16][256], uint32_t state, const uint8_t *data, size_t count
) {
    KL_FEW(KL_REDUCE_BY_TABLES, state, data, count);
}

#ifdef KL_CRC32_FOLDING
#define KL_REDUCE_BY_INSTRUCTION(word) (uint32_t)_mm_crc32_u64(0, word)

KL_CRC_TARGET static uint32_t kl_few_by_instruction(
    uint32_t state, const uint8_t *data, size_t count
) {
    KL_FEW(KL_REDUCE_BY_INSTRUCTION, state, data, count);
}

KL_CRC_TARGET static void kl_note_by_instruction(
    uint32_t *registers, uint32_t state, const uint8_t *data, size_t blocks
) {
    uint64_t now = state;
    for (size_t block = 0; block < blocks; block++, data += KL_BLOCK) {
        registers[block] = (uint32_t)now;
        now = _mm_crc32_u64(_mm_crc32_u64(now, kl_load_native(data)), kl_load_native(data + 8));
    }
    registers[blocks] = (uint32_t)now;
}
#endif

static void kl_note_registers(
    int castagnoli, uint32_t *registers, uint32_t state, const uint8_t *data, size_t size
) {
#ifdef KL_CRC32_FOLDING
    if (castagnoli && kl_crc_use_instruction) {
        kl_note_by_instruction(registers, state, data, size / KL_BLOCK);
        return;
    }
#endif
    kl_note_by_tables(castagnoli ? kl_slices : kl_crc32_slices, registers, state, data,
                      size / KL_BLOCK);
}

static inline uint32_t kl_register_at(
    int castagnoli, const uint32_t *registers, const uint8_t *data, size_t at, size_t size
) {
    size_t start = at / KL_BLOCK * KL_BLOCK;
    uint32_t state = registers[at / KL_BLOCK];
    if (size - start < KL_BLOCK + 8)
        return castagnoli ? kl_crc32c_tables(state, data + start, at - start)
                          : kl_crc32_tables(state, data + start, at - start);
#ifdef KL_CRC32_FOLDING
    if (castagnoli && kl_crc_use_instruction)
        return kl_few_by_instruction(state, data + start, at - start);
#endif
    return kl_few_by_tables(castagnoli ? kl_slices : kl_crc32_slices, state, data + start,
                            at - start);
}

#endif
