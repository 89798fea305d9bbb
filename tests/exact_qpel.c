/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interpolated samples are those of H.264, 8.4.2.2.1, in C and in every variant: for all places, depths and lengths,
 * from rows whose memory ends with what may be read.
 */
#include "exact.h"
#include "interpolate.h"

enum { MAX_N = 2048, MARGIN_LEFT = 2, MARGIN_RIGHT = 3, GUARD = 32 };

/* What is interpolated from, columns from -2 on. */
static int grid[6][MARGIN_LEFT + MAX_N + MARGIN_RIGHT];

/* ---- the clause, with its letters of figure 8-4 ---- */

typedef struct Letters {
    int64_t G, H, M, N, b, h, j, m, s, max;
} Letters;

static int64_t clip1(int64_t v, int64_t max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

static int64_t taps(int64_t v0, int64_t v1, int64_t v2, int64_t v3, int64_t v4, int64_t v5)
{
    return v0 - 5 * v1 + 20 * v2 + 20 * v3 - 5 * v4 + v5;
}

static int64_t horizontal(int x, int y)
{
    const int *v = &grid[2 + y][MARGIN_LEFT + x];
    return taps(v[-2], v[-1], v[0], v[1], v[2], v[3]);
}

static int64_t vertical(int x)
{
    const int at = MARGIN_LEFT + x;
    return taps(grid[0][at], grid[1][at], grid[2][at], grid[3][at], grid[4][at], grid[5][at]);
}

static Letters letters(int x, int max)
{
    const int at = MARGIN_LEFT + x;
    const int64_t b1 = horizontal(x, 0), s1 = horizontal(x, 1), h1 = vertical(x), m1 = vertical(x + 1);
    const int64_t cc = vertical(x - 2), dd = vertical(x - 1), ee = vertical(x + 2), ff = vertical(x + 3);
    const int64_t aa = horizontal(x, -2), bb = horizontal(x, -1), gg = horizontal(x, 2), hh = horizontal(x, 3);
    const int64_t j1 = taps(cc, dd, h1, m1, ee, ff);

    CHECK(j1 == taps(aa, bb, b1, s1, gg, hh), "the two ways to j");
    return (Letters){.G = grid[2][at], .H = grid[2][at + 1], .M = grid[3][at], .N = grid[3][at + 1],
                     .b = clip1((b1 + 16) >> 5, max), .h = clip1((h1 + 16) >> 5, max),
                     .s = clip1((s1 + 16) >> 5, max), .m = clip1((m1 + 16) >> 5, max),
                     .j = clip1((j1 + 512) >> 10, max), .max = max};
}

/* Table 8-12: by xFrac, then yFrac. */
static int64_t clause(const Letters *v, int x_frac, int y_frac)
{
    static const char table[4][5] = {"Gdhn", "aeip", "bfjq", "cgkr"};

    switch (table[x_frac][y_frac]) {
    case 'G': return v->G;
    case 'b': return v->b;
    case 'h': return v->h;
    case 'j': return v->j;
    case 'a': return (v->G + v->b + 1) >> 1;
    case 'c': return (v->H + v->b + 1) >> 1;
    case 'd': return (v->G + v->h + 1) >> 1;
    case 'n': return (v->M + v->h + 1) >> 1;
    case 'f': return (v->b + v->j + 1) >> 1;
    case 'i': return (v->h + v->j + 1) >> 1;
    case 'k': return (v->j + v->m + 1) >> 1;
    case 'q': return (v->j + v->s + 1) >> 1;
    case 'e': return (v->b + v->h + 1) >> 1;
    case 'g': return (v->b + v->m + 1) >> 1;
    case 'p': return (v->h + v->s + 1) >> 1;
    default: return (v->m + v->s + 1) >> 1; /* r */
    }
}

/* Odd eighths of a row. */
static int64_t eighth(const Letters *v, int x_frac, int fy)
{
    const int64_t full[3] = {fy < 4 ? v->G : v->M, fy < 4 ? v->b : v->s, fy < 4 ? v->H : v->N};
    const int64_t half[3] = {v->h, v->j, v->m};
    int64_t at[3];

    for (int i = 0; i < 3; i++)
        at[i] = fy == 1 || fy == 7 ? (3 * full[i] + half[i] + 2) >> 2 : (full[i] + 3 * half[i] + 2) >> 2;
    return x_frac == 0   ? at[0]
           : x_frac == 1 ? (at[0] + at[1] + 1) >> 1
           : x_frac == 2 ? at[1]
                         : (at[1] + at[2] + 1) >> 1;
}

static int64_t wanted(int x, int fx, int fy, int max)
{
    const Letters v = letters(x, max);
    return fy % 2 ? eighth(&v, fx / 2, fy) : clause(&v, fx / 2, fy / 2);
}

/* ---- samples ---- */

enum { FILL_RANDOM, FILL_EXTREME, FILL_HIGHEST, FILL_LOWEST, FILL_EDGE, FILL_NEAR_MAX, N_FILLS };

/* The signs of the taps again and again: every sixth sample is the highest or lowest sum there is. */
static int is_added(int y, int i)
{
    return (y == 1 || y == 4) == (i % 6 == 1 || i % 6 == 4);
}

static int sample(int fill, int y, int i, int max)
{
    switch (fill) {
    case FILL_EXTREME: return exact_random() & 1 ? max : 0;
    case FILL_HIGHEST: return is_added(y, i) ? max : 0;
    case FILL_LOWEST: return is_added(y, i) ? 0 : max;
    case FILL_EDGE: return (i / 5 + y / 3) % 2 ? max - exact_between(0, 2) : exact_between(0, 2);
    case FILL_NEAR_MAX: return max - exact_between(0, 3);
    default: return exact_between(0, max);
    }
}

static void fill_grid(int fill, int n, int max)
{
    for (int y = 0; y < 6; y++) {
        for (int i = 0; i < MARGIN_LEFT + n + MARGIN_RIGHT; i++)
            grid[y][i] = sample(fill, y, i, max);
    }
}

/* ---- one call ---- */

/* Of the rows and columns that the place needs: memory of exactly that size, odd in its alignment. */
static void make_rows(uint16_t *memory[6], const uint16_t *row[6], int fx, int fy, int n, int before)
{
    for (int y = 0; y < 6; y++) {
        const int left = fx ? MARGIN_LEFT : 0, right = fx ? MARGIN_RIGHT - 1 : -1, width = left + n + 1 + right;
        memory[y] = NULL;
        row[y] = NULL;
        if (!fy && y != 2)
            continue;
        memory[y] = malloc((size_t)(before + width) * sizeof **memory);
        REQUIRE(memory[y], "memory");
        for (int i = 0; i < width; i++)
            memory[y][before + i] = (uint16_t)grid[y][MARGIN_LEFT - left + i];
        row[y] = memory[y] + before + left;
    }
}

/* The number of right samples of n. */
static int count_exact(const PnvDsp *dsp, int fill, int fx, int fy, int n, int max)
{
    const int before = exact_between(0, 17), dst_before = exact_between(1, 17);
    uint16_t *memory[6], *dst = malloc((size_t)(dst_before + n + GUARD) * sizeof *dst);
    const uint16_t *row[6];
    int n_exact = 0;

    REQUIRE(dst, "memory");
    fill_grid(fill, n, max);
    make_rows(memory, row, fx, fy, n, before);
    memset(dst, 0xa5, (size_t)(dst_before + n + GUARD) * sizeof *dst);
    dsp->interpolate(dst + dst_before, row, fx, fy, n, max);
    for (int x = 0; x < n; x++)
        n_exact += dst[dst_before + x] == wanted(x, fx, fy, max);
    for (int i = 0; i < dst_before; i++)
        CHECK(dst[i] == 0xa5a5, "wrote in front of dst: %d, %d, n %d", fx, fy, n);
    for (int i = 0; i < GUARD; i++)
        CHECK(dst[dst_before + n + i] == 0xa5a5, "wrote behind dst: %d, %d, n %d", fx, fy, n);
    free(dst);
    for (int y = 0; y < 6; y++)
        free(memory[y]);
    return n_exact;
}

/* ---- tests ---- */

static const int depths[] = {8, 9, 10, 11, 12, 13, 14, 15, 16};

static void test_places(const PnvDsp *dsp, const char *name, int depth)
{
    const int max = (1 << depth) - 1, n_rows = 32, n = 64;

    for (int fy = 0; fy < 8; fy++) {
        for (int fx = 0; fx < 8; fx += 2) {
            int n_exact = 0;
            for (int i = 0; i < n_rows; i++)
                n_exact += count_exact(dsp, i % N_FILLS, fx, fy, n, max);
            CHECK(n_exact == n_rows * n, "%s, %d bits, %d/8 and %d/8: %d of %d", name, depth, fx, fy, n_exact,
                  n_rows * n);
            char place[16];
            snprintf(place, sizeof place, fy % 2 ? "mc%d,%d/8" : "mc%d%d", fx / 2, fy % 2 ? fy : fy / 2);
            printf("%s %d bits %s: %d/%d samples exact\n", name, depth, place, n_exact, n_rows * n);
        }
    }
}

static void test_lengths(const PnvDsp *dsp, const char *name, int depth)
{
    static const int large[] = {63, 64, 65, 127, 128, 129, 191, 960, 1000, 1919, MAX_N};
    const int max = (1 << depth) - 1, n_large = sizeof large / sizeof *large;

    for (int i = 1; i <= 40 + n_large; i++) {
        const int n = i <= 40 ? i : large[i - 41];
        for (int fy = 0; fy < 8; fy++) {
            for (int fx = 0; fx < 8; fx += 2) {
                for (int fill = 0; fill < (n > 200 ? 2 : N_FILLS); fill++) {
                    const int n_exact = count_exact(dsp, fill, fx, fy, n, max);
                    CHECK(n_exact == n, "%s, %d bits, %d/8 and %d/8, fill %d: %d of %d", name, depth, fx, fy, fill,
                          n_exact, n);
                }
            }
        }
    }
}

/* All rows of a unit at once are those of one after the other, from memory that ends where reading has to. */
static void test_rows(const PnvDsp *dsp, const char *name, int depth)
{
    static const int counts[] = {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 112};
    static int16_t got[17 * PNV_FETCH_STRIDE];
    const int max = (1 << depth) - 1;

    for (int round = 0; round < 8 * 16 * 15; round++) {
        const int fy = round % 8, n_rows = round / 8 % 16 + 1, n = counts[round / 128], fill = round % N_FILLS;
        const int n_read = ((fy + 4 * (n_rows - 1)) >> 3) + 6, stride = n + exact_between(0, 20);
        const size_t room = (size_t)(stride * (n_read - 1) + n + PNV_LOAD_ROOM);
        uint16_t *memory = malloc(room * sizeof *memory), want[PNV_FETCH_STRIDE];
        REQUIRE(memory, "memory");
        for (size_t i = 0; i < room; i++)
            memory[i] = (uint16_t)sample(fill, (int)i / stride % 6, (int)i % stride, max);
        memset(got, 0x55, sizeof got);
        dsp->interpolate_rows(got, memory + 2 * stride, stride, fy, n, n_rows, depth);
        for (int y = 0; y < 16; y++) {
            const int at = (fy + 4 * y) >> 3;
            const uint16_t *row[6];
            for (int i = 0; i < 6 && y < n_rows; i++)
                row[i] = memory + (at + i) * stride;
            if (y < n_rows)
                pnv_interpolate_c(want, row, 0, (fy + 4 * y) & 7, n, max);
            for (int x = 0; x < n; x++)
                CHECK(got[y * PNV_FETCH_STRIDE + x] == (y < n_rows ? pnv_sample_video(want[x], depth) : 0x5555),
                      "%s rows, %d bits, from %d/8: row %d of %d, column %d of %d", name, depth, fy, y, n_rows, x, n);
            for (int x = n + PNV_LOAD_ROOM; x < PNV_FETCH_STRIDE; x++)
                CHECK(got[y * PNV_FETCH_STRIDE + x] == 0x5555, "%s rows wrote column %d of %d", name, x, n);
        }
        free(memory);
    }
}

/* mc22 is not mc02 of a row that mc20 made and rounded. */
static void test_cascade(const PnvDsp *dsp, const char *name)
{
    enum { N = 64, MAX = 1023 };
    uint16_t row[6][N + 5], between[6][N], cascaded[N], centre[N];
    const uint16_t *rows[6], *between_rows[6];
    int n_different = 0;

    for (int round = 0; round < 32; round++) {
        fill_grid(FILL_RANDOM, N, MAX);
        for (int y = 0; y < 6; y++) {
            for (int i = 0; i < N + 5; i++)
                row[y][i] = (uint16_t)grid[y][i];
            rows[y] = row[y] + MARGIN_LEFT;
            between_rows[y] = between[y];
        }
        for (int y = 0; y < 6; y++)
            dsp->interpolate(between[y], (const uint16_t *const[6]){[2] = rows[y]}, 4, 0, N, MAX);
        dsp->interpolate(cascaded, between_rows, 0, 4, N, MAX);
        dsp->interpolate(centre, rows, 4, 4, N, MAX);
        for (int x = 0; x < N; x++)
            n_different += cascaded[x] != centre[x];
    }
    printf("%s mc02 of mc20 with rounding between: %d of %d samples are not those of mc22\n", name, n_different, 32 * N);
    CHECK(n_different > 0, "%s: rounding between does not show", name);
}

int main(void)
{
    static const PnvCpu levels[] = {PNV_CPU_C, PNV_CPU_AVX2, PNV_CPU_AVX512, PNV_CPU_NEON};
    PnvDsp dsp;

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const char *name = pnv_cpu_name(levels[i]);
        if (!pnv_cpu_has(levels[i])) {
            printf("%s: not on this machine or not in this build, skipped\n", name);
            continue;
        }
        pnv_dsp_init(&dsp, levels[i]);
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
            test_places(&dsp, name, depths[d]);
            test_lengths(&dsp, name, depths[d]);
            if (depths[d] <= PNV_INTERPOLATE_ROWS_DEPTH)
                test_rows(&dsp, name, depths[d]);
        }
        test_cascade(&dsp, name);
    }
    CHECK_END();
}
