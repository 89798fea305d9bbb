/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target.h"

#include <stddef.h>

/*
 * What the published rates of 422 HQ come to in bytes per frame, and Proxy in ten thousandths of that: the lists of
 * HD and of larger sizes were not made with the same ratio. The other ratios hold at all sizes.
 */
typedef struct TargetSize {
    uint16_t width, height;
    uint32_t hq_bytes;
    uint16_t proxy;
} TargetSize;

static const TargetSize sizes[] = {
    {720, 486, 262144, 2060},    {720, 576, 305000, 2060},    {960, 720, 393216, 2060},
    {1280, 720, 458752, 2060},   {1280, 1080, 786432, 2060},  {1440, 1080, 786432, 2060},
    {1920, 1080, 917504, 2060},  {2048, 1080, 1048576, 2060}, {2048, 1556, 1416000, 2060},
    {3840, 2160, 3686400, 2054}, {4096, 2160, 3932160, 2054}, {5120, 2700, 6144000, 2062},
    {6144, 3240, 8847360, 2062}, {8192, 4320, 15728640, 2062},
};
#define N_SIZES (sizeof sizes / sizeof *sizes)

static uint32_t n_macroblocks(int width, int height)
{
    return (uint32_t)((width + 15) / 16) * (uint32_t)((height + 15) / 16);
}

/* The listed size itself, or the one nearest in macroblocks; of two equally near ones, the first. */
static const TargetSize *nearest_size(int width, int height)
{
    const int64_t n = n_macroblocks(width, height);
    const TargetSize *best = NULL;
    int64_t best_distance = 0;

    for (size_t i = 0; i < N_SIZES; i++) {
        const int64_t d = n_macroblocks(sizes[i].width, sizes[i].height) - n, distance = d < 0 ? -d : d;
        if (sizes[i].width == width && sizes[i].height == height)
            return &sizes[i];
        if (!best || distance < best_distance) {
            best = &sizes[i];
            best_distance = distance;
        }
    }
    return best;
}

/* A profile's share of HQ in ten thousandths of a third: 2/3, 3/2 and 9/4 come out exact. */
static uint32_t share_of_hq(PnvProfile profile, const TargetSize *size)
{
    switch (profile) {
    case PNV_PROFILE_PROXY:
        return 3 * (uint32_t)size->proxy;
    case PNV_PROFILE_LT:
        return 13920;
    case PNV_PROFILE_STANDARD:
        return 20000;
    case PNV_PROFILE_HQ:
        return 30000;
    case PNV_PROFILE_4444:
        return 45000;
    case PNV_PROFILE_4444XQ:
        return 67500;
    default:
        return 0;
    }
}

uint64_t pnv_target_bytes(PnvProfile profile, int width, int height)
{
    const TargetSize *size = nearest_size(width, height);
    const uint64_t hq = (uint64_t)size->hq_bytes * share_of_hq(profile, size);

    return hq * n_macroblocks(width, height) / (30000 * (uint64_t)n_macroblocks(size->width, size->height));
}
