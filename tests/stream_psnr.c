/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Picture quality at constant quantizer with nearest rounding, on ffmpeg's testsrc2 at 1920x1080: floors for each
 * profile, and never below prores_ks at the same quantizer. Both decoded exactly by the strict reader. Exits 77 without
 * ffmpeg.
 */
#include <math.h>
#include <unistd.h>

#include "check.h"
#include "profile.h"
#include "stream.h"

enum { WIDTH = 1920, HEIGHT = 1080 };

static PnvReader *reader;

static const char *pixel_format(const PnvParams *p)
{
    return p->chroma == PNV_CHROMA_444 ? p->depth == 12 ? "yuv444p12le" : "yuv444p10le" : "yuv422p10le";
}

static void measure(double psnr[3], const TestPicture *t, const uint8_t *data, size_t size)
{
    const PnvReaderOptions options = {.flags = PNV_READER_PIXELS, .depth = t->depth};

    REQUIRE(pnv_reader_read(reader, data, size, &options) == PNV_READER_OK && pnv_reader_frame(reader)->complete,
            "a frame cannot be read");
    for (int c = 0; c < 3; c++)
        psnr[c] = plane_psnr(reader, t, c);
}

/* The same raw frame through prores_ks with its quantizer fixed. */
static void measure_prores_ks(double psnr[3], const PnvParams *p, const TestPicture *t, const uint8_t *raw)
{
    char folder[] = "/tmp/proresnv-XXXXXX", path[64], command[512];

    REQUIRE(mkdtemp(folder), "folder");
    snprintf(path, sizeof path, "%s/in.yuv", folder);
    FILE *file = fopen(path, "wb");
    REQUIRE(file && fwrite(raw, raw_frame_bytes(p), 1, file) == 1 && !fclose(file), "write %s", path);
    snprintf(command, sizeof command,
             "ffmpeg -nostdin -v error -f rawvideo -s %dx%d -pix_fmt %s -i %s -c:v prores_ks -profile:v %d -qscale:v %d "
             "%s/ks.mov >&2 && cat %s/ks.mov; rm -rf %s",
             WIDTH, HEIGHT, pixel_format(p), path, (int)p->profile - 1, p->quantizer, folder, folder, folder);
    size_t size;
    uint8_t *mov = command_output(command, &size);
    /* One frame: its sample begins 4 bytes before the marker. */
    size_t at = 4;
    while (at + 4 <= size && memcmp(mov + at, "icpf", 4))
        at++;
    REQUIRE(at + 4 <= size, "no frame in the file of prores_ks");
    const uint8_t *f = mov + at - 4;
    measure(psnr, t, f, (size_t)f[0] << 24 | (size_t)f[1] << 16 | (size_t)f[2] << 8 | f[3]);
    free(mov);
}

static void test_profile(PnvProfile profile, int depth, int quantizer, const double floor[3], int against_ks)
{
    const PnvParams params = {.width = WIDTH, .height = HEIGHT, .chroma = pnv_profile_info(profile)->chroma,
                              .depth = depth, .profile = profile, .quantizer = quantizer,
                              .rounding = PNV_ROUNDING_NEAREST};
    char command[256];
    size_t size;
    TestPicture t;
    double ours[3], ks[3];

    snprintf(command, sizeof command,
             "ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=%dx%d -frames:v 1 -pix_fmt %s -f rawvideo -", WIDTH,
             HEIGHT, pixel_format(&params));
    uint8_t *raw = command_output(command, &size);
    REQUIRE(size == raw_frame_bytes(&params), "%zu bytes of testsrc2", size);
    test_picture_from_raw(&t, &params, raw);
    TestFrame frame = test_encode(&params, &t);
    measure(ours, &t, frame.data, frame.size);
    printf("%-8s depth %2d quantizer %d: %6.2f %6.2f %6.2f dB, %zu bytes", pnv_profile_name(profile), depth, quantizer,
           ours[0], ours[1], ours[2], frame.size);
    for (int c = 0; c < 3; c++)
        CHECK(ours[c] >= floor[c], "%s quantizer %d plane %d: %.2f dB, wanted %.2f", pnv_profile_name(profile),
              quantizer, c, ours[c], floor[c]);
    if (against_ks) {
        measure_prores_ks(ks, &params, &t, raw);
        printf("; prores_ks %6.2f %6.2f %6.2f dB", ks[0], ks[1], ks[2]);
        for (int c = 0; c < 3; c++)
            CHECK(ours[c] >= ks[c], "%s quantizer %d plane %d: %.2f dB, prores_ks has %.2f", pnv_profile_name(profile),
                  quantizer, c, ours[c], ks[c]);
    }
    puts("");
    free(frame.data);
    free(raw);
    test_picture_free(&t);
}

int main(void)
{
    static const double none[3] = {0, 0, 0}, hq4[3] = {68, 68, 68}, xq4[3] = {70, 0, 0}, q1[3] = {77, 77, 77};

    if (!have_ffmpeg()) {
        puts("skipped: there is no ffmpeg to make the material");
        return CHECK_SKIP;
    }
    reader = pnv_reader_new();
    REQUIRE(reader, "memory");
    test_profile(PNV_PROFILE_HQ, 10, 4, hq4, 1);
    test_profile(PNV_PROFILE_4444, 12, 4, hq4, 0); /* prores_ks takes 10 bits only */
    test_profile(PNV_PROFILE_4444XQ, 12, 4, xq4, 0);
    test_profile(PNV_PROFILE_HQ, 10, 1, q1, 1);
    test_profile(PNV_PROFILE_4444, 10, 2, none, 1);
    test_profile(PNV_PROFILE_PROXY, 10, 4, none, 1);
    test_profile(PNV_PROFILE_LT, 10, 3, none, 1);
    test_profile(PNV_PROFILE_STANDARD, 10, 8, none, 1);
    pnv_reader_free(&reader);
    CHECK_END();
}
