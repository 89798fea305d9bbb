/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every variant of the entropy stage writes the bytes of the definition, counts its bits and refuses what it does. */
#include "exact.h"

enum { GUARD = 64, ROUNDS = 1500 };

enum {
    FILL_ZERO, FILL_ONES, FILL_SPARSE, FILL_RANDOM, FILL_EXTREME, FILL_ALL_EXTREME, FILL_NATURAL, FILL_LONE, N_FILLS
};
static const char *const fill_names[N_FILLS] = {"zero",    "ones",        "sparse",  "random",
                                                "extreme", "all extreme", "natural", "lone"};

static int sign(void)
{
    return exact_random() & 1 ? 1 : -1;
}

/* Levels that shrink and thin out along the scan, at a random quantizer. */
static int natural_level(int position)
{
    static int spread = 100;
    if (exact_random() % 4096 == 0)
        spread = 1 << exact_between(0, 12);
    const int size = spread * 8 / (8 + position * position / 4);
    return size ? exact_between(-size, size) : exact_random() % 32 ? 0 : sign();
}

static void fill(int16_t *level, int n_blocks, int kind)
{
    const int n = 64 * n_blocks, lone = exact_between(0, n - 1);

    for (int i = 0; i < n; i++) {
        int v = 0;
        switch (kind) {
        case FILL_ONES:
            v = exact_between(-1, 1);
            break;
        case FILL_SPARSE:
            v = exact_random() % 100 ? 0 : exact_between(-20, 20);
            break;
        case FILL_RANDOM:
            v = exact_between(-8192, 8192) >> exact_between(0, 14);
            break;
        case FILL_EXTREME:
            v = exact_random() % 3 ? 0 : 8192 * sign();
            break;
        case FILL_ALL_EXTREME:
            v = i % 2 ? 8192 : -8192;
            break;
        case FILL_NATURAL:
            v = natural_level(i / n_blocks);
            break;
        case FILL_LONE:
            v = i == lone ? exact_between(1, 8192) * sign() : 0;
            break;
        }
        level[i] = (int16_t)v;
    }
}

static void compare(const PnvDsp *ref, const PnvDsp *var, const char *name, const int16_t *level, int n_blocks,
                    const char *what)
{
    static uint8_t want[8192], got[8192];
    const size_t bound = pnv_unit_bound(n_blocks);
    const size_t size = ref->entropy_write(want, bound, level, n_blocks);
    const size_t bits = ref->entropy_bits(level, n_blocks);

    REQUIRE(size && (bits + 7) / 8 == size, "the definition");
    CHECK(var->entropy_bits(level, n_blocks) == bits, "%s %s %d blocks: %zu bits for %zu", name, what, n_blocks,
          var->entropy_bits(level, n_blocks), bits);
    /* All the room there can be, just enough, and anything between. */
    const size_t room[] = {bound, size, size + exact_random() % 300, size + 1, size + 8};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        memset(got, 0xaa, sizeof got);
        const size_t n = var->entropy_write(got, room[i], level, n_blocks);
        CHECK(n == size && !memcmp(got, want, size), "%s %s %d blocks: %zu bytes for %zu, or others, in %zu", name, what,
              n_blocks, n, size, room[i]);
        for (int g = 0; g < GUARD; g++)
            CHECK(got[room[i] + (size_t)g] == 0xaa, "%s %s: wrote %d past capacity %zu", name, what, g, room[i]);
    }
    const size_t less[] = {size - 1, size > 8 ? size - 8 : 0, exact_random() % size, 0};
    for (size_t i = 0; i < sizeof less / sizeof *less; i++) {
        memset(got, 0xaa, sizeof got);
        CHECK(var->entropy_write(got, less[i], level, n_blocks) == 0, "%s %s: %zu bytes fit in %zu", name, what, size,
              less[i]);
        for (int g = 0; g < GUARD; g++)
            CHECK(got[less[i] + (size_t)g] == 0xaa, "%s %s: wrote %d past capacity %zu", name, what, g, less[i]);
    }
}

static void test_units(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int w = 0; w < EXACT_N_WIDTHS; w++) {
            const int n_blocks = exact_n_blocks[w], kind = exact_between(0, N_FILLS - 1);
            /* Its own memory, so that AddressSanitizer sees reads past the unit. */
            int16_t *level = malloc(sizeof *level * 64 * (size_t)n_blocks);
            REQUIRE(level, "memory");
            fill(level, n_blocks, kind);
            compare(ref, var, name, level, n_blocks, fill_names[kind]);
            free(level);
        }
    }
}

/* Every run and every level after every state: two symbols that set the state, then the one that is looked at. */
static void test_every_code(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static int16_t level[64 * 32];

    for (int state = 0; state < 20; state++) {
        for (int run = 0; run < 1900; run += run < 40 ? 1 : 61) {
            memset(level, 0, sizeof level);
            level[32 + state] = 1;
            level[32 + state + 1 + run] = (int16_t)-(run + 1);
            compare(ref, var, name, level, 32, "run");
        }
        for (int magnitude = 1; magnitude <= 8192; magnitude += magnitude < 100 ? 1 : 97) {
            memset(level, 0, sizeof level);
            level[32 + 7] = (int16_t)(state + 1);
            level[32 + 8] = (int16_t)magnitude;
            level[0] = (int16_t)(state - 10);
            level[1] = (int16_t)-magnitude;
            level[2] = (int16_t)magnitude;
            compare(ref, var, name, level, 32, "level");
        }
    }
}

static void test_level(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    test_every_code(ref, var, name);
    test_units(ref, var, name);
}

int main(void)
{
    exact_each_level(test_level);
    CHECK_END();
}
