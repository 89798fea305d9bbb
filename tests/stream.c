/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream.h"

#include <math.h>
#include <unistd.h>

#include "check.h"
#include "mov_writer.h"
#include "profile.h"
#include "slice.h"
#include "tables.h"

const char *const fill_names[N_FILLS] = {"natural", "noise", "checks", "flat"};
const char *const alpha_fill_names[N_ALPHA_FILLS] = {"opaque", "clear", "ramp", "steps", "matte", "noise"};

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 374761393u + y * 668265263u + seed * 2246822519u;
    h = (h ^ h >> 13) * 1274126177u;
    return h ^ h >> 16;
}

/* A sample in 0..1 before it is scaled to the depth. */
static double natural(int x, int y, uint32_t seed)
{
    const double soft = 0.5 + 0.3 * sin(x * 0.013 + seed) * cos(y * 0.017) + 0.1 * sin(x * 0.21 + y * 0.17);
    const double edge = (x / 37 + y / 23) % 5 == 0 ? 0.15 : 0;
    const double grain = ((double)(hash((uint32_t)x, (uint32_t)y, seed) & 0xffff) / 65536 - 0.5) * 0.04;
    return soft + edge + grain;
}

/* Each macroblock another pattern of black and white, among them those of a single frequency. */
static int is_white(int x, int y, uint32_t seed)
{
    const uint32_t pattern = hash((uint32_t)(x / 16), (uint32_t)(y / 16), seed);
    const int u = (int)(pattern % 8), v = (int)(pattern / 8 % 8);
    if (pattern % 5 == 0)
        return (int)(hash((uint32_t)x, (uint32_t)y, seed) & 1);
    return cos((2 * (x % 8) + 1) * u * acos(-1) / 16) * cos((2 * (y % 8) + 1) * v * acos(-1) / 16) > 0;
}

static int fill_sample(Fill fill, int x, int y, int depth, uint32_t seed)
{
    const int max = (1 << depth) - 1;

    switch (fill) {
    case FILL_NATURAL:
        return clamp((int)lrint(natural(x, y, seed) * max), 0, max);
    case FILL_NOISE:
        return (int)(hash((uint32_t)x, (uint32_t)y, seed) >> 8) & max;
    case FILL_CHECKS:
        return is_white(x, y, seed) ? max : 0;
    default:
        return (int)(seed * 97 % (unsigned)(max + 1));
    }
}

static int alpha_sample(AlphaFill fill, int x, int y, int depth, uint32_t seed)
{
    const int max = (1 << depth) - 1;

    switch (fill) {
    case ALPHA_OPAQUE:
        return max;
    case ALPHA_CLEAR:
        return 0;
    case ALPHA_RAMP:
        return (int)((int64_t)(x + y) * max / 257 % (max + 1));
    case ALPHA_STEPS:
        return (x / 19 + y / 11) % 4 * max / 3;
    case ALPHA_MATTE: {
        const double edge = 40 + 25 * sin(y * 0.11 + seed) - x % 90;
        const double noise = ((double)(hash((uint32_t)x, (uint32_t)y, seed) & 0xff) / 256 - 0.5) * 0.05;
        return edge > 6 ? max : edge < -6 ? 0 : clamp((int)((0.5 + edge / 12 + noise) * max), 0, max);
    }
    default:
        return (int)(hash((uint32_t)x, (uint32_t)y, seed) >> 8) & max;
    }
}

static uint8_t *sample_at(const TestPicture *t, int component, int x, int y)
{
    const ptrdiff_t offset = (const uint8_t *)t->pic.plane[component] - t->memory[component];
    return t->memory[component] + offset + y * t->pic.stride[component] + (ptrdiff_t)x * t->pic.step[component];
}

void test_picture_put(TestPicture *t, int component, int x, int y, int s)
{
    uint8_t *at = sample_at(t, component, x, y);

    at[0] = (uint8_t)s;
    if (t->depth > 8)
        at[1] = (uint8_t)(s >> 8);
}

int test_picture_get(const TestPicture *t, int component, int x, int y)
{
    const uint8_t *at = sample_at(t, component, x, y);
    return t->depth == 8 ? at[0] : at[0] | at[1] << 8;
}

static void describe(TestPicture *t, const PnvParams *params)
{
    *t = (TestPicture){.params = *params, .n_components = params->alpha_bits ? 4 : 3, .height = params->height,
                       .depth = params->depth};
    for (int c = 0; c < t->n_components; c++)
        t->width[c] = pnv_plane_width(params->chroma, c == 1 || c == 2, params->width);
}

/* Padding that would show if it were read. */
static uint8_t *allocate(size_t size)
{
    uint8_t *memory = malloc(size);

    REQUIRE(memory, "memory");
    memset(memory, 0xff, size);
    return memory;
}

static void allocate_planar(TestPicture *t, const PnvParams *params, int padding)
{
    const int bytes = params->depth > 8 ? 2 : 1;

    describe(t, params);
    for (int c = 0; c < t->n_components; c++) {
        const size_t row = (size_t)t->width[c] * (size_t)bytes;
        t->pic.stride[c] = (ptrdiff_t)row + padding * (c + 1);
        t->pic.step[c] = bytes;
        t->memory[c] = allocate((size_t)t->pic.stride[c] * (size_t)(params->height - 1) + row);
        t->pic.plane[c] = t->memory[c];
    }
}

static void fill_all(TestPicture *t, Fill fill, uint32_t seed)
{
    for (int c = 0; c < 3; c++) {
        for (int y = 0; y < t->height; y++) {
            for (int x = 0; x < t->width[c]; x++)
                test_picture_put(t, c, x, y, fill_sample(fill, x, y, t->depth, seed + (unsigned)c));
        }
    }
    test_picture_fill_alpha(t, (AlphaFill)(seed % N_ALPHA_FILLS), seed);
}

void test_picture_init(TestPicture *t, const PnvParams *params, Fill fill, uint32_t seed)
{
    allocate_planar(t, params, 6);
    fill_all(t, fill, seed);
}

void test_picture_init_packed(TestPicture *t, const PnvParams *params, Fill fill, uint32_t seed)
{
    const int bytes = params->depth > 8 ? 2 : 1;

    describe(t, params);
    REQUIRE(params->chroma == PNV_CHROMA_444, "packed pictures are 4:4:4");
    const ptrdiff_t stride = (ptrdiff_t)params->width * 4 * bytes + 8;
    uint8_t *memory = allocate((size_t)(stride * params->height - 8));
    for (int c = 0; c < t->n_components; c++) {
        t->memory[c] = memory;
        t->pic.plane[c] = memory + (c == 3 ? 0 : c + 1) * bytes;
        t->pic.stride[c] = stride;
        t->pic.step[c] = 4 * bytes;
    }
    fill_all(t, fill, seed);
}

void test_picture_fill_alpha(TestPicture *t, AlphaFill fill, uint32_t seed)
{
    for (int y = 0; t->n_components == 4 && y < t->height; y++) {
        for (int x = 0; x < t->width[3]; x++)
            test_picture_put(t, 3, x, y, alpha_sample(fill, x, y, t->depth, seed));
    }
}

size_t raw_frame_bytes(const PnvParams *params)
{
    const int columns = (params->alpha_bits ? 2 : 1) * params->width +
                        2 * pnv_plane_width(params->chroma, 1, params->width);
    return (size_t)columns * (size_t)params->height * (params->depth > 8 ? 2 : 1);
}

void test_picture_from_raw(TestPicture *t, const PnvParams *params, const uint8_t *raw)
{
    allocate_planar(t, params, 0);
    for (int c = 0; c < t->n_components; c++) {
        const size_t bytes = (size_t)t->pic.stride[c] * (size_t)t->height;
        memcpy(t->memory[c], raw, bytes);
        raw += bytes;
    }
}

void test_picture_free(TestPicture *t)
{
    for (int c = 0; c < t->n_components; c++) {
        if (c == 0 || t->memory[c] != t->memory[0])
            free(t->memory[c]);
    }
    memset(t, 0, sizeof *t);
}

void (*test_twin)(const PnvParams *params, const TestPicture *t, const TestFrame *frame);

TestFrame test_encode(const PnvParams *params, const TestPicture *t)
{
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;
    PnvPacket packet;
    TestFrame frame;

    REQUIRE(pnv_open(&enc, params, error) == PNV_OK, "open: %s", error);
    REQUIRE(pnv_send(enc, &t->pic) == PNV_OK, "send: %s", pnv_error(enc));
    REQUIRE(pnv_collect(enc, &packet) == PNV_OK, "collect");
    CHECK(packet.size <= pnv_packet_bound(params), "%zu bytes, bound %zu", packet.size, pnv_packet_bound(params));
    frame = (TestFrame){malloc(packet.size), packet.size};
    REQUIRE(frame.data, "memory");
    memcpy(frame.data, packet.data, packet.size);
    pnv_packet_release(&packet);
    pnv_close(&enc);
    if (test_twin)
        test_twin(params, t, &frame);
    return frame;
}

int same_frame(const TestFrame *a, const TestFrame *b)
{
    return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static void print_finding(void *opaque, const PnvFinding *finding)
{
    fprintf(stderr, "%s: %s, picture %d slice %d byte %u: %s\n", (const char *)opaque, pnv_finding_name(finding->code),
            finding->picture, finding->slice, finding->offset, finding->text);
}

/* C of an 8x8 block of errors given at the 12-bit scale. */
static void error_dct(double c[64], const double e[64])
{
    static double basis[8][8];
    double columns[64];

    if (basis[0][0] == 0) {
        for (int u = 0; u < 8; u++) {
            for (int x = 0; x < 8; x++)
                basis[u][x] = (u ? 0.5 : sqrt(0.125)) * cos((2 * x + 1) * u * acos(-1) / 16);
        }
    }
    memset(columns, 0, sizeof columns);
    for (int v = 0; v < 8; v++) {
        for (int y = 0; y < 8; y++) {
            for (int x = 0; x < 8; x++)
                columns[8 * v + x] += basis[v][y] * e[8 * y + x];
        }
    }
    for (int v = 0; v < 8; v++) {
        for (int u = 0; u < 8; u++) {
            c[8 * v + u] = 0;
            for (int x = 0; x < 8; x++)
                c[8 * v + u] += basis[u][x] * columns[8 * v + x];
        }
    }
}

/* What a sample of a picture is at the 12-bit scale, in video range, before anything is rounded. */
static double true_sample(const TestPicture *t, int c, int x, int y)
{
    const double s = test_picture_get(t, c, x, y), max = (1 << t->depth) - 1;

    if (t->params.range == PNV_RANGE_VIDEO)
        return s * pow(2, 12 - t->depth);
    return c ? 2048 + 224 * 16 * (s - (1 << (t->depth - 1))) / max : 16 * (16 + 219 * s / max);
}

/* Which row of the frame is row y of picture i; rows behind a field repeat its last. */
static int frame_row(const TestPicture *t, int i, int y)
{
    if (t->pic.interlace == PNV_PROGRESSIVE)
        return min_int(y, t->height - 1);
    const int parity = i ^ (t->pic.interlace == PNV_BOTTOM_FIELD_FIRST);
    return parity + 2 * min_int(y, (t->height - parity + 1) / 2 - 1);
}

/* Largest excess of a coefficient of the error over half its step, in one component of one picture. */
static double worst_excess(const PnvReader *reader, const TestPicture *t, int i, int c, const double half_step[64])
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    const int columns = f->pictures[i].width_mb * pnv_mb_width(t->params.chroma, c > 0);
    const int rows = f->pictures[i].height_mb * 16;
    double worst = -1e9;

    for (int y0 = 0; y0 < rows; y0 += 8) {
        for (int x0 = 0; x0 < columns; x0 += 8) {
            double e[64], coef[64];
            for (int y = 0; y < 8; y++) {
                const double *row = pnv_reader_picture_row(reader, i, c, y0 + y);
                for (int x = 0; x < 8; x++)
                    e[8 * y + x] =
                        row[x0 + x] - true_sample(t, c, min_int(x0 + x, t->width[c] - 1), frame_row(t, i, y0 + y));
            }
            error_dct(coef, e);
            for (int k = 0; k < 64; k++)
                worst = fmax(worst, fabs(coef[k]) - half_step[k]);
        }
    }
    return worst;
}

/* Alpha as the stream should carry it, by the definition rather than by the encoder's shifts. */
static int true_alpha(const TestPicture *t, int x, int y)
{
    const int a = test_picture_get(t, 3, x, y), bits = t->params.alpha_bits;

    if (t->depth > bits)
        return (int)floor(a * 255.0 / ((1 << t->depth) - 1) + 0.5);
    int v = a << (bits - t->depth); /* the sample's bits, again and again */
    for (int n = t->depth; n < bits; n += t->depth)
        v |= a << (bits - t->depth) >> n;
    return v;
}

static void judge_alpha(const PnvReader *reader, const char *name, const TestPicture *t)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    long wrong = 0;

    for (int y = 0; y < t->height; y++) {
        const uint16_t *row = pnv_reader_alpha_row(reader, y);
        for (int x = 0; x < t->width[3]; x++)
            wrong += row[x] != true_alpha(t, x, y);
    }
    CHECK(wrong == 0, "%s: %ld values of alpha differ", name, wrong);
    for (uint32_t k = 0; f->opaque && k < f->n_slices; k++)
        CHECK(f->slices[k].unit_bytes[3] <= 5, "%s: opaque slice of %d bytes", name, f->slices[k].unit_bytes[3]);
}

void judge_strictly(PnvReader *reader, const char *name, const PnvParams *params, const TestPicture *t,
                    const TestFrame *frame)
{
    const PnvReaderOptions options = {
        .flags = PNV_READER_PIXELS | PNV_READER_LEVELS,
        .depth = 12,
        .report = print_finding,
        .opaque = (void *)name,
    };
    REQUIRE(pnv_reader_read(reader, frame->data, frame->size, &options) == PNV_READER_OK, "%s: cannot be read", name);
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    CHECK(f->n_violations == 0 && f->n_notes == 0, "%s: %llu violations, %llu notes", name,
          (unsigned long long)f->n_violations, (unsigned long long)f->n_notes);
    REQUIRE(f->complete, "%s: not all slices can be decoded", name);
    CHECK(f->header.width == params->width && f->header.height == params->height, "%s: %dx%d", name, f->header.width,
          f->header.height);
    CHECK(f->header.interlace_mode == (int)t->pic.interlace && f->header.alpha_type == params->alpha_bits / 8,
          "%s: interlace mode %d, alpha type %d", name, f->header.interlace_mode, f->header.alpha_type);

    const int quantizer = params->quantizer ? params->quantizer : 4;
    for (int i = 0; i < f->n_pictures; i++) {
        for (int c = 0; c < 3; c++) {
            double half_step[64];
            for (int k = 0; k < 64; k++)
                half_step[k] = (c ? f->header.chroma : f->header.luma)[k] * pnv_qscale(quantizer) / 2.0;
            const double excess = worst_excess(reader, t, i, c, half_step);
            CHECK(excess <= 2, "%s picture %d component %d: a coefficient of the error is %f over half a step", name, i,
                  c, excess);
        }
    }
    if (params->alpha_bits)
        judge_alpha(reader, name, t);
}

double plane_psnr(const PnvReader *reader, const TestPicture *t, int plane)
{
    const double peak = (1 << t->depth) - 1;
    double sum = 0;

    for (int y = 0; y < t->height; y++) {
        const double *row = pnv_reader_row(reader, plane, y);
        for (int x = 0; x < t->width[plane]; x++) {
            const double e = pnv_reader_round(row[x], t->depth) - test_picture_get(t, plane, x, y);
            sum += e * e;
        }
    }
    return 10 * log10(peak * peak * t->height * t->width[plane] / fmax(sum, 1e-9));
}

int have_ffmpeg(void)
{
    return system("ffmpeg -version >/dev/null 2>&1") == 0;
}

uint8_t *command_output(const char *command, size_t *size)
{
    FILE *pipe = popen(command, "r");
    size_t capacity = 1 << 20, n;
    uint8_t *data = malloc(capacity);

    REQUIRE(pipe && data, "%s", command);
    *size = 0;
    while ((n = fread(data + *size, 1, capacity - *size, pipe)) > 0) {
        *size += n;
        if (*size == capacity) {
            capacity *= 2;
            data = realloc(data, capacity);
            REQUIRE(data, "memory");
        }
    }
    REQUIRE(pclose(pipe) == 0, "%s failed", command);
    return data;
}

/* ffmpeg keeps its output out of the codes that SDI reserves. */
static int ffmpeg_sample(double sample, int depth)
{
    return clamp(pnv_reader_round(sample, depth), 4, (1 << depth) - 5);
}

static void compare_decodes(const char *name, PnvReader *reader, const uint8_t *raw, int depth)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);

    for (int c = 0; c < 3 + (f->header.alpha_type > 0); c++) {
        int worst = 0;
        for (int y = 0; y < f->plane[c].height; y++) {
            const double *row = c < 3 ? pnv_reader_row(reader, c, y) : NULL;
            const uint16_t *alpha = c < 3 ? NULL : pnv_reader_alpha_row(reader, y);
            for (int x = 0; x < f->plane[c].width; x++, raw += 2) {
                /* ffmpeg widens alpha of 8 bits by repeating bits, and cuts that of 16 */
                const int want = row                          ? ffmpeg_sample(row[x], depth)
                                 : f->header.alpha_type == 1 ? alpha[x] << 4 | alpha[x] >> 4
                                                               : alpha[x] >> 4;
                const int difference = abs((raw[0] | raw[1] << 8) - want);
                worst = difference > worst ? difference : worst;
            }
        }
        CHECK(worst <= (c < 3 ? 1 : 0), "%s component %d: ffmpeg differs by %d", name, c, worst);
    }
}

void judge_by_ffmpeg(const char *name, const PnvParams *params, const TestFrame *frames, int n_frames)
{
    enum { MAX_FRAMES = 16 };
    const PnvProfileInfo *profile = pnv_profile_info(params->profile);
    const int depth = profile->chroma == PNV_CHROMA_444 ? 12 : 10;
    const MovWriterInfo info = {.fourcc = profile->fourcc, .width = params->width, .height = params->height};
    const uint8_t *data[MAX_FRAMES];
    size_t sizes[MAX_FRAMES];
    char folder[] = "/tmp/proresnv-XXXXXX", path[64], command[256];

    REQUIRE(n_frames <= MAX_FRAMES && mkdtemp(folder), "folder");
    for (int i = 0; i < n_frames; i++) {
        data[i] = frames[i].data;
        sizes[i] = frames[i].size;
    }
    snprintf(path, sizeof path, "%s/frames.mov", folder);
    REQUIRE(mov_writer_write(path, &info, data, sizes, n_frames), "write %s", path);
    snprintf(command, sizeof command, "ffmpeg -nostdin -v warning -i %s -f rawvideo -pix_fmt %s - 2>%s/log", path,
             params->alpha_bits ? "yuva444p12le" : depth == 12 ? "yuv444p12le" : "yuv422p10le", folder);
    size_t size;
    uint8_t *raw = command_output(command, &size);
    PnvParams decoded = *params;
    decoded.depth = depth;
    const size_t frame_bytes = raw_frame_bytes(&decoded);
    REQUIRE(size == frame_bytes * (size_t)n_frames, "%s: ffmpeg gave %zu bytes for %d frames of %zu", name, size,
            n_frames, frame_bytes);
    /* a frame of a few bytes makes its own options look odd to the ffmpeg program: not a word on the stream */
    snprintf(command, sizeof command, "grep -v 'bitrate parameter is set too low' %s/log; rm -rf %s", folder, folder);
    size_t log_size;
    uint8_t *log = command_output(command, &log_size);
    CHECK(log_size == 0, "%s: ffmpeg says %.*s", name, (int)log_size, (char *)log);
    free(log);

    PnvReader *reader = pnv_reader_new();
    REQUIRE(reader, "memory");
    for (int i = 0; i < n_frames; i++) {
        const PnvReaderOptions options = {.flags = PNV_READER_PIXELS, .depth = depth};
        REQUIRE(pnv_reader_read(reader, data[i], sizes[i], &options) == PNV_READER_OK, "%s: frame %d", name, i);
        compare_decodes(name, reader, raw + (size_t)i * frame_bytes, depth);
    }
    pnv_reader_free(&reader);
    free(raw);
}
