/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Target sizes against the data rates that Apple publishes. */
#include "check.h"
#include "target.h"

/* Mb/s, profiles from Proxy to 4444 XQ, at one frame rate; the other rates are proportional. */
static const struct {
    int width, height, fps_n, fps_d;
    int rate[6];
} published[] = {
    {720, 486, 30000, 1001, {12, 29, 42, 63, 94, 141}},
    {720, 576, 25, 1, {12, 28, 41, 61, 92, 138}},
    {960, 720, 60000, 1001, {38, 87, 126, 189, 283, 424}},
    {1280, 720, 60000, 1001, {45, 101, 147, 220, 330, 495}},
    {1280, 1080, 30000, 1001, {38, 87, 126, 189, 283, 424}},
    {1440, 1080, 25, 1, {32, 73, 105, 157, 236, 354}},
    {1920, 1080, 24000, 1001, {36, 82, 117, 176, 264, 396}},
    {1920, 1080, 25, 1, {38, 85, 122, 184, 275, 413}},
    {1920, 1080, 30000, 1001, {45, 102, 147, 220, 330, 495}},
    {1920, 1080, 50, 1, {76, 170, 245, 367, 551, 826}},
    {1920, 1080, 60000, 1001, {91, 204, 293, 440, 660, 990}},
    {2048, 1080, 60000, 1001, {103, 232, 335, 503, 754, 1131}},
    {2048, 1556, 60000, 1001, {140, 314, 452, 679, 1019, 1528}},
    {3840, 2160, 60000, 1001, {363, 821, 1178, 1768, 2652, 3977}},
    {4096, 2160, 60000, 1001, {388, 875, 1257, 1886, 2828, 4242}},
    {5120, 2700, 60000, 1001, {608, 1367, 1964, 2946, 4419, 6629}},
    {6144, 3240, 60000, 1001, {875, 1969, 2828, 4242, 6364, 9545}},
    {8192, 4320, 60000, 1001, {1556, 3500, 5028, 7542, 11313, 16970}},
};

/* The lists are rounded to whole Mb/s, some of them down: 1 Mb/s and 0.2 %. */
static void test_published(void)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        for (int p = 0; p < 6; p++) {
            const uint64_t bytes =
                pnv_target_bytes((PnvProfile)(PNV_PROFILE_PROXY + p), published[i].width, published[i].height);
            const double rate = 8e-6 * (double)bytes * published[i].fps_n / published[i].fps_d;
            const double off = rate - published[i].rate[p], limit = 1 + 0.002 * published[i].rate[p];
            CHECK(off < limit && off > -limit, "%dx%d profile %d: %.2f Mb/s, published %d", published[i].width,
                  published[i].height, p + 1, rate, published[i].rate[p]);
        }
}

int main(void)
{
    test_published();
    CHECK(pnv_target_bytes(PNV_PROFILE_HQ, 1920, 1080) == 917504, "1080 HQ");
    CHECK(pnv_target_bytes(PNV_PROFILE_4444XQ, 1920, 1080) == 2064384, "1080 XQ");
    CHECK(pnv_target_bytes(PNV_PROFILE_HQ, 1920, 1088) == 917504, "1088 has the macroblocks of 1080");
    CHECK(pnv_target_bytes(PNV_PROFILE_HQ, 16, 16) == 262144 / 1395, "one macroblock");
    CHECK(pnv_target_bytes(PNV_PROFILE_HQ, 65535, 65535) > UINT32_MAX / 3, "the largest frame");
    CHECK(pnv_target_bytes(PNV_PROFILE_AUTO, 1920, 1080) == 0, "no profile");
    CHECK_END();
}
