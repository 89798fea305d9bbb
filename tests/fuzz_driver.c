/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A main() for the fuzz target without libFuzzer.
 *
 *   fuzz_inspect                 20,000 mutated files, the same ones every time
 *   fuzz_inspect N [SEED]        N mutated files
 *   fuzz_inspect --seeds DIR     write the files that are mutated, as a first corpus for libFuzzer
 *   fuzz_inspect FILE...         replay these files
 */
#include <errno.h>

#include "check.h"
#include "inspect_frames.h"
#include "mov_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_MUTATIONS 20000
#define MAX_SEEDS 16

typedef struct File {
    uint8_t *data;
    size_t size;
} File;

static const struct { const uint8_t *data; size_t size; const char *fourcc; int width, height; } frames[] = {
    {frame_grey, sizeof frame_grey, "apch", 16, 16},
    {frame_levels, sizeof frame_levels, "apch", 16, 16},
    {frame_alpha, sizeof frame_alpha, "ap4h", 16, 16},
    {frame_fields, sizeof frame_fields, "apcn", 16, 32},
};
enum { N_FRAMES = sizeof frames / sizeof *frames };

/* Every frame alone, in a plain file with all boxes, and in a fragmented one. */
static int make_seeds(File *seeds)
{
    static const int colr[3] = {1, 1, 1};
    int n = 0;

    for (int i = 0; i < N_FRAMES; i++) {
        const uint8_t *two[2] = {frames[i].data, frames[i].data};
        const size_t sizes[2] = {frames[i].size, frames[i].size};
        MovWriterInfo info = {.fourcc = frames[i].fourcc, .width = frames[i].width, .height = frames[i].height,
                              .colr = colr, .fiel_count = 2, .fiel_detail = 9};

        seeds[n].size = 2 * sizes[0];
        seeds[n].data = malloc(seeds[n].size);
        REQUIRE(seeds[n].data, "no memory");
        memcpy(seeds[n].data, two[0], sizes[0]);
        memcpy(seeds[n].data + sizes[0], two[1], sizes[1]);
        n++;
        for (int fragmented = 0; fragmented < 2; fragmented++, n++) {
            info.fragmented = fragmented;
            seeds[n].data = mov_writer_build(&info, two, sizes, 2, &seeds[n].size);
            REQUIRE(seeds[n].data, "no memory");
        }
    }
    return n;
}

/* Marsaglia's 64-bit xorshift: the same numbers on every machine. */
static uint32_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

/* One change of a kind that breaks parsers: single bits, extreme bytes and words, moved and missing bytes. */
static size_t mutate_once(uint8_t *data, size_t size, uint64_t *state)
{
    static const uint32_t words[] = {0, 1, 2, 8, 0x7f, 0xff, 0x100, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    const size_t at = next(state) % size, other = next(state) % size;
    const size_t shorter = at < other ? other - at : at - other, n = shorter < size - at ? shorter : size - at;
    const uint32_t word = words[next(state) % (sizeof words / sizeof *words)];

    switch (next(state) % 8) {
    case 0:
    case 1:
        data[at] ^= (uint8_t)(1U << next(state) % 8);
        break;
    case 2:
        data[at] = (uint8_t)next(state);
        break;
    case 3:
        data[at] = (uint8_t)(data[at] + (next(state) & 1 ? 1 : -1));
        break;
    case 4: /* a whole word, big-endian */
        for (size_t i = 0; i < 4 && at + i < size; i++)
            data[at + i] = (uint8_t)(word >> (24 - 8 * i));
        break;
    case 5:
        for (size_t i = 0; i < 2 && at + i < size; i++)
            data[at + i] = (uint8_t)(word >> (8 - 8 * i));
        break;
    case 6: /* bytes from elsewhere */
        memmove(data + at, data + other, n < size - other ? n : size - other);
        break;
    default: /* cut */
        return next(state) % 4 ? size : at + 1;
    }
    return size;
}

static void run_mutated(const File *seed, uint64_t *state)
{
    size_t size = seed->size;
    uint8_t *data = malloc(size);

    REQUIRE(data, "no memory");
    memcpy(data, seed->data, size);
    for (uint32_t n = 1 + next(state) % 6; n > 0; n--)
        size = mutate_once(data, size, state);
    uint8_t *exact = malloc(size); /* so that tools see the first byte behind the file */
    REQUIRE(exact, "no memory");
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(data);
}

static int run_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;

    if (in && fseek(in, 0, SEEK_END) == 0)
        size = ftell(in);
    if (size >= 0)
        data = malloc(size ? (size_t)size : 1);
    const int ok = data && fseek(in, 0, SEEK_SET) == 0 && fread(data, 1, (size_t)size, in) == (size_t)size;
    if (ok)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    else
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (in)
        fclose(in);
    free(data);
    return !ok;
}

static int write_seeds(const File *seeds, int n, const char *folder)
{
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/seed-%02d", folder, i);
        FILE *out = fopen(path, "wb");
        if (!out || fwrite(seeds[i].data, 1, seeds[i].size, out) != seeds[i].size || fclose(out) != 0) {
            fprintf(stderr, "%s: %s\n", path, strerror(errno));
            return 1;
        }
    }
    return 0;
}

static void run_mutations(const File *seeds, int n_seeds, unsigned long n, uint64_t state)
{
    for (int i = 0; i < n_seeds; i++)
        LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].size);
    for (unsigned long i = 0; i < n; i++)
        run_mutated(&seeds[i % (unsigned long)n_seeds], &state);
}

int main(int argc, char **argv)
{
    File seeds[MAX_SEEDS];
    const int n_seeds = make_seeds(seeds);
    char *end = NULL;
    const unsigned long n = argc > 1 ? strtoul(argv[1], &end, 10) : N_MUTATIONS;
    int status = 0;

    if (argc == 3 && !strcmp(argv[1], "--seeds")) {
        status = write_seeds(seeds, n_seeds, argv[2]);
    } else if (argc > 1 && *end) {
        for (int i = 1; i < argc; i++)
            status |= run_file(argv[i]);
    } else {
        run_mutations(seeds, n_seeds, n, argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_C(0x9e3779b97f4a7c15));
        printf("%lu mutated files\n", n);
    }
    for (int i = 0; i < n_seeds; i++)
        free(seeds[i].data);
    return status || check_failures;
}
