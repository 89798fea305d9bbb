/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole frames are equal at every CPU level: all packings, depths, chroma formats and R'G'B' under all profiles, slice
 * widths, odd sizes, fields, alpha and numbers of threads. And a level that is not there is refused with words.
 */
#include "exact.h"
#include "plan.h"
#include "pnv.h"

typedef struct Frame {
    uint8_t *data;
    size_t size;
} Frame;

static Frame encode(PnvParams params, PnvCpu cpu, const PnvPicture *pic)
{
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;
    PnvPacket packet;

    params.cpu = cpu;
    REQUIRE(pnv_open(&enc, &params, error) == PNV_OK, "open: %s", error);
    CHECK(pnv_params(enc)->cpu == cpu, "cpu %s is not in force", pnv_cpu_name(cpu));
    REQUIRE(pnv_send(enc, pic) == PNV_OK, "send: %s", pnv_error(enc));
    REQUIRE(pnv_collect(enc, &packet) == PNV_OK, "collect");
    Frame f = {malloc(packet.size), packet.size};
    REQUIRE(f.data, "memory");
    memcpy(f.data, packet.data, packet.size);
    pnv_packet_release(&packet);
    pnv_close(&enc);
    return f;
}

/* Soft ramps with grain of a random strength, or noise over the whole range. */
static void fill_plane(uint8_t *data, int width, int height, ptrdiff_t stride, int depth, int grain)
{
    const int max = (1 << depth) - 1;

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int s = (x * 5 + y * 3) * max / (8 * (width + height)) + (grain ? exact_between(0, grain) : 0);
            s = grain > max ? exact_between(0, max) : s > max ? max : s;
            data[y * stride + x * (depth > 8 ? 2 : 1)] = (uint8_t)s;
            if (depth > 8)
                data[y * stride + 2 * x + 1] = (uint8_t)(s >> 8);
        }
    }
}

static void compare_levels(PnvParams params, const PnvPicture *pic, const char *what)
{
    Frame want = encode(params, PNV_CPU_C, pic);

    for (int cpu = PNV_CPU_AVX2; cpu <= PNV_CPU_NEON; cpu++) {
        if (!pnv_cpu_has((PnvCpu)cpu))
            continue;
        Frame got = encode(params, (PnvCpu)cpu, pic);
        CHECK(got.size == want.size && !memcmp(got.data, want.data, want.size), "%s: %s: another frame",
              pnv_cpu_name((PnvCpu)cpu), what);
        free(got.data);
    }
    free(want.data);
}

static void test_frame(int round)
{
    static const int widths[] = {16, 720, 130, 333, 1998, 64, 48, 257}, heights[] = {16, 34, 50, 33};
    static const int depths[] = {10, 8, 12, 10, 16};
    static const int qs[] = {1, 4, 10, 40, 224};
    const PnvParams params = {
        .width = widths[round % 8], .height = heights[round / 2 % 4], .chroma = (PnvChroma)(round / 3 % 2),
        .depth = depths[round % 5], .quantizer = qs[exact_random() % 5], .mbs_per_slice = 1 << exact_between(0, 3),
        .alpha_bits = round / 3 % 2 && round % 2 ? 16 : 0, .range = (PnvRange)(round % 7 == 6),
        .threads = exact_between(1, 3), .rounding = (PnvRounding)(round % 3),
        .rate_control = round % 4 == 3 ? PNV_RATE_TARGET : PNV_RATE_CONSTANT_QUANTIZER,
        .max_frame_bytes = round % 8 == 5 ? 20000 : 0,
    };
    const int bytes = params.depth > 8 ? 2 : 1, grain = 1 << exact_between(0, params.depth + 1);
    PnvPicture pic = {.interlace = (PnvInterlace)(round % 3)};
    uint8_t *memory[4] = {NULL};

    for (int c = 0; c < (params.alpha_bits ? 4 : 3); c++) {
        const int width = pnv_plane_width(params.chroma, c == 1 || c == 2, params.width);
        pic.stride[c] = width * bytes + 2 * (round % 3);
        memory[c] = malloc((size_t)(pic.stride[c] * params.height));
        REQUIRE(memory[c], "memory");
        fill_plane(memory[c], width, params.height, pic.stride[c], params.depth, grain);
        pic.plane[c] = memory[c];
    }
    char what[100];
    snprintf(what, sizeof what, "%dx%d chroma %d depth %d quantizer %d slices of %d", params.width, params.height,
             (int)params.chroma, params.depth, params.quantizer, params.mbs_per_slice);
    compare_levels(params, &pic, what);
    for (int c = 0; c < 4; c++)
        free(memory[c]);
}

/** A way to lay samples out: of each component its memory, bytes in front of its first sample and to the next, bits
 * below it. */
typedef struct Form {
    const char *name;
    PnvModel model;
    PnvChroma chroma;
    PnvPacking packing;
    int depth, alpha_depth; /* 0: no alpha */
    struct { int memory, offset, step, shift; } at[4];
} Form;

#define SAMPLES PNV_PACKING_SAMPLES
#define YUV(chroma) PNV_MODEL_YCBCR, PNV_CHROMA_##chroma
#define RGB PNV_MODEL_RGB, PNV_CHROMA_444
static const Form forms[] = {
    {"v210", YUV(422), PNV_PACKING_V210, 10, 0, {{0}, {0}, {0}}},
    {"UYVP", YUV(422), PNV_PACKING_UYVP, 10, 0, {{0}, {0}, {0}}},
    {"UYVY", YUV(422), SAMPLES, 8, 0, {{0, 1, 2, 0}, {0, 0, 4, 0}, {0, 2, 4, 0}}},
    {"YVYU", YUV(422), SAMPLES, 8, 0, {{0, 0, 2, 0}, {0, 3, 4, 0}, {0, 1, 4, 0}}},
    {"v216", YUV(422), SAMPLES, 16, 0, {{0, 2, 4, 0}, {0, 0, 8, 0}, {0, 4, 8, 0}}},
    {"Y210", YUV(422), SAMPLES, 10, 0, {{0, 0, 4, 6}, {0, 2, 8, 6}, {0, 6, 8, 6}}},
    {"Y212", YUV(422), SAMPLES, 12, 0, {{0, 0, 4, 4}, {0, 2, 8, 4}, {0, 6, 8, 4}}},
    {"NV61", YUV(422), SAMPLES, 8, 0, {{0, 0, 1, 0}, {1, 1, 2, 0}, {1, 0, 2, 0}}},
    {"planar 4:2:2", YUV(422), SAMPLES, 12, 0, {{0, 0, 2, 0}, {1, 0, 2, 0}, {2, 0, 2, 0}}},
    {"NV12", YUV(420), SAMPLES, 8, 0, {{0, 0, 1, 0}, {1, 0, 2, 0}, {1, 1, 2, 0}}},
    {"P010", YUV(420), SAMPLES, 10, 0, {{0, 0, 2, 6}, {1, 0, 4, 6}, {1, 2, 4, 6}}},
    {"P016", YUV(420), SAMPLES, 16, 0, {{0, 0, 2, 0}, {1, 0, 4, 0}, {1, 2, 4, 0}}},
    {"I420", YUV(420), SAMPLES, 8, 0, {{0, 0, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 0}}},
    {"A420 12 bits", YUV(420), SAMPLES, 12, 12, {{0, 0, 2, 0}, {1, 0, 2, 0}, {2, 0, 2, 0}, {3, 0, 2, 0}}},
    {"planar 4:4:4", YUV(444), SAMPLES, 10, 0, {{0, 0, 2, 0}, {1, 0, 2, 0}, {2, 0, 2, 0}}},
    {"AYUV", YUV(444), SAMPLES, 8, 8, {{0, 1, 4, 0}, {0, 2, 4, 0}, {0, 3, 4, 0}, {0, 0, 4, 0}}},
    {"Y410", YUV(444), PNV_PACKING_WORDS, 10, 2, {{0, 0, 4, 10}, {0, 0, 4, 0}, {0, 0, 4, 20}, {0, 0, 4, 30}}},
    {"Y412", YUV(444), SAMPLES, 12, 12, {{0, 2, 8, 4}, {0, 0, 8, 4}, {0, 4, 8, 4}, {0, 6, 8, 4}}},
    {"BGRA", RGB, SAMPLES, 8, 8, {{0, 2, 4, 0}, {0, 1, 4, 0}, {0, 0, 4, 0}, {0, 3, 4, 0}}},
    {"xRGB", RGB, SAMPLES, 8, 0, {{0, 1, 4, 0}, {0, 2, 4, 0}, {0, 3, 4, 0}}},
    {"RGBx", RGB, SAMPLES, 8, 0, {{0, 0, 4, 0}, {0, 1, 4, 0}, {0, 2, 4, 0}}},
    {"RGB", RGB, SAMPLES, 8, 0, {{0, 0, 3, 0}, {0, 1, 3, 0}, {0, 2, 3, 0}}},
    {"r210", RGB, PNV_PACKING_WORDS_BE, 10, 0, {{0, 0, 4, 20}, {0, 0, 4, 10}, {0, 0, 4, 0}}},
    {"RGB10A2", RGB, PNV_PACKING_WORDS, 10, 2, {{0, 0, 4, 0}, {0, 0, 4, 10}, {0, 0, 4, 20}, {0, 0, 4, 30}}},
    {"RGBA64", RGB, SAMPLES, 16, 16, {{0, 0, 8, 0}, {0, 2, 8, 0}, {0, 4, 8, 0}, {0, 6, 8, 0}}},
    {"RGB of 16 bits", RGB, SAMPLES, 16, 0, {{0, 0, 6, 0}, {0, 2, 6, 0}, {0, 4, 6, 0}}},
    {"GBRA", RGB, SAMPLES, 12, 12, {{2, 0, 2, 0}, {0, 0, 2, 0}, {1, 0, 2, 0}, {3, 0, 2, 0}}},
};
#undef SAMPLES
#undef YUV
#undef RGB

/* Memory of one field, or of both: it ends with the last row of its component that reaches furthest. */
static uint8_t *make_memory(const PnvPlan *plan, const Form *f, int m, int field, const PnvPicture *pic,
                            ptrdiff_t *stride)
{
    const PnvPictureShape *shape = &plan->framing[pic->interlace].picture[0];
    ptrdiff_t bytes = 0;
    int rows = 0;

    for (int c = 0; c < plan->n_components; c++) {
        if (f->at[c].memory != m)
            continue;
        const PnvPlane p = pnv_plan_plane(plan, pic, shape, c);
        const ptrdiff_t row = pnv_plane_row_bytes(&p) + f->at[c].offset;
        bytes = row > bytes ? row : bytes;
        rows = pnv_plan_rows(plan, pic, c, field);
    }
    const int grain = 1 << exact_between(0, 8), slope = exact_between(0, 3);
    *stride = (bytes + 7) / 8 * 8;
    const size_t size = (size_t)(*stride * (rows - 1) + bytes);
    uint8_t *memory = malloc(size);
    REQUIRE(memory, "memory");
    for (size_t i = 0; i < size; i++)
        memory[i] = (uint8_t)((int)i * slope / 64 + exact_between(0, grain - 1));
    return memory;
}

static void test_form(const Form *f, int round)
{
    static const int sizes[][2] = {{333, 35}, {130, 50}, {17, 33}, {1, 2}, {272, 19}, {95, 64}, {256, 32}, {6, 3}};
    static const int matrices[] = {1, 4, 5, 6, 7, 9};
    const PnvProfile profile = (PnvProfile)(round % 7);
    const int has_alpha = f->alpha_depth && (profile == PNV_PROFILE_AUTO || profile >= PNV_PROFILE_4444);
    const int *size = sizes[exact_random() % 8];
    PnvParams params = {
        .width = size[0], .height = size[1], .model = f->model, .chroma = f->chroma, .packing = f->packing,
        .depth = f->depth, .alpha_depth = f->alpha_depth, .profile = profile, .siting = (PnvSiting)exact_between(0, 3),
        .range = (PnvRange)exact_between(0, 1), .matrix_coefficients = matrices[exact_random() % 6],
        .alpha_bits = has_alpha ? 8 * exact_between(1, 2) : 0, .quantizer = exact_between(1, 20),
        .mbs_per_slice = 1 << exact_between(0, 3), .rounding = (PnvRounding)exact_between(0, 2),
        .rate_control = round % 5 == 4 ? PNV_RATE_TARGET : PNV_RATE_CONSTANT_QUANTIZER,
    };
    PnvPicture pic = {.interlace = (PnvInterlace)(round / 7 % 3)};
    const int is_apart = pic.interlace != PNV_PROGRESSIVE && exact_random() & 1;
    uint8_t *memory[2][4] = {{NULL}};
    char error[PNV_ERROR_BYTES] = "", what[120];
    PnvPlan plan;

    for (int c = 0; c < 4; c++) {
        params.shift[c] = f->at[c].shift;
        pic.step[c] = f->packing == PNV_PACKING_V210 || f->packing == PNV_PACKING_UYVP ? 0 : f->at[c].step;
        pic.bottom[c] = is_apart ? &plan : NULL; /* for the number of rows; the memory follows */
    }
    REQUIRE(pnv_plan(&plan, &params, error) == PNV_OK, "%s: %s", f->name, error);
    for (int m = 0; m < 4; m++) {
        ptrdiff_t stride[2] = {0};
        for (int field = 0; field <= is_apart; field++)
            memory[field][m] = make_memory(&plan, f, m, field, &pic, &stride[field]);
        for (int c = 0; c < plan.n_components; c++) {
            if (f->at[c].memory == m) {
                pic.plane[c] = memory[0][m] + f->at[c].offset;
                pic.stride[c] = stride[0];
            }
        }
    }
    for (int c = 0; c < 4; c++)
        pic.bottom[c] = is_apart && c < plan.n_components ? memory[1][f->at[c].memory] + f->at[c].offset : NULL;
    snprintf(what, sizeof what, "%s, %dx%d, profile %d, siting %d, interlace %d%s", f->name, params.width,
             params.height, (int)profile, (int)params.siting, (int)pic.interlace, is_apart ? " apart" : "");
    compare_levels(params, &pic, what);
    for (int m = 0; m < 4; m++) {
        free(memory[0][m]);
        free(memory[1][m]);
    }
}

static void test_refusal(void)
{
    for (int cpu = PNV_CPU_AUTO; cpu <= PNV_CPU_NEON; cpu++) {
        const PnvParams params = {.width = 16, .height = 16, .depth = 10, .cpu = (PnvCpu)cpu};
        char error[PNV_ERROR_BYTES] = "";
        PnvEncoder *enc;
        const PnvStatus status = pnv_open(&enc, &params, error);
        if (pnv_cpu_has((PnvCpu)cpu)) {
            CHECK(status == PNV_OK, "cpu %s: %s", pnv_cpu_name((PnvCpu)cpu), error);
            CHECK(cpu || pnv_params(enc)->cpu == pnv_cpu_best(), "auto is %d", (int)pnv_params(enc)->cpu);
            pnv_close(&enc);
        } else {
            CHECK(status == PNV_ENODEV && strstr(error, pnv_cpu_name((PnvCpu)cpu)), "cpu %s: status %d, %s",
                  pnv_cpu_name((PnvCpu)cpu), (int)status, error);
        }
    }
}

int main(void)
{
    test_refusal();
    if (pnv_cpu_best() == PNV_CPU_C) {
        puts("skipped: this machine has nothing but C");
        return CHECK_SKIP;
    }
    for (int round = 0; round < 240; round++)
        test_frame(round);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (int round = 0; round < 42; round++) /* all profiles, each scanned every way, twice */
            test_form(&forms[i], round);
    }
    CHECK_END();
}
