/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A main() for a fuzz target without libFuzzer: N inputs of random bytes (default 3000, 500 where PNV_TEST_SMALL says
 * that time is dear, 30000 with PNV_TEST_FULL), the same ones every time, or the files that are named. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static int run_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *in = fopen(path, "rb");

    if (!in) {
        perror(path);
        return 1;
    }
    const size_t size = fread(data, 1, sizeof data, in);
    fclose(in);
    LLVMFuzzerTestOneInput(data, size);
    return 0;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    const unsigned long usual = getenv("PNV_TEST_SMALL") ? 500 : getenv("PNV_TEST_FULL") ? 30000 : 3000;
    const unsigned long n = argc > 1 ? strtoul(argv[1], &end, 10) : usual;

    if (argc > 1 && *end) {
        int status = 0;
        for (int i = 1; i < argc; i++)
            status |= run_file(argv[i]);
        return status;
    }
    for (unsigned long i = 0; i < n; i++) {
        const size_t size = 24 + next() % 300;
        uint8_t *data = malloc(size); /* exactly as long as it is, for AddressSanitizer */
        if (!data)
            return 1;
        for (size_t k = 0; k < size; k++)
            data[k] = (uint8_t)next();
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    printf("%lu random inputs\n", n);
    return 0;
}
