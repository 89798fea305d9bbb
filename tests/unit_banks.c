/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bank conflicts of kernels whose conflicts are known. */
#include "check.h"
#include "hostcuda_banks.h"
#include "unit_hostcuda.h"

static HostcudaBanks banks_of(int stride, int bytes)
{
    HostcudaBanks banks[2] = {{{0}, 0, 0, 0, 0}};
    unsigned *d_out = NULL;
    hostcuda_banks_clear();
    REQUIRE(cudaMalloc((void **)&d_out, 64 * 16) == cudaSuccess, "memory");
    CHECK(unit_stride(d_out, stride, bytes, NULL) == cudaSuccess, "launch");
    CHECK(cudaFree(d_out) == cudaSuccess, "free");
    CHECK(hostcuda_banks(banks, 2) == 1, "kernels");
    return banks[0];
}

int main(void)
{
    /* Two warps each write and read once: four accesses. */
    static const struct {
        int stride, bytes;
        unsigned passes, extra, worst;
    } cases[] = {
        {1, 4, 4, 0, 1},        {0, 4, 4, 0, 1},   {2, 4, 4, 4, 2},        {32, 4, 4, 4 * 31, 32},
        {33, 4, 4, 0, 1},       {8, 4, 4, 28, 8},  {1, 8, 2 * 4, 0, 1},    {2, 8, 2 * 4, 2 * 4, 2},
        {1, 16, 4 * 4, 0, 1},   {8, 16, 4 * 4, 4 * 4 * 7, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const HostcudaBanks b = banks_of(cases[i].stride, cases[i].bytes);
        CHECK(b.accesses == 4 && b.passes == cases[i].passes && b.extra == cases[i].extra && b.worst == cases[i].worst,
              "%s, stride %d of %d bytes: %llu accesses, %llu passes, %llu extra, worst %u", b.kernel, cases[i].stride,
              cases[i].bytes, b.accesses, b.passes, b.extra, b.worst);
    }
    CHECK_END();
}
