/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CUDA backend's input: every packing, chroma sampling and model into both kinds of profile, as frames, fields
 * woven and fields apart, from ordinary, page-locked and device memory, at awkward sizes. The CPU says what is right.
 */
#include <cuda_runtime_api.h>

#include "check.h"
#include "cuda_twin.h"
#include "plan.h"

#ifdef PNV_CUDA_EMULATED
#include "hostcuda_control.h"
#endif

/* Where a component lies: which plane, at which byte of a pixel, how far from one to the next. */
typedef struct Place {
    int plane, offset, step;
} Place;

typedef struct Format {
    const char *name;
    PnvModel model;
    PnvChroma chroma;
    PnvPacking packing;
    int depth, shift[4];
    int n_components, alpha_depth;
    Place place[4];
} Format;

#define PLANAR(bytes) {{0, 0, bytes}, {1, 0, bytes}, {2, 0, bytes}, {3, 0, bytes}}
#define ONE_WORD {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}

static const Format formats[] = {
    {"I420", PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, PLANAR(1)},
    {"A420", PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PACKING_SAMPLES, 8, {0}, 4, 0, PLANAR(1)},
    {"NV12", PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
    {"NV21", PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, {{0, 0, 1}, {1, 1, 2}, {1, 0, 2}}},
    {"I420_10LE", PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PACKING_SAMPLES, 10, {0}, 3, 0, PLANAR(2)},
    {"P010_10LE", PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PACKING_SAMPLES, 10, {6, 6, 6}, 3, 0,
     {{0, 0, 2}, {1, 0, 4}, {1, 2, 4}}},
    {"P016_LE", PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PACKING_SAMPLES, 16, {0}, 3, 0, {{0, 0, 2}, {1, 0, 4}, {1, 2, 4}}},
    {"Y42B", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, PLANAR(1)},
    {"I422_12LE", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_SAMPLES, 12, {0}, 3, 0, PLANAR(2)},
    {"A422_10LE", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_SAMPLES, 10, {0}, 4, 0, PLANAR(2)},
    {"NV16", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
    {"UYVY", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, {{0, 1, 2}, {0, 0, 4}, {0, 2, 4}}},
    {"YVYU", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, {{0, 0, 2}, {0, 3, 4}, {0, 1, 4}}},
    {"Y210", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_SAMPLES, 10, {6, 6, 6}, 3, 0,
     {{0, 0, 4}, {0, 2, 8}, {0, 6, 8}}},
    {"v216", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_SAMPLES, 16, {0}, 3, 0, {{0, 2, 4}, {0, 0, 8}, {0, 4, 8}}},
    {"v210", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_V210, 10, {0}, 3, 0, ONE_WORD},
    {"UYVP", PNV_MODEL_YCBCR, PNV_CHROMA_422, PNV_PACKING_UYVP, 10, {0}, 3, 0, ONE_WORD},
    {"Y444_12LE", PNV_MODEL_YCBCR, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 12, {0}, 3, 0, PLANAR(2)},
    {"Y410", PNV_MODEL_YCBCR, PNV_CHROMA_444, PNV_PACKING_WORDS, 10, {10, 0, 20, 30}, 4, 2, ONE_WORD},
    {"Y412_LE", PNV_MODEL_YCBCR, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 12, {4, 4, 4, 4}, 4, 0,
     {{0, 2, 8}, {0, 0, 8}, {0, 4, 8}, {0, 6, 8}}},
    {"AYUV", PNV_MODEL_YCBCR, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 8, {0}, 4, 0,
     {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}, {0, 0, 4}}},
    {"AYUV64", PNV_MODEL_YCBCR, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 16, {0}, 4, 0,
     {{0, 2, 8}, {0, 4, 8}, {0, 6, 8}, {0, 0, 8}}},
    {"BGRA", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 8, {0}, 4, 0,
     {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {0, 3, 4}}},
    {"xRGB", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}}},
    {"RGB", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, {{0, 0, 3}, {0, 1, 3}, {0, 2, 3}}},
    {"r210", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_WORDS_BE, 10, {20, 10, 0}, 3, 0, ONE_WORD},
    {"RGB10A2_LE", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_WORDS, 10, {0, 10, 20, 30}, 4, 2, ONE_WORD},
    {"RGBA64_LE", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 16, {0}, 4, 0,
     {{0, 0, 8}, {0, 2, 8}, {0, 4, 8}, {0, 6, 8}}},
    {"GBR_12LE", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 12, {0}, 3, 0,
     {{2, 0, 2}, {0, 0, 2}, {1, 0, 2}}},
    {"GBR", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_SAMPLES, 8, {0}, 3, 0, {{2, 0, 1}, {0, 0, 1}, {1, 0, 1}}},
    /* no format has these: samples and words that are put side by side */
    {"every third", PNV_MODEL_YCBCR, PNV_CHROMA_420, PNV_PACKING_SAMPLES, 10, {2, 3, 4}, 3, 0,
     {{0, 0, 6}, {1, 0, 10}, {1, 4, 10}}},
    {"words apart", PNV_MODEL_RGB, PNV_CHROMA_444, PNV_PACKING_WORDS, 10, {22, 11, 1, 0}, 4, 0,
     {{0, 0, 9}, {0, 0, 9}, {0, 0, 9}, {0, 0, 9}}},
};

enum { N_FORMATS = (int)(sizeof formats / sizeof *formats), N_GATHERED = 2 };

/* A picture in blocks of memory that end with its last sample: [field][plane]. */
typedef struct Input {
    PnvPicture pic;
    int n_planes, n_fields;
    uint8_t *memory[2][4];
    size_t bytes[2][4];
    ptrdiff_t stride[4];
} Input;

/* Soft in places and noise in others: all bits of a word are samples of some kind. */
static void fill_bytes(uint8_t *to, size_t n, uint32_t seed)
{
    uint32_t h = seed * 2654435761u + 1;

    for (size_t i = 0; i < n; i++) {
        h = h * 1664525u + 1013904223u;
        to[i] = i / 256 % 4 ? (uint8_t)(h >> 24) : (uint8_t)(seed + i / 64);
    }
}

/* Components of a picture in such blocks. */
static void point(PnvPicture *pic, const Input *in, const Format *f, uint8_t *const memory[2][4])
{
    for (int c = 0; c < f->n_components; c++) {
        const Place *place = &f->place[c];
        pic->plane[c] = memory[0][place->plane] + place->offset;
        pic->bottom[c] = in->n_fields == 2 ? memory[1][place->plane] + place->offset : NULL;
        pic->stride[c] = in->stride[place->plane];
        pic->step[c] = place->step;
    }
}

static void input_init(Input *in, const PnvParams *params, const Format *f, PnvInterlace interlace, int is_apart,
                       int chroma_rows, uint32_t seed)
{
    char error[PNV_ERROR_BYTES] = "";
    PnvPlan plan;
    uint8_t *const none[2][4] = {{NULL}};

    REQUIRE(pnv_plan(&plan, params, error) == PNV_OK, "%s: %s", f->name, error);
    *in = (Input){.pic = {.interlace = interlace, .chroma_rows = chroma_rows}, .n_fields = 1 + is_apart};
    point(&in->pic, in, f, none);
    size_t row_bytes[4] = {0};
    for (int c = 0; c < f->n_components; c++) {
        const PnvPlane plane = pnv_plan_plane(&plan, &in->pic, &plan.framing[PNV_PROGRESSIVE].picture[0], c);
        const size_t bytes = (size_t)(f->place[c].offset + pnv_plane_row_bytes(&plane));
        const int p = f->place[c].plane;
        row_bytes[p] = bytes > row_bytes[p] ? bytes : row_bytes[p];
        in->n_planes = p >= in->n_planes ? p + 1 : in->n_planes;
    }
    for (int p = 0; p < in->n_planes; p++)
        in->stride[p] = (ptrdiff_t)(row_bytes[p] + row_bytes[p] % 2) + 2 * (ptrdiff_t)(seed % 5) * (p + 1);
    for (int field = 0; field < in->n_fields; field++) {
        if (is_apart) /* so that rows are those of a field */
            in->pic.bottom[0] = in->pic.bottom[1] = in->pic.bottom[2] = in->pic.bottom[3] = "";
        for (int c = 0; c < f->n_components; c++) {
            const int p = f->place[c].plane;
            const size_t rows = (size_t)pnv_plan_rows(&plan, &in->pic, c, field);
            if (in->memory[field][p])
                continue;
            in->bytes[field][p] = (rows - 1) * (size_t)in->stride[p] + row_bytes[p];
            in->memory[field][p] = malloc(in->bytes[field][p]);
            REQUIRE(in->memory[field][p], "memory");
            fill_bytes(in->memory[field][p], in->bytes[field][p], seed + (uint32_t)(p + 4 * field));
        }
    }
    in->pic = (PnvPicture){.interlace = interlace, .chroma_rows = chroma_rows};
    point(&in->pic, in, f, in->memory);
}

static void input_free(Input *in)
{
    for (int field = 0; field < 2; field++) {
        for (int p = 0; p < 4; p++)
            free(in->memory[field][p]);
    }
}

/* The same picture elsewhere. */
static PnvPicture move_input(const Input *in, const Format *f, PnvMemory memory, uint8_t *copy[2][4])
{
    PnvPicture pic = {.interlace = in->pic.interlace, .chroma_rows = in->pic.chroma_rows, .memory = memory};

    for (int field = 0; field < in->n_fields; field++) {
        for (int p = 0; p < in->n_planes; p++) {
            void **at = (void **)&copy[field][p];
            const size_t bytes = in->bytes[field][p];
            const cudaError_t e = memory == PNV_MEMORY_CUDA ? cudaMalloc(at, bytes) : cudaHostAlloc(at, bytes, 0);
            REQUIRE(e == cudaSuccess, "memory");
            REQUIRE(cudaMemcpy(*at, in->memory[field][p], bytes, cudaMemcpyDefault) == cudaSuccess, "copy");
        }
    }
    point(&pic, in, f, copy);
    return pic;
}

static void free_copy(PnvMemory memory, uint8_t *copy[2][4])
{
    for (int field = 0; field < 2; field++) {
        for (int p = 0; p < 4; p++) {
            const cudaError_t e = memory == PNV_MEMORY_CUDA ? cudaFree(copy[field][p]) : cudaFreeHost(copy[field][p]);
            CHECK(e == cudaSuccess, "free");
        }
    }
}

/* By CUDA from page-locked or device memory: without a copy by the host. */
static void test_memory(const PnvParams *params, const Format *f, const Input *in, const TestFrame *want,
                        PnvMemory memory)
{
    const int is_odd = f - formats >= N_FORMATS - N_GATHERED, is_gathered = is_odd && params->width > 32;
    uint8_t *copy[2][4] = {{NULL}};
    const PnvPicture pic = move_input(in, f, memory, copy);
    PnvParams on_gpu = *params;
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;
    PnvPacket packet;
    PnvStats stats;

    on_gpu.backend = PNV_BACKEND_CUDA;
    REQUIRE(pnv_open(&enc, &on_gpu, error) == PNV_OK, "%s: %s", f->name, error);
#ifdef PNV_CUDA_EMULATED
    hostcuda_clear_calls();
#endif
    REQUIRE(pnv_send(enc, &pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "%s: %s", f->name, pnv_error(enc));
    CHECK(same_frame(want, &(TestFrame){(uint8_t *)packet.data, packet.size}),
          "%s %dx%d interlace %d memory %d: another frame", f->name, params->width, params->height, (int)pic.interlace,
          (int)memory);
    pnv_packet_release(&packet);
    pnv_stats(enc, &stats);
    CHECK(stats.n_cpu_fallback == 0, "%s: the CPU had to help", f->name);
    CHECK(is_odd != is_gathered || stats.n_staging_copies == (uint64_t)(is_gathered && memory == PNV_MEMORY_HOST),
          "%s: %d staging copies", f->name, (int)stats.n_staging_copies);
#ifdef PNV_CUDA_EMULATED
    int n_planes = 0; /* of what is coded */
    for (int c = 0; c < (params->alpha_bits ? 4 : 3) && memory == PNV_MEMORY_HOST; c++)
        n_planes = f->place[c].plane >= n_planes ? f->place[c].plane + 1 : n_planes;
    n_planes *= in->n_fields;
    CHECK(is_odd || hostcuda_calls("cudaMemcpy2DAsync") == (unsigned long)n_planes, "%s: %d copies of %d planes",
          f->name, (int)hostcuda_calls("cudaMemcpy2DAsync"), n_planes);
    if (memory == PNV_MEMORY_CUDA && !is_odd) { /* and when the device fails, once, the host gets all of it */
        hostcuda_fail("cudaEventSynchronize", 1, 0, cudaSuccess);
        REQUIRE(pnv_send(enc, &pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "%s: lost", f->name);
        CHECK(same_frame(want, &(TestFrame){(uint8_t *)packet.data, packet.size}), "%s: another frame by the CPU",
              f->name);
        pnv_packet_release(&packet);
        pnv_stats(enc, &stats);
        CHECK(stats.n_cpu_fallback == 1, "%s: the CPU did not help", f->name);
        hostcuda_fail(NULL, 0, 0, cudaSuccess);
        hostcuda_lose_device(cudaSuccess);
    }
#endif
    pnv_close(&enc);
    free_copy(memory, copy);
}

/* test_encode() codes on the CPU and hands the frame to the twin, which compares; n makes the settings go round. */
static void test_format(const Format *f, PnvProfile profile, int width, int height, int n)
{
    PnvParams params = {.width = width, .height = height, .model = f->model, .chroma = f->chroma, .packing = f->packing,
                        .depth = f->depth, .alpha_depth = f->alpha_depth, .matrix_coefficients = n / 3 % 2 ? 9 : 1,
                        .range = (PnvRange)(n % 5 == 0), .siting = (PnvSiting)(n / 2 % 4), .profile = profile,
                        .quantizer = n % 7 + 1, .mbs_per_slice = n % 11 == 0 ? 2 : 8, .threads = 1};
    const int is_444 = profile == PNV_PROFILE_4444;
    const int kind = height > 1 ? n % 5 : 0; /* frame, woven, woven, apart, apart */
    Input in;

    memcpy(params.shift, f->shift, sizeof params.shift);
    params.alpha_bits = is_444 && f->n_components == 4 ? n % 2 ? 8 : 16 : 0;
    params.rate_control = n % 13 == 0 ? PNV_RATE_TARGET : PNV_RATE_CONSTANT_QUANTIZER;
    const int chroma_rows = n % 2 ? 0 : (height + 1) / 2; /* of 4:2:0 in woven fields: not always all */
    input_init(&in, &params, f, (PnvInterlace)(kind < 3 ? kind : kind - 2), kind >= 3, chroma_rows, (uint32_t)n);
    const TestPicture t = {.params = params, .pic = in.pic};
    TestFrame want = test_encode(&params, &t);
    if (n % 3)
        test_memory(&params, f, &in, &want, n % 3 == 1 ? PNV_MEMORY_HOST : PNV_MEMORY_CUDA);
    free(want.data);
    input_free(&in);
}

int main(void)
{
    static const int sizes[][2] = {{1, 1}, {3, 2}, {16, 16}, {33, 35}, {37, 18}, {72, 49}, {130, 98}};
    enum { N_SIZES = (int)(sizeof sizes / sizeof *sizes) };
    const int n_rounds = getenv("PNV_TEST_FULL") ? 15 : 1; /* each with other settings */
    const int first = getenv("PNV_TEST_TINY") ? 3 : 0, end = first ? 4 : N_SIZES; /* under compute-sanitizer */

    REQUIRE(cudaFree(NULL) == cudaSuccess, "CUDA"); /* the context stays between encoders */
    for (int round = 0, n = 0; round < n_rounds; round++, n++) {
        for (int i = 0; i < N_FORMATS; i++) {
            for (int k = 2 * first; k < 2 * end; k++, n++)
                test_format(&formats[i], k % 2 ? PNV_PROFILE_4444 : PNV_PROFILE_HQ, sizes[k / 2][0], sizes[k / 2][1],
                            n);
        }
    }
    CHECK_END();
}
