/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader against ffmpeg: files of both its encoders, of all profiles, decode to the samples that ffmpeg shows, and
 * have the violations these encoders are known for and no others. Exits 77 where there is no ffmpeg.
 */
#include <stdarg.h>
#include <unistd.h>

#include "check.h"
#include "container.h"
#include "mov.h"
#include "reader.h"

/* ffmpeg's fixed-point decoder is within 1 of exact arithmetic, and clips to 4..2^b - 5. */
#define TOLERANCE 1

/*
 * What the encoders of ffmpeg 5.1 do: prores_ks sets a reserved bit beside the alpha type, prores_aw some there and
 * beside the interlace mode; both write version 0 with 4:4:4, let short alpha differences wrap, and leave out the last
 * alpha run when it is 1. Later versions have mended some of that: there these are the most that may be found.
 */
#define CODE(id) (UINT64_C(1) << PNV_FINDING_##id)
#define OF_422 CODE(RESERVED_BITS)
#define OF_444 (OF_422 | CODE(VERSION_RULE))
#define OF_ALPHA (OF_444 | CODE(ALPHA_WRAP) | CODE(ALPHA_LAST_RUN))

typedef struct Config {
    const char *encoder, *options, *filter;
    int profile;
    const char *format; /* given to the encoder */
    uint64_t violations;
} Config;

#define NOISE "noise=alls=30:allf=t"
/* Alpha that jumps between its ends, which is where short differences wrap, and elsewhere has all values. */
#define ALPHA \
    "geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='if(lt(mod(X,6),3),1023*mod(X,2),mod(X*97+Y*31+N*7,1024))'"
#define FIELDS "-flags +ildct+ilme"

static const Config configs[] = {
    {"prores_ks", "", NOISE, 0, "yuv422p10le", OF_422},
    {"prores_ks", "", NOISE, 1, "yuv422p10le", OF_422},
    {"prores_ks", "", NOISE, 2, "yuv422p10le", OF_422},
    {"prores_ks", "", NOISE, 3, "yuv422p10le", OF_422},
    {"prores_ks", "-mbs_per_slice 2", NOISE, 3, "yuv422p10le", OF_422},
    {"prores_ks", "-qscale 60", "null", 3, "yuv422p10le", OF_422},
    {"prores_ks", FIELDS, NOISE ",setfield=tff", 2, "yuv422p10le", OF_422},
    {"prores_ks", FIELDS, NOISE ",setfield=bff", 3, "yuv422p10le", OF_422},
    {"prores_ks", "", NOISE, 4, "yuv444p10le", OF_444},
    {"prores_ks", "", NOISE, 5, "yuv444p10le", OF_444},
    {"prores_ks", FIELDS, NOISE ",setfield=tff", 4, "yuv444p10le", OF_444},
    {"prores_ks", "", ALPHA, 4, "yuva444p10le", OF_ALPHA},
    {"prores_ks", "-alpha_bits 8", ALPHA, 5, "yuva444p10le", OF_ALPHA},
    {"prores_ks", FIELDS, ALPHA ",setfield=tff", 4, "yuva444p10le", OF_ALPHA},
    {"prores_aw", "", NOISE, 0, "yuv422p10le", OF_422},
    {"prores_aw", "", NOISE, 1, "yuv422p10le", OF_422},
    {"prores_aw", "", NOISE, 2, "yuv422p10le", OF_422},
    {"prores_aw", "", NOISE, 3, "yuv422p10le", OF_422},
    {"prores_aw", FIELDS, NOISE ",setfield=tff", 3, "yuv422p10le", OF_422},
    {"prores_aw", "", NOISE, 4, "yuv444p10le", OF_444},
    {"prores_aw", "", NOISE, 5, "yuv444p10le", OF_444},
    {"prores_aw", "", ALPHA, 4, "yuva444p10le", OF_ALPHA},
};

static char folder[64] = "/tmp/inspect-ffmpeg-XXXXXX";

__attribute__((format(printf, 1, 2))) static int run(const char *format, ...)
{
    char command[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

static uint8_t *load(const char *name, size_t *size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    REQUIRE(in, "%s cannot be opened", path);
    fseek(in, 0, SEEK_END);
    *size = (size_t)ftell(in);
    rewind(in);
    uint8_t *data = malloc(*size + 1);
    REQUIRE(data && fread(data, 1, *size, in) == *size, "%s cannot be read", path);
    fclose(in);
    return data;
}

static void collect(void *opaque, const PnvFinding *f)
{
    if (pnv_finding_is_violation(f->code))
        *(uint64_t *)opaque |= UINT64_C(1) << f->code;
}

/* What ffmpeg makes of one sample of ours. */
static int as_ffmpeg(const PnvReader *reader, int plane, int x, int y)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);

    if (plane == 3) { /* by shifts, to 12 bits */
        const int a = pnv_reader_alpha_row(reader, y)[x];
        return f->header.alpha_type == 1 ? a << 4 | a >> 4 : a >> 4;
    }
    const int v = pnv_reader_round(pnv_reader_row(reader, plane, y)[x], f->depth), high = (1 << f->depth) - 5;
    return v < 4 ? 4 : v > high ? high : v;
}

/* Returns the 16-bit samples that were used. */
static size_t compare_frame(const Config *c, const PnvReader *reader, const uint8_t *raw, size_t size, unsigned frame)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    size_t used = 0;

    for (int plane = 0; plane < 4; plane++)
        for (int y = 0; y < f->plane[plane].height; y++)
            for (int x = 0; x < f->plane[plane].width; x++, used += 2) {
                REQUIRE(used + 2 <= size, "%s %d: ffmpeg's output is too short", c->encoder, c->profile);
                const int want = raw[used] | raw[used + 1] << 8, got = as_ffmpeg(reader, plane, x, y);
                CHECK(abs(got - want) <= (plane == 3 ? 0 : TOLERANCE),
                      "%s %d %s: frame %u plane %d %d,%d: %d, ffmpeg %d", c->encoder, c->profile, c->options, frame,
                      plane, x, y, got, want);
            }
    return used;
}

static void compare_file(const Config *c, PnvReader *reader, bool exact)
{
    size_t size, raw_size, used = 0;
    uint8_t *file = load("x.mov", &size), *raw = load("x.raw", &raw_size);
    const PnvSource source = pnv_source_memory(file, size);
    char error[PNV_MOV_ERROR_BYTES];
    uint64_t codes = 0;
    PnvMov mov;

    REQUIRE(pnv_mov_open(&mov, &source, error), "%s %d: %s", c->encoder, c->profile, error);
    CHECK(mov.n_samples == 2, "%u samples", mov.n_samples);
    for (unsigned i = 0; i < mov.n_samples; i++) {
        const PnvReaderOptions options = {.flags = PNV_READER_PIXELS, .report = collect, .opaque = &codes};
        pnv_reader_read(reader, file + mov.samples[i].offset, mov.samples[i].size, &options);
        const PnvReaderFrame *f = pnv_reader_frame(reader);
        CHECK(f->complete, "%s %d %s: frame %u is not complete", c->encoder, c->profile, c->options, i);
        pnv_container_check(&mov, f, collect, &codes);
        if (f->complete)
            used += compare_frame(c, reader, raw + used, raw_size - used, i);
    }
    CHECK(used == raw_size, "%s %d: %zu of %zu bytes compared", c->encoder, c->profile, used, raw_size);
    for (int code = 1; code < PNV_N_FINDING_CODES; code++) {
        const bool found = codes >> code & 1, known = c->violations >> code & 1;
        CHECK(found == known || (!exact && !found), "%s profile %d %s %s: %s %s", c->encoder, c->profile, c->format,
              c->options, pnv_finding_name((PnvFindingCode)code), found ? "was found" : "was not found");
    }
    pnv_mov_close(&mov);
    free(file);
    free(raw);
}

static void test_config(const Config *c, PnvReader *reader, bool exact)
{
    const char *decoded = !strncmp(c->format, "yuva", 4) ? "yuva444p12le"
                          : !strcmp(c->format, "yuv444p10le") ? "yuv444p12le" : "yuv422p10le";

    const int made = run("ffmpeg -v error -y -f lavfi -i testsrc2=s=174x90:r=25 -vf \"format=%s,%s\" -frames:v 2 "
                         "-c:v %s -profile:v %d %s -threads 1 %s/x.mov", c->format, c->filter, c->encoder, c->profile,
                         c->options, folder);
    REQUIRE(made == 0, "%s profile %d %s: ffmpeg does not encode", c->encoder, c->profile, c->options);
    REQUIRE(run("ffmpeg -v error -y -i %s/x.mov -f rawvideo -pix_fmt %s %s/x.raw", folder, decoded, folder) == 0,
            "%s profile %d %s: ffmpeg does not decode", c->encoder, c->profile, c->options);
    compare_file(c, reader, exact);
}

int main(void)
{
    if (run("ffmpeg -v quiet -h encoder=prores_ks > /dev/null 2>&1") != 0) {
        printf("there is no ffmpeg with prores_ks here\n");
        return CHECK_SKIP;
    }
    const bool exact = run("ffmpeg -version | grep -q '^ffmpeg version 5\\.1'") == 0;
    PnvReader *reader = pnv_reader_new();
    REQUIRE(reader && mkdtemp(folder), "no memory, or no folder %s", folder);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        test_config(&configs[i], reader, exact);
    run("rm -r %s", folder);
    pnv_reader_free(&reader);
    CHECK_END();
}
