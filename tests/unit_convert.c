/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units of converted components, by rows as the CPU makes them, against the same sample by sample. */
#include <stdint.h>

#include "check.h"
#include "convert.h"
#include "cpuinfo.h"
#include "dsp.h"
#include "plan.h"

static uint8_t memory[3][1 << 20];
static PnvConvertScratch room;

static void fill_memory(void)
{
    uint32_t h = 1;

    for (size_t i = 0; i < sizeof memory; i++) {
        h = h * 1664525u + 1013904223u;
        ((uint8_t *)memory)[i] = (uint8_t)(h >> 24);
    }
}

/** All samples of a unit: what pnv_convert_unit() should give. */
static void make_unit(int16_t *dst, const PnvConversion *v, const PnvPictureShape *shape, const PnvPlane *planes, int c,
                      int x0, int y0, int width)
{
    static uint16_t source[PNV_CONVERT_WINDOW_HEIGHT][PNV_CONVERT_WINDOW_WIDTH];
    const PnvConvertWindow w = pnv_convert_window(v, &shape->chroma, c, x0, y0, width);
    const int64_t full_gain = pnv_sample_full_gain(planes[c].depth, planes[c].range == PNV_SAMPLES_FULL_LUMA);

    REQUIRE(w.width <= PNV_CONVERT_WINDOW_WIDTH && w.height <= PNV_CONVERT_WINDOW_HEIGHT, "a window of %dx%d", w.width,
            w.height);
    memset(source, 0x55, sizeof source);
    for (int y = 0; y < w.height; y++) {
        for (int x = 0; x < w.width; x++)
            source[y][x] = pnv_convert_source(v, planes, full_gain, c, w.x + x, w.y + y);
    }
    for (int y = 0; y < 16; y++) {
        for (int x = 0; x < width; x++)
            dst[y * PNV_FETCH_STRIDE + x] = pnv_convert_filters(v, c)
                ? pnv_convert_sample(v, &shape->chroma, &w, source[0], PNV_CONVERT_WINDOW_WIDTH,
                                     pnv_convert_depth(&planes[c]), x0 + x, y0 + y, shape->height)
                : (int16_t)source[y][x];
    }
}

/** step: 0, or bytes from a sample to the next where components lie side by side. */
static void test_picture(const PnvPlan *plan, const PnvDsp *dsp, int step, PnvInterlace interlace)
{
    static int16_t want[16 * PNV_FETCH_STRIDE];
    const PnvParams *p = &plan->params;
    PnvPicture pic = {.interlace = interlace};

    for (int c = 0; c < 3; c++) {
        pic.plane[c] = step ? memory[0] + c : memory[p->packing ? 0 : c];
        pic.stride[c] = 1200;
        pic.step[c] = step;
    }
    for (int i = 0; i < plan->framing[interlace].n_pictures; i++) {
        const PnvPictureShape *shape = &plan->framing[interlace].picture[i];
        PnvPlane planes[3];
        for (int c = 0; c < 3; c++)
            planes[c] = pnv_plan_plane(plan, &pic, shape, c);
        for (int k = 0; k < shape->grid.n_slices; k++) {
            const PnvSpan span = pnv_grid_span(&shape->grid, k % shape->grid.slices_per_row);
            const int y0 = k / shape->grid.slices_per_row * 16;
            for (int c = 0; c < 3; c++) {
                if (!pnv_convert_applies(&plan->conversion, c))
                    continue;
                const int mb_width = pnv_mb_width(plan->chroma, c > 0), x0 = span.mb_x * mb_width;
                const int width = span.n_mb * mb_width;
                const int16_t *got = pnv_convert_unit(&room, dsp, &plan->conversion, &shape->chroma, planes, c, x0, y0,
                                                      width, shape->height);
                make_unit(want, &plan->conversion, shape, planes, c, x0, y0, width);
                for (int y = 0; y < 16; y++)
                    CHECK_MEM_EQ(got + y * PNV_FETCH_STRIDE, want + y * PNV_FETCH_STRIDE, (size_t)width * 2,
                                 "%dx%d model %d chroma %d to %d packing %d depth %d range %d siting %d interlace %d: "
                                 "picture %d component %d at %d,%d", p->width, p->height, (int)p->model, (int)p->chroma,
                                 (int)plan->chroma, (int)p->packing, p->depth, (int)p->range, (int)p->siting,
                                 (int)interlace, i, c, x0, y0 + y);
            }
        }
    }
}

/** A format at every awkward size. Returns how many of its components are converted. */
static int test_format(PnvParams params, const PnvDsp *dsp, int step)
{
    static const int sizes[][2] = {{1, 1}, {2, 2}, {3, 5}, {16, 16}, {33, 35}, {130, 98}, {131, 49}, {257, 18}};
    PnvPlan plan;
    char error[PNV_ERROR_BYTES] = "";
    int n = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        params.width = sizes[i][0];
        params.height = sizes[i][1];
        REQUIRE(pnv_plan(&plan, &params, error) == PNV_OK, "%s", error);
        for (int interlace = PNV_PROGRESSIVE; interlace <= PNV_BOTTOM_FIELD_FIRST; interlace++)
            test_picture(&plan, dsp, step, (PnvInterlace)interlace);
        for (int c = 0; c < 3; c++)
            n += pnv_convert_applies(&plan.conversion, c);
    }
    return n;
}

int main(void)
{
    static const struct { PnvModel model; PnvChroma chroma; PnvProfile profile; } ways[] = {
        {PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PROFILE_HQ},   {PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PROFILE_4444},
        {PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PROFILE_4444}, {PNV_MODEL_YCBCR, PNV_CHROMA_444, PNV_PROFILE_HQ},
        {PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PROFILE_HQ},     {PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PROFILE_4444},
    };
    static const struct { PnvPacking packing; int depth, shift, step; } words[] = {
        {PNV_PACKING_SAMPLES, 8, 0, 0},  {PNV_PACKING_SAMPLES, 10, 6, 0}, {PNV_PACKING_SAMPLES, 12, 0, 0},
        {PNV_PACKING_SAMPLES, 16, 0, 0}, {PNV_PACKING_WORDS, 10, 11, 0},  {PNV_PACKING_WORDS_BE, 10, 2, 0},
        {PNV_PACKING_V210, 10, 0, 0},    {PNV_PACKING_UYVP, 10, 0, 0},    {PNV_PACKING_SAMPLES, 8, 0, 4},
    };
    const int is_small = getenv("PNV_TEST_SMALL") != NULL;
    PnvDsp dsp[2];

    fill_memory();
    pnv_dsp_init(&dsp[0], PNV_CPU_C);
    pnv_dsp_init(&dsp[1], pnv_cpu_best());
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            const int is_fixed = words[k].packing == PNV_PACKING_V210 || words[k].packing == PNV_PACKING_UYVP;
            if (is_fixed && ways[w].chroma != PNV_CHROMA_422)
                continue;
            for (int range = PNV_RANGE_VIDEO; range <= PNV_RANGE_FULL; range++) {
                for (int siting = PNV_SITING_LEFT; siting <= PNV_SITING_TOP; siting++) {
                    const PnvParams params = {
                        .model = ways[w].model, .chroma = ways[w].chroma, .profile = ways[w].profile,
                        .packing = words[k].packing, .depth = words[k].depth, .range = (PnvRange)range,
                        .siting = (PnvSiting)siting, .matrix_coefficients = 1,
                        .shift = {words[k].shift, words[k].shift, words[k].shift}};
                    for (int i = 0; i < 2; i++) {
                        if (is_small && (size_t)i != k % 2)
                            continue; /* in turns */
                        const int n = test_format(params, &dsp[i], words[k].step);
                        CHECK(n == 8 * (params.model == PNV_MODEL_RGB ? 3 : 2), "%d are converted", n);
                    }
                    if (ways[w].chroma == PNV_CHROMA_444)
                        break;
                }
            }
        }
    }
    CHECK_END();
}
