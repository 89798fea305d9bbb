/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every variant of load reads what the definition reads, for each packing, step, shift and depth, from anywhere in and
 * outside of a row, out of memory that ends with the row; and every variant of the scale is that of the definition for
 * all codes.
 */
#include "exact.h"
#include "load.h"

typedef struct Form {
    PnvPacking packing;
    int depth, step, shift;
} Form;

/* What formats have, and a step that none has. */
static const Form forms[] = {
    {PNV_PACKING_SAMPLES, 8, 1, 0},    {PNV_PACKING_SAMPLES, 8, 2, 0},   {PNV_PACKING_SAMPLES, 8, 3, 0},
    {PNV_PACKING_SAMPLES, 8, 4, 0},    {PNV_PACKING_SAMPLES, 8, 5, 0},   {PNV_PACKING_SAMPLES, 10, 2, 0},
    {PNV_PACKING_SAMPLES, 10, 2, 6},   {PNV_PACKING_SAMPLES, 10, 4, 0},  {PNV_PACKING_SAMPLES, 10, 4, 6},
    {PNV_PACKING_SAMPLES, 10, 8, 6},   {PNV_PACKING_SAMPLES, 12, 2, 0},  {PNV_PACKING_SAMPLES, 12, 2, 4},
    {PNV_PACKING_SAMPLES, 12, 4, 4},   {PNV_PACKING_SAMPLES, 12, 8, 4},  {PNV_PACKING_SAMPLES, 12, 8, 0},
    {PNV_PACKING_SAMPLES, 16, 2, 0},   {PNV_PACKING_SAMPLES, 16, 4, 0},  {PNV_PACKING_SAMPLES, 16, 8, 0},
    {PNV_PACKING_SAMPLES, 16, 6, 0},   {PNV_PACKING_WORDS, 10, 4, 0},    {PNV_PACKING_WORDS, 10, 4, 10},
    {PNV_PACKING_WORDS, 10, 4, 20},    {PNV_PACKING_WORDS, 10, 4, 2},    {PNV_PACKING_WORDS, 10, 4, 22},
    {PNV_PACKING_WORDS, 2, 4, 30},     {PNV_PACKING_WORDS, 2, 4, 0},     {PNV_PACKING_WORDS, 10, 8, 10},
    {PNV_PACKING_WORDS_BE, 10, 4, 0},  {PNV_PACKING_WORDS_BE, 10, 4, 10}, {PNV_PACKING_WORDS_BE, 10, 4, 20},
    {PNV_PACKING_WORDS_BE, 2, 4, 30},  {PNV_PACKING_WORDS_BE, 10, 8, 20}, {PNV_PACKING_V210, 10, 4, 0},
    {PNV_PACKING_UYVP, 10, 5, 0},
};

/** Memory of exactly the plane, filled at random, for AddressSanitizer to see what is read beyond it. */
static uint8_t *make_plane(PnvPlane *p, int padding)
{
    p->stride = pnv_plane_row_bytes(p) + padding;
    const size_t size = (size_t)(p->stride * (p->height - 1) + pnv_plane_row_bytes(p));
    uint8_t *m = malloc(size);

    REQUIRE(m, "memory");
    for (size_t i = 0; i < size; i++)
        m[i] = (uint8_t)(exact_random() >> 9);
    p->data = m;
    return m;
}

static void compare(const PnvDsp *ref, const PnvDsp *var, const char *name, const PnvPlane *p, int x, int y, int n)
{
    const int n_rows = exact_between(1, 4), up = exact_between(0, 1) ? exact_between(0, 16 - p->depth) : 0;
    const ptrdiff_t stride = n + exact_between(0, 20);
    const size_t room = (size_t)(stride * (n_rows - 1) + n + PNV_LOAD_ROOM);
    uint16_t *want = malloc(room * sizeof *want), *got = malloc(room * sizeof *got);

    REQUIRE(want && got, "memory");
    memset(want, 0x55, room * sizeof *want);
    memset(got, 0xaa, room * sizeof *got);
    ref->load(want, stride, p, x, y, n, n_rows, up);
    var->load(got, stride, p, x, y, n, n_rows, up);
    for (int row = 0; row < n_rows; row++) {
        CHECK_MEM_EQ(want + row * stride, got + row * stride, (size_t)n * sizeof *want,
                     "%s load: packing %d component %d depth %d step %d shift %d, row %d of %d from %d, %d samples",
                     name, (int)p->packing, p->component, p->depth, p->step, p->shift, y + row, p->width, x, n);
        /* and that this is what one sample at a time would be */
        for (int i = 0; i < n; i++)
            CHECK(want[row * stride + i] == pnv_plane_at(p, x + i, y + row) << up, "the definition: sample %d of %d from %d",
                  i, n, x);
    }
    free(want);
    free(got);
}

static void test_form(const PnvDsp *ref, const PnvDsp *var, const char *name, const Form *f)
{
    static const int widths[] = {1, 2, 3, 5, 6, 7, 12, 15, 16, 17, 23, 31, 33, 47, 64, 65, 97, 128, 131, 200};
    static const int counts[] = {1, 2, 7, 8, 14, 16, 17, 30, 33, 64, 70, 128, 134, 144, 300};

    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (int component = 0; component < 3; component++) {
            PnvPlane p = {.step = f->step, .width = widths[w], .height = 3, .depth = f->depth, .packing = f->packing,
                          .shift = f->shift, .component = component};
            uint8_t *memory = make_plane(&p, exact_between(0, 3));
            for (int x = -10; x < p.width + 10; x += p.width > 40 && x > 10 && x < p.width - 30 ? 5 : 1)
                compare(ref, var, name, &p, x, exact_between(-2, 4), counts[exact_between(0, 14)]);
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                compare(ref, var, name, &p, 0, 2, counts[i]);
                compare(ref, var, name, &p, p.width - counts[i], 2, counts[i]);
            }
            free(memory);
        }
    }
}

/* All codes of every depth, in rows of every length, with nothing behind them. */
static void test_scale(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    for (int depth = 8; depth <= 16; depth++) {
        for (int range = PNV_SAMPLES_VIDEO; range <= PNV_SAMPLES_FULL_CHROMA; range++) {
            for (int first = 0, n = 1; first < 1 << depth; first += n, n = n % 170 + 1) {
                n = (1 << depth) - first < n ? (1 << depth) - first : n;
                uint16_t *sample = malloc((size_t)n * sizeof *sample);
                int16_t want[171], got[171];
                REQUIRE(sample, "memory");
                for (int i = 0; i < n; i++)
                    sample[i] = (uint16_t)(first + i);
                memset(want, 0x55, sizeof want);
                memset(got, 0x55, sizeof got);
                ref->fetch_scale(want, sample, n, depth, (PnvSampleRange)range);
                var->fetch_scale(got, sample, n, depth, (PnvSampleRange)range);
                CHECK_MEM_EQ(want, got, sizeof want, "%s scale: depth %d range %d codes %d .. %d", name, depth, range,
                             first, first + n - 1);
                free(sample);
            }
        }
    }
}

static void test_level(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        test_form(ref, var, name, &forms[i]);
    test_scale(ref, var, name);
}

int main(void)
{
    exact_each_level(test_level);
    CHECK_END();
}
