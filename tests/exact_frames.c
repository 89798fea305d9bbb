/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole frames are equal at every CPU level: all depths, chroma formats, slice widths, odd sizes, fields, alpha and
 * numbers of threads. And a level that is not there is refused with words.
 */
#include "exact.h"
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
    Frame want = encode(params, PNV_CPU_C, &pic);
    for (int cpu = PNV_CPU_AVX2; cpu <= PNV_CPU_NEON; cpu++) {
        if (!pnv_cpu_has((PnvCpu)cpu))
            continue;
        Frame got = encode(params, (PnvCpu)cpu, &pic);
        CHECK(got.size == want.size && !memcmp(got.data, want.data, want.size),
              "%s: %dx%d chroma %d depth %d quantizer %d slices of %d: another frame", pnv_cpu_name((PnvCpu)cpu),
              params.width, params.height, (int)params.chroma, params.depth, params.quantizer, params.mbs_per_slice);
        free(got.data);
    }
    free(want.data);
    for (int c = 0; c < 4; c++)
        free(memory[c]);
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
    CHECK_END();
}
