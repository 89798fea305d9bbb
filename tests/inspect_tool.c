/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proresnv-inspect from outside: exit statuses, options and what it prints. Argument: the program. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "inspect_frames.h"
#include "mov_writer.h"

static char folder[64] = "/tmp/inspect-tool-XXXXXX";
static const char *program;

/* Writes a file into the folder. */
static void write_file(const char *name, const void *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    REQUIRE(out && fwrite(data, 1, size, out) == size && fclose(out) == 0, "%s cannot be written", path);
}

/*
 * Runs the program in the folder. Returns its status, and what it printed, to be freed: on both streams, if the
 * arguments do not say otherwise.
 */
static int run(char **text, const char *arguments)
{
    char command[512], *all = NULL;
    size_t size = 0, n;

    snprintf(command, sizeof command, "cd %s && '%s' %s %s", folder, program, arguments,
             strstr(arguments, "2>") ? "" : "2>&1");
    FILE *in = popen(command, "r");
    REQUIRE(in, "%s cannot be run", program);
    do {
        all = realloc(all, size + 4097);
        REQUIRE(all, "no memory");
        n = fread(all + size, 1, 4096, in);
        size += n;
    } while (n > 0);
    all[size] = 0;
    const int status = pclose(in);
    *text = all;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs it and checks the status and that the text has all of up to three pieces. */
static void check(const char *arguments, int status, const char *a, const char *b, const char *c)
{
    char *text;
    const int got = run(&text, arguments);

    CHECK(got == status, "%s: status %d, not %d: %.400s", arguments, got, status, text);
    CHECK((!a || strstr(text, a)) && (!b || strstr(text, b)) && (!c || strstr(text, c)), "%s: '%s', '%s' or '%s' is "
          "missing: %.2000s", arguments, a ? a : "", b ? b : "", c ? c : "", text);
    free(text);
}

static void make_files(void)
{
    static const int colr[3] = {2, 2, 2};
    const uint8_t *grey[3] = {frame_grey, frame_grey, frame_grey}, *alpha[1] = {frame_alpha};
    const size_t grey_sizes[3] = {sizeof frame_grey, sizeof frame_grey, sizeof frame_grey};
    const size_t alpha_sizes[1] = {sizeof frame_alpha};
    uint8_t bad[3 * sizeof frame_grey], raw[2 * 512];
    char path[128];

    MovWriterInfo info = {.fourcc = "apch", .width = 16, .height = 16, .colr = colr, .fiel_count = 1};
    snprintf(path, sizeof path, "%s/good.mov", folder);
    REQUIRE(mov_writer_write(path, &info, grey, grey_sizes, 3), "%s", path);
    info.fragmented = true;
    snprintf(path, sizeof path, "%s/fragments.mov", folder);
    REQUIRE(mov_writer_write(path, &info, grey, grey_sizes, 3), "%s", path);
    const MovWriterInfo alpha_info = {.fourcc = "ap4h", .width = 16, .height = 16, .depth = 32};
    snprintf(path, sizeof path, "%s/alpha.mov", folder);
    REQUIRE(mov_writer_write(path, &alpha_info, alpha, alpha_sizes, 1), "%s", path);
    for (size_t i = 0; i < 3; i++)
        memcpy(bad + i * sizeof frame_grey, frame_grey, sizeof frame_grey);
    write_file("good.icpf", bad, sizeof bad);
    write_file("cut.icpf", bad, sizeof bad - 5);
    bad[10] = 1;                           /* reserved byte of the first frame */
    bad[sizeof frame_grey + 39] = 0;       /* quantizer of the second */
    write_file("bad.icpf", bad, sizeof bad);
    write_file("no.mov", "this is no video file at all", 28);
    write_file("empty.mov", "", 0);
    for (size_t i = 0; i < 512; i++)
        raw[2 * i] = 1, raw[2 * i + 1] = 2; /* 513 */
    write_file("one.raw", raw, sizeof raw);
}

static void test_status(void)
{
    check("good.mov", 0, "Apple ProRes 422 HQ (apch)", "16x16", "conforms: 0 violations, 0 notes");
    check("good.mov", 0, "3 at 25 fps, 0.120 s", "luma flat 4 (default), chroma flat 4 (as luma)", "test");
    check("fragments.mov", 0, "fragments", "3 at 25 fps", "conforms");
    check("good.icpf", 0, "bare frames", "frames      3", "conforms");
    check("bad.icpf", 1, "frame 0, byte 10 (10 of the file): violation", "[reserved-bits]",
          "frame 1, picture 0, slice 0, byte 39 (89 of the file): violation: quantization_index 0");
    check("cut.icpf", 1, "[truncated]", "[frame-size]", "frame 2");
    check("no.mov", 2, "neither a QuickTime or MP4 file", NULL, NULL);
    check("empty.mov", 2, "0 bytes", NULL, NULL);
    check("missing.mov", 2, "missing.mov", "No such file", NULL);
    check(".", 2, "not a regular file", NULL, NULL);
    check("good.mov no.mov bad.icpf", 2, "good.mov\n", "bad.icpf\n", "no.mov");
    check("good.mov bad.icpf", 1, NULL, NULL, NULL);
}

static void test_rules(void)
{
    check("--allow reserved-bits,quantization-index bad.icpf", 0, "(allowed)", NULL, NULL);
    check("--allow reserved-bits bad.icpf", 1, "quantization-index", NULL, NULL);
    check("--allow reserved-bits --allow quantization-index --quiet bad.icpf", 0, NULL, NULL, NULL);
    check("--allow nonsense bad.icpf", 2, "nonsense", "--list-codes", NULL);
    check("alpha.mov", 0, "16 bits, all opaque", "note: depth 32", "conforms: 0 violations, 1 note");
    check("--werror alpha.mov", 1, "violation: depth 32", "1 violation,", NULL);
    check("--werror --allow container-depth alpha.mov", 0, NULL, NULL, NULL);
    check("--frame 2 bad.icpf", 0, "conforms", NULL, NULL);
    check("--frame 3 bad.icpf", 2, "0 to 2", NULL, NULL);
    check("--list-codes", 0, "alpha-last-run", "padding-bytes", "Notes");
    check("--help", 0, "Usage: proresnv-inspect", "Exit status", NULL);
    check("--version", 0, "proresnv-inspect 0.", NULL, NULL);
    check("", 2, "no FILE", NULL, NULL);
    check("--nonsense good.mov", 2, "--help", NULL, NULL);
    check("--threads 0 good.mov", 2, "1 to 256", NULL, NULL);
    check("--threads 1 good.mov", 0, "conforms", NULL, NULL);
}

static void test_reports(void)
{
    check("--dump --frame 1 good.mov", 0, "frame 1 at ", "quantization_index 1, Y 2 (12 bits)", "stuffing 0 bytes");
    check("--frames good.mov", 0, "frame 0: 50 bytes", "frame 2: 50 bytes", NULL);
    check("--psnr one.raw --format yuv422p10le --frame 0 --frames good.mov", 0, "Y 60.198 dB", "Cr 60.198 dB",
          "SSIM 0.9999");
    check("--psnr one.raw --format yuv422p10le good.mov", 2, "frame 1: the raw file ends before its frame", NULL, NULL);
    check("--psnr one.raw --format yuv444p10le good.mov", 2, "chroma sampling", NULL, NULL);
    check("--psnr one.raw good.mov", 2, "--format", NULL, NULL);
    check("--psnr one.raw --format rgb24 good.mov", 2, "rgb24", NULL, NULL);
}

/* ---- JSON: just enough of a parser to tell whether it is well formed ---- */

static const char *skip_value(const char *p);

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \n");
}

static const char *skip_string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    for (; *p && *p != '"'; p++)
        if (*p == '\\' && !*++p)
            return NULL;
    return *p ? p + 1 : NULL;
}

/* Objects and arrays. */
static const char *skip_list(const char *p, bool object)
{
    const char end = object ? '}' : ']';

    p = skip_space(p + 1);
    if (*p == end)
        return p + 1;
    for (;;) {
        if (object) {
            p = skip_string(p);
            if (!p || *p != ':')
                return NULL;
            p = skip_space(p + 1);
        }
        p = skip_value(p);
        if (!p)
            return NULL;
        p = skip_space(p);
        if (*p == end)
            return p + 1;
        if (*p != ',')
            return NULL;
        p = skip_space(p + 1);
    }
}

static const char *skip_value(const char *p)
{
    static const char *const words[] = {"true", "false", "null"};
    char *end;

    if (*p == '{' || *p == '[')
        return skip_list(p, *p == '{');
    if (*p == '"')
        return skip_string(p);
    for (int i = 0; i < 3; i++)
        if (!strncmp(p, words[i], strlen(words[i])))
            return p + strlen(words[i]);
    strtod(p, &end);
    return end > p && (*p == '-' || (*p >= '0' && *p <= '9')) ? end : NULL;
}

static void check_json(const char *arguments, int status, const char *a, const char *b)
{
    char *text;
    const int got = run(&text, arguments);
    const char *end = skip_value(text);

    CHECK(got == status, "%s: status %d, not %d", arguments, got, status);
    CHECK(end && !*skip_space(end), "%s: no JSON: %.2000s", arguments, text);
    CHECK(strstr(text, a) && strstr(text, b), "%s: '%s' or '%s' is missing: %.3000s", arguments, a, b, text);
    free(text);
}

static void test_json(void)
{
    check_json("--json good.mov", 0, "\"profile\": \"hq\", \"profile_from\": \"container\"",
               "\"quantizers\": {\"1\": 3}");
    check_json("--json good.mov bad.icpf fragments.mov", 1,
               "\"counts\": {\"reserved-bits\": 1, \"quantization-index\": 1}",
               "\"code\": \"quantization-index\", \"violation\": true, \"frame\": 1, \"byte\": 39, \"file_byte\": 89");
    check_json("--json --frames --psnr one.raw --format yuv422p10le --frame 0 good.mov", 0,
               "\"frame_list\": [{\"frame\": 0", "\"psnr\": [60.19");
    check_json("--json no.mov 2>/dev/null", 2, "\"error\": \"no.mov: neither", "\"status\": 2");
    check_json("--json --all cut.icpf", 1, "\"truncated\": 1", "\"container\": null");
}

/* Only whether there is a PNG: what it shows is for eyes. */
static void test_map(void)
{
    static const char signature[8] = "\x89PNG\r\n\x1a\n";
    char path[128], start[8] = "", *text;

    const int status = run(&text, "--map map.png --frame 1 good.mov");
    if (status == 2 && strstr(text, "libpng")) {
        printf("this build has no libpng: maps are not tested\n");
        free(text);
        return;
    }
    CHECK(status == 0, "status %d: %s", status, text);
    free(text);
    snprintf(path, sizeof path, "%s/map.png", folder);
    FILE *in = fopen(path, "rb");
    REQUIRE(in && fread(start, 1, 8, in) == 8, "%s cannot be read", path);
    fclose(in);
    CHECK_MEM_EQ(start, signature, 8, "no PNG");
    check("--map /no/such/folder/map.png good.mov", 2, "/no/such/folder/map.png", NULL, NULL);
}

int main(int argc, char **argv)
{
    char command[128];

    REQUIRE(argc == 2, "usage: %s PROGRAM", argv[0]);
    program = realpath(argv[1], NULL);
    REQUIRE(program, "%s is not there", argv[1]);
    REQUIRE(mkdtemp(folder), "no folder %s", folder);
    make_files();
    test_status();
    test_rules();
    test_reports();
    test_json();
    test_map();
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0, "%s was not removed", folder);
    CHECK_END();
}
