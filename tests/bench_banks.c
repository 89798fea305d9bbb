/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bank conflicts of shared memory in every kernel, counted by the emulated runtime on frames of soft shapes and noise. The
 * kernels are compiled for it: this is no measure of time. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "hostcuda_banks.h"
#include "pnv.h"

enum { WIDTH = 320, HEIGHT = 192, N_TABLE = 64 };

static uint16_t plane[4][WIDTH * HEIGHT];

static void draw(void)
{
    uint32_t noise = 1;

    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const int x = i % WIDTH, y = i / WIDTH;
            noise = noise * 1664525u + 1013904223u;
            plane[c][i] = (uint16_t)(200 + (x * (y + 7 * c + 7) / 64 + x / 3) % 600 + (c < 3 ? noise >> 28 : 0));
        }
    }
}

static void encode(PnvParams params)
{
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;
    PnvPacket packet;
    PnvPicture pic = {.plane = {plane[0], plane[1], plane[2], plane[3]}};

    for (int c = 0; c < 4; c++)
        pic.stride[c] = WIDTH * 2;
    params.width = WIDTH;
    params.height = HEIGHT;
    params.depth = 10;
    params.backend = PNV_BACKEND_CUDA;
    params.frames_in_flight = 1;
    REQUIRE(pnv_open(&enc, &params, error) == PNV_OK, "%s", error);
    REQUIRE(pnv_send(enc, &pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode");
    pnv_packet_release(&packet);
    pnv_close(&enc);
}

int main(void)
{
    static HostcudaBanks banks[N_TABLE];

    draw();
    for (int rounding = PNV_ROUNDING_DEAD_ZONE; rounding <= PNV_ROUNDING_OPTIMAL; rounding++)
        encode((PnvParams){.chroma = PNV_CHROMA_422, .rounding = (PnvRounding)rounding});
    encode((PnvParams){.chroma = PNV_CHROMA_422, .rate_control = PNV_RATE_TARGET});
    encode((PnvParams){.chroma = PNV_CHROMA_444, .alpha_bits = 8, .rounding = PNV_ROUNDING_NEAREST});
    encode((PnvParams){.chroma = PNV_CHROMA_422, .shift = {1, 1, 1}, .rounding = PNV_ROUNDING_NEAREST}); /* not plain */
    encode((PnvParams){.chroma = PNV_CHROMA_420, .rounding = PNV_ROUNDING_NEAREST});                     /* filtered */
    encode((PnvParams){.chroma = PNV_CHROMA_420, .profile = PNV_PROFILE_4444, .rounding = PNV_ROUNDING_NEAREST});
    encode((PnvParams){.chroma = PNV_CHROMA_444, .profile = PNV_PROFILE_HQ, .rounding = PNV_ROUNDING_NEAREST});
    const unsigned n = hostcuda_banks(banks, N_TABLE);
    REQUIRE(n > 0 && n <= N_TABLE, "%u kernels", n);
    printf("%-56s %12s %12s %10s %6s\n", "kernel", "accesses", "passes", "extra", "worst");
    for (unsigned i = 0; i < n; i++)
        printf("%-56s %12llu %12llu %8.1f %% %6u\n", banks[i].kernel, banks[i].accesses, banks[i].passes,
               banks[i].passes ? 100.0 * (double)banks[i].extra / (double)banks[i].passes : 0, banks[i].worst);
    CHECK_END();
}
