/* The registers of both CRCs before every 16 bytes of a window, and what follows from them: the
 * register at any position, and the one that a range's stored CRC demands at its end. primitives.py
 * is the twin.
 *
 * Those of CRC-32, which has no instruction, have room for 16 bytes each: folded, they are not
 * reduced before somebody asks.
 */
#ifndef KAFKALOG_PREFIX_REGISTERS_H
#define KAFKALOG_PREFIX_REGISTERS_H

#include "crc_shift.h"
#include "eight_candidates_x86.h"

#define KL_BLOCK 16
#define KL_MESSAGE_STRIDE 4

/* The registers before every block of 16 bytes, and behind the last whole one. All sixteen tables
 * are looked up at once: only the first four bytes wait for the block before. */
static void kl_note_by_tables(
    uint32_t slices[16][256], uint32_t *registers, size_t stride, uint32_t state,
    const uint8_t *data, size_t blocks
) {
    for (size_t block = 0; block < blocks; block++, data += KL_BLOCK, registers += stride) {
        *registers = state;
        uint32_t behind = 0, mixed = state ^ (uint32_t)kl_load_little(data);
        for (int byte = 4; byte < KL_BLOCK; byte++) behind ^= slices[15 - byte][data[byte]];
        state = behind ^ slices[15][mixed & 0xFF] ^ slices[14][mixed >> 8 & 0xFF]
            ^ slices[13][mixed >> 16 & 0xFF] ^ slices[12][mixed >> 24];
    }
    *registers = state;
}

#ifdef KL_CRC32_FOLDING
/* Both at once: each waits for its own last step, not for the other. */
KL_SHIFT_TARGET static void kl_note_folded(
    uint32_t *registers, uint32_t state, uint32_t *message_registers, uint32_t message_state,
    const uint8_t *data, size_t blocks
) {
    const __m128i by_16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    __m128i folded = _mm_set_epi32(
        (int)kl_multiply_folded(0, message_state, kl_back_four[0]), 0, 0, 0);
    uint64_t now = state;
    for (size_t block = 0; block <= blocks; block++, data += KL_BLOCK) {
        registers[block] = (uint32_t)now;
        _mm_storeu_si128((__m128i *)(void *)(message_registers + KL_MESSAGE_STRIDE * block), folded);
        if (block == blocks) break;
        now = _mm_crc32_u64(_mm_crc32_u64(now, kl_load_native(data)), kl_load_native(data + 8));
        folded = kl_fold(folded, by_16, kl_load128(data));
    }
}

KL_SHIFT_TARGET static KL_ALWAYS_INLINE uint32_t kl_noted_folded(
    int castagnoli, const uint32_t *registers, size_t block
) {
    if (castagnoli) return registers[block];
    const uint8_t *folded = (const uint8_t *)(registers + KL_MESSAGE_STRIDE * block);
    uint32_t first = kl_reduce_folded(0, kl_load_native(folded));
    return kl_reduce_folded(0, kl_load_native(folded + 8) ^ first);
}
#endif

static int kl_is_folded(void) {
#ifdef KL_CRC32_FOLDING
    return kl_crc32_folds && kl_crc_use_instruction;
#else
    return 0;
#endif
}

static void kl_note_registers(
    uint32_t *registers, uint32_t state, uint32_t *message_registers, uint32_t message_state,
    const uint8_t *data, size_t size
) {
#ifdef KL_CRC32_FOLDING
    if (kl_is_folded()) {
        kl_note_folded(registers, state, message_registers, message_state, data, size / KL_BLOCK);
        return;
    }
#endif
    kl_note_by_tables(kl_slices, registers, 1, state, data, size / KL_BLOCK);
    kl_note_by_tables(kl_crc32_slices, message_registers, KL_MESSAGE_STRIDE, message_state, data,
                      size / KL_BLOCK);
}

static inline uint32_t kl_noted_by_tables(int castagnoli, const uint32_t *registers, size_t block) {
    return registers[castagnoli ? block : KL_MESSAGE_STRIDE * block];
}

/* The register behind fewer than 16 bytes, of which 24 can be read; ``REDUCE`` gives the register
 * that eight bytes leave. No branch: where a candidate begins in a block is anybody's guess. */
#define KL_FEW(REDUCE, castagnoli, state, data, count)                                  \
    uint32_t eight = REDUCE(castagnoli, kl_load_little(data) ^ state);                  \
    uint32_t before = count & 8 ? eight : state;                                        \
    size_t rest = 8 * (count & 7);                                                      \
    uint64_t word = kl_load_little(data + (count & 8)) ^ before;                        \
    return REDUCE(castagnoli, word << (56 - rest) << 8) ^ (uint32_t)((uint64_t)before >> rest)

/* The register at ``at`` of a window. */
#define KL_REGISTER_AT(NOTED, FEW, castagnoli, registers, data, at, size)               \
    size_t start = (size_t)(at) / KL_BLOCK * KL_BLOCK;                                  \
    uint32_t state = NOTED(castagnoli, registers, start / KL_BLOCK);                    \
    if (size - start < KL_BLOCK + 8)                                                    \
        return castagnoli ? kl_crc32c_tables(state, data + start, at - start)           \
                          : kl_crc32_tables(state, data + start, at - start);           \
    return FEW(castagnoli, state, data + start, at - start)

static inline uint32_t kl_few_by_tables(
    int castagnoli, uint32_t state, const uint8_t *data, size_t count
) {
    KL_FEW(kl_reduce_by_tables, castagnoli, state, data, count);
}

static inline uint32_t kl_register_by_tables(
    int castagnoli, const uint32_t *registers, const uint8_t *data, size_t at, size_t size
) {
    KL_REGISTER_AT(kl_noted_by_tables, kl_few_by_tables, castagnoli, registers, data, at, size);
}

#ifdef KL_CRC32_FOLDING
KL_SHIFT_TARGET static KL_ALWAYS_INLINE uint32_t kl_few_folded(
    int castagnoli, uint32_t state, const uint8_t *data, size_t count
) {
    KL_FEW(kl_reduce_folded, castagnoli, state, data, count);
}

KL_SHIFT_TARGET static KL_ALWAYS_INLINE uint32_t kl_register_folded(
    int castagnoli, const uint32_t *registers, const uint8_t *data, size_t at, size_t size
) {
    KL_REGISTER_AT(kl_noted_folded, kl_few_folded, castagnoli, registers, data, at, size);
}
#endif

/* A window and its registers, noted for the CRCs that are asked for. */
struct kl_window {
    const uint8_t *data;
    size_t size;
    const uint32_t *registers, *message_registers;
};

/* The register that an entry's own CRC demands at its end; where the end is in the window, what
 * this and the register there differ by. The CRC of a range is that of all bytes before its end,
 * without that before its start followed by as many zeros as the range is long. */
#define KL_DIFFERENCE(REGISTER, SHIFT, castagnoli, registers, window, at)               \
    size_t start = (at) + (castagnoli ? 21 : 16);                                       \
    size_t end = (at) + 12 + kl_load_uint32(window.data + (at) + 8);                    \
    uint32_t stored = kl_load_uint32(window.data + (at) + (castagnoli ? 17 : 12));      \
    uint32_t state = ~REGISTER(castagnoli, registers, window.data, start, window.size); \
    uint32_t demanded = SHIFT(castagnoli, state, end - start) ^ ~stored;                \
    if (end > window.size) return demanded;                                             \
    return demanded ^ REGISTER(castagnoli, registers, window.data, end, window.size)

static uint32_t kl_difference_by_tables(int castagnoli, struct kl_window window, size_t at) {
    const uint32_t *registers = castagnoli ? window.registers : window.message_registers;
    KL_DIFFERENCE(kl_register_by_tables, kl_shift_by_tables, castagnoli, registers, window, at);
}

#ifdef KL_CRC32_FOLDING
KL_SHIFT_TARGET static KL_ALWAYS_INLINE uint32_t kl_difference_folded(
    int castagnoli, const uint32_t *registers, struct kl_window window, size_t at
) {
    KL_DIFFERENCE(kl_register_folded, kl_shift_folded, castagnoli, registers, window, at);
}

KL_SHIFT_TARGET static void kl_differences_folded(
    uint32_t *differences, const int32_t *positions, size_t count, struct kl_window window
) {
    for (size_t row = 0; row < count; row++) {
        size_t at = (size_t)positions[row];
        if (window.data[at + 16] == 2)
            differences[row] = kl_difference_folded(1, window.registers, window, at);
        else
            differences[row] = kl_difference_folded(0, window.message_registers, window, at);
    }
}

KL_SHIFT_TARGET static void kl_registers_at_folded(
    uint32_t *found, const int32_t *ends, size_t count, struct kl_window window
) {
    for (size_t row = 0; row < count; row++) {
        if (ends[row] >= 0)
            found[row] = kl_register_folded(1, window.registers, window.data,
                                            (size_t)ends[row], window.size);
        else
            found[row] = kl_register_folded(0, window.message_registers, window.data,
                                            (size_t)~ends[row], window.size);
    }
}
#endif

/* ``KL_DIFFERENCE`` of the candidates at ``positions``. Many at once: processors overlap them. */
static void kl_find_differences(
    uint32_t *differences, const int32_t *positions, size_t count, const uint8_t *data,
    size_t size, const uint32_t *registers, const uint32_t *message_registers
) {
    struct kl_window window = {data, size, registers, message_registers};
#ifdef KL_CRC32_FOLDING
    if (kl_is_folded()) {
        while (count) {
            size_t done = kl_differences_by_eights(
                differences, positions, count, data, size, registers, message_registers);
            size_t few = KL_ONE_BY_ONE(count - done);
            kl_differences_folded(differences + done, positions + done, few, window);
            done += few;
            differences += done, positions += done, count -= done;
        }
        return;
    }
#endif
    for (size_t row = 0; row < count; row++)
        differences[row] = kl_difference_by_tables(
            data[positions[row] + 16] == 2, window, (size_t)positions[row]);
}

/* The registers at ``ends``; those of messages are at their complements. */
static void kl_find_registers(
    uint32_t *found, const int32_t *ends, size_t count, const uint8_t *data,
    size_t size, const uint32_t *registers, const uint32_t *message_registers
) {
    struct kl_window window = {data, size, registers, message_registers};
#ifdef KL_CRC32_FOLDING
    if (kl_is_folded()) {
        while (count) {
            size_t done = kl_registers_at_by_eights(
                found, ends, count, data, size, registers, message_registers);
            size_t few = KL_ONE_BY_ONE(count - done);
            kl_registers_at_folded(found + done, ends + done, few, window);
            done += few;
            found += done, ends += done, count -= done;
        }
        return;
    }
#endif
    for (size_t row = 0; row < count; row++)
        found[row] = ends[row] >= 0
            ? kl_register_by_tables(1, registers, data, (size_t)ends[row], size)
            : kl_register_by_tables(0, message_registers, data, (size_t)~ends[row], size);
}

static inline uint32_t kl_register_at(
    int castagnoli, size_t at, const uint8_t *data, size_t size, const uint32_t *registers,
    const uint32_t *message_registers
) {
    uint32_t found;
    int32_t end = castagnoli ? (int32_t)at : ~(int32_t)at;
    kl_find_registers(&found, &end, 1, data, size, registers, message_registers);
    return found;
}

#endif
