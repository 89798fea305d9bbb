/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_material.h"

#include <math.h>
#include <unistd.h>

#include "check.h"
#include "compare.h"

#define MATE "/usr/share/backgrounds/mate/nature/"
#define PLASMA "/usr/share/wallpapers/"
#define PLASMA_FILE "/contents/images/2560x1600.jpg"

/* All photographs of the two packages that are in colour and at least 1920 wide, so that none is enlarged. */
static const char *const photographs[2][16] = {
    [BENCH_TUNING] = {MATE "LadyBird.jpg", MATE "TwoWings.jpg", MATE "Storm.jpg", PLASMA "BytheWater" PLASMA_FILE,
                      PLASMA "EveningGlow" PLASMA_FILE, PLASMA "Kite" PLASMA_FILE},
    [BENCH_REPORT] = {MATE "Aqua.jpg", MATE "Blinds.jpg", MATE "Garden.jpg", MATE "RainDrops.jpg", MATE "Wood.jpg",
                      MATE "YellowFlower.jpg", PLASMA "ColorfulCups" PLASMA_FILE, PLASMA "DarkestHour" PLASMA_FILE,
                      PLASMA "FallenLeaf" PLASMA_FILE, PLASMA "OneStandsOut" PLASMA_FILE, PLASMA "Path" PLASMA_FILE,
                      PLASMA "summer_1am" PLASMA_FILE},
};

/* Standard deviation of the grain in 10-bit codes: that of a fast film, or of a camera at high gain. */
enum { GRAIN_LUMA = 10, GRAIN_CHROMA = 5 };

const char *bench_material_missing(void)
{
    static char text[256];

    if (!have_ffmpeg())
        return "there is no ffmpeg";
    for (int set = 0; set < 2; set++)
        for (int i = 0; i < 16 && photographs[set][i]; i++)
            if (access(photographs[set][i], R_OK)) {
                snprintf(text, sizeof text, "no %s: install mate-backgrounds and plasma-workspace-wallpapers",
                         photographs[set][i]);
                return text;
            }
    return NULL;
}

static const char *pixel_format(const BenchMaterial *m)
{
    return m->params.chroma == PNV_CHROMA_444 ? "yuv444p10le" : "yuv422p10le";
}

static void load_photograph(const BenchMaterial *m, uint8_t *raw, const char *path)
{
    char command[512];
    size_t size;

    snprintf(command, sizeof command,
             "ffmpeg -nostdin -v error -i %s -vf scale=%d:%d:force_original_aspect_ratio=increase:flags=lanczos+"
             "accurate_rnd:out_color_matrix=bt709:out_range=tv,crop=%d:%d,format=%s -frames:v 1 -f rawvideo -",
             path, BENCH_WIDTH, BENCH_HEIGHT, BENCH_WIDTH, BENCH_HEIGHT, pixel_format(m));
    uint8_t *data = command_output(command, &size);
    REQUIRE(size == m->frame_bytes, "%s: %zu bytes of %zu", path, size, m->frame_bytes);
    memcpy(raw, data, size);
    free(data);
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* About normal, standard deviation 1 in units of 2^-10: twelve uniform numbers. */
static int next_normal(uint64_t *state)
{
    int sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (int)(next_random(state) & 1023);
    return sum - 6138;
}

static void add_grain(const BenchMaterial *m, uint8_t *raw, uint64_t seed)
{
    const size_t luma = 2 * (size_t)BENCH_WIDTH * BENCH_HEIGHT;

    for (size_t i = 0; i < m->frame_bytes; i += 2) {
        int s = raw[i] | raw[i + 1] << 8;
        s += (next_normal(&seed) * (i < luma ? GRAIN_LUMA : GRAIN_CHROMA) + 512) >> 10;
        s = s < 4 ? 4 : s > 1019 ? 1019 : s;
        raw[i] = (uint8_t)s;
        raw[i + 1] = (uint8_t)(s >> 8);
    }
}

/* "LadyBird" of .../LadyBird.jpg, "Kite" of .../Kite/contents/... */
static void name_frame(char name[32], const char *path, int has_grain)
{
    path += strlen(strncmp(path, MATE, strlen(MATE)) ? PLASMA : MATE);
    snprintf(name, 32, "%.*s%s", (int)strcspn(path, "/."), path, has_grain ? " grain" : "");
}

void bench_material_init(BenchMaterial *m, BenchSet set, PnvChroma chroma)
{
    *m = (BenchMaterial){.params = {.width = BENCH_WIDTH, .height = BENCH_HEIGHT, .chroma = chroma, .depth = BENCH_DEPTH}};
    m->frame_bytes = raw_frame_bytes(&m->params);
    while (m->n < BENCH_MAX_FRAMES / 2 && photographs[set][m->n])
        m->n++;
    m->n *= 2;
    m->raw = malloc((size_t)m->n * m->frame_bytes);
    REQUIRE(m->raw, "memory");
    for (int i = 0; i < m->n; i++) {
        uint8_t *raw = m->raw + (size_t)i * m->frame_bytes;
        if (i % 2) {
            memcpy(raw, raw - m->frame_bytes, m->frame_bytes);
            add_grain(m, raw, (uint64_t)i);
        } else {
            load_photograph(m, raw, photographs[set][i / 2]);
        }
        name_frame(m->names[i], photographs[set][i / 2], i % 2);
    }
    snprintf(m->path, sizeof m->path, "/tmp/proresnv-bench-XXXXXX");
    const int fd = mkstemp(m->path);
    REQUIRE(fd >= 0, "no file in /tmp");
    FILE *file = fdopen(fd, "wb");
    REQUIRE(file && fwrite(m->raw, m->frame_bytes, (size_t)m->n, file) == (size_t)m->n && !fclose(file), "write %s",
            m->path);
}

void bench_material_free(BenchMaterial *m)
{
    if (m->path[0])
        unlink(m->path);
    free(m->raw);
    *m = (BenchMaterial){0};
}

static PnvRawFormat raw_format(const BenchMaterial *m)
{
    return (PnvRawFormat){.is_444 = m->params.chroma == PNV_CHROMA_444, .depth = BENCH_DEPTH};
}

PnvPicture bench_picture(const BenchMaterial *m, int i)
{
    const ptrdiff_t luma = 2 * BENCH_WIDTH, chroma = m->params.chroma == PNV_CHROMA_444 ? luma : luma / 2;
    const uint8_t *raw = m->raw + (size_t)i * m->frame_bytes;

    return (PnvPicture){.plane = {raw, raw + luma * BENCH_HEIGHT, raw + (luma + chroma) * BENCH_HEIGHT},
                        .stride = {luma, chroma, chroma}};
}

static void read_frame(PnvReader *reader, const uint8_t *data, size_t size)
{
    const PnvReaderOptions options = {.flags = PNV_READER_PIXELS, .depth = BENCH_DEPTH};

    REQUIRE(pnv_reader_read(reader, data, size, &options) == PNV_READER_OK && pnv_reader_frame(reader)->complete,
            "a frame of %zu bytes cannot be read", size);
}

BenchScore bench_score(PnvReader *reader, const BenchMaterial *m, int i, const uint8_t *data, size_t size)
{
    static PnvComparer comparer; /* its memory stays for the next frame */
    const PnvRawFormat format = raw_format(m);
    PnvComparison c;
    BenchScore score = {.bytes = (double)size};

    read_frame(reader, data, size);
    REQUIRE(pnv_compare(&comparer, &c, reader, &format, m->raw + (size_t)i * m->frame_bytes), "memory");
    for (int k = 0; k < 3; k++)
        score.psnr[k] = pnv_psnr(c.mse[k], BENCH_DEPTH);
    score.ssim = c.ssim[0];
    return score;
}

void bench_decode(PnvReader *reader, const BenchMaterial *m, uint8_t *raw, const uint8_t *data, size_t size)
{
    read_frame(reader, data, size);
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < f->plane[c].height; y++) {
            const double *row = pnv_reader_row(reader, c, y);
            for (int x = 0; x < f->plane[c].width; x++, raw += 2) {
                const int s = pnv_reader_round(row[x], BENCH_DEPTH);
                raw[0] = (uint8_t)s;
                raw[1] = (uint8_t)(s >> 8);
            }
        }
}

TestFrame *bench_ffmpeg(const BenchMaterial *m, const char *encoder)
{
    char command[512];
    size_t size, at = 0;
    TestFrame *frames = calloc((size_t)m->n, sizeof *frames);

    REQUIRE(frames, "memory");
    snprintf(command, sizeof command,
             "ffmpeg -nostdin -v error -f rawvideo -s %dx%d -pix_fmt %s -i %s -c:v %s -f rawvideo -", BENCH_WIDTH,
             BENCH_HEIGHT, pixel_format(m), m->path, encoder);
    uint8_t *all = command_output(command, &size);
    for (int i = 0; i < m->n; i++) { /* each begins with its size */
        REQUIRE(at + 8 <= size && !memcmp(all + at + 4, "icpf", 4), "%s: no frame %d", command, i);
        frames[i].size = (size_t)all[at] << 24 | (size_t)all[at + 1] << 16 | (size_t)all[at + 2] << 8 | all[at + 3];
        REQUIRE(at + frames[i].size <= size, "%s: frame %d is cut", command, i);
        frames[i].data = malloc(frames[i].size);
        REQUIRE(frames[i].data, "memory");
        memcpy(frames[i].data, all + at, frames[i].size);
        at += frames[i].size;
    }
    REQUIRE(at == size, "%s: more than %d frames", command, m->n);
    free(all);
    return frames;
}

void bench_frames_free(TestFrame *frames, int n)
{
    for (int i = 0; i < n; i++)
        free(frames[i].data);
    free(frames);
}
