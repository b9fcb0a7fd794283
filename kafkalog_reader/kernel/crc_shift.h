/* What zero bytes make of a CRC's register: with it the CRC of any range follows from the registers
 * at its two ends, in constant time. Each power of two has its linear map, as four tables.
 */
#ifndef KAFKALOG_CRC_SHIFT_H
#define KAFKALOG_CRC_SHIFT_H

#include "crc32.h"
#include "crc32c.h"

#define KL_SHIFT_POWERS 32

static uint32_t kl_shift_tables[2][KL_SHIFT_POWERS][4][256];
static int kl_shift_is_prepared = 0;

static inline uint32_t kl_shift_once(uint32_t tables[4][256], uint32_t state) {
    return tables[0][state & 0xFF] ^ tables[1][state >> 8 & 0xFF] ^ tables[2][state >> 16 & 0xFF]
        ^ tables[3][state >> 24];
}

/* Called with the GIL held, once a search; the kernel's module that searches is the only one. */
static void kl_crc_shift_prepare(void) {
    static const uint8_t zero = 0;
    if (kl_shift_is_prepared) return;
    for (int castagnoli = 0; castagnoli < 2; castagnoli++)
        for (int power = 0; power < KL_SHIFT_POWERS; power++)
            for (int byte = 0; byte < 4; byte++)
                for (int value = 0; value < 256; value++) {
                    uint32_t state = (uint32_t)value << (8 * byte);
                    if (power) {
                        uint32_t(*half)[256] = kl_shift_tables[castagnoli][power - 1];
                        state = kl_shift_once(half, kl_shift_once(half, state));
                    } else if (castagnoli) {
                        state = kl_crc32c_tables(state, &zero, 1);
                    } else {
                        state = kl_crc32_tables(state, &zero, 1);
                    }
                    kl_shift_tables[castagnoli][power][byte][value] = state;
                }
    kl_shift_is_prepared = 1;
}

/* ``count`` below 2^32; a dozen lookups for usual lengths, at most 128. */
static inline uint32_t kl_crc_shift(int castagnoli, uint32_t state, uint64_t count) {
    for (int power = 0; count; power++, count >>= 1)
        if (count & 1) state = kl_shift_once(kl_shift_tables[castagnoli][power], state);
    return state;
}

#endif
