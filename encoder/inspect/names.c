/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names.h"

#include <stddef.h>
#include <string.h>

#include "tables.h"

typedef struct Name {
    int code;
    const char *name;
} Name;

static const char *find(const Name *names, size_t n, int code)
{
    for (size_t i = 0; i < n; i++)
        if (names[i].code == code)
            return names[i].name;
    return "reserved";
}
#define FIND(names, code) find(names, sizeof(names) / sizeof *(names), code)

const char *pnv_name_primaries(int code)
{
    static const Name names[] = {{0, "unspecified"}, {2, "unspecified"}, {1, "BT.709"},   {5, "BT.601 625"},
                                 {6, "BT.601 525"},  {9, "BT.2020"},     {11, "DCI-P3"}, {12, "P3-D65"}};
    return FIND(names, code);
}

const char *pnv_name_transfer(int code)
{
    static const Name names[] = {{0, "unspecified"}, {2, "unspecified"}, {1, "BT.709"}, {16, "PQ"}, {18, "HLG"}};
    return FIND(names, code);
}

const char *pnv_name_matrix(int code)
{
    static const Name names[] = {{0, "unspecified"}, {2, "unspecified"}, {1, "BT.709"}, {6, "BT.601"}, {9, "BT.2020"}};
    return FIND(names, code);
}

const char *pnv_name_interlace(int mode)
{
    static const Name names[] = {{0, "progressive"}, {1, "top field first"}, {2, "bottom field first"}};
    return FIND(names, mode);
}

const char *pnv_name_aspect(int code)
{
    static const Name names[] = {{0, "unknown"}, {1, "square pixels"}, {2, "4:3 image"}, {3, "16:9 image"}};
    return FIND(names, code);
}

const char *pnv_name_chroma(int format)
{
    static const Name names[] = {{2, "4:2:2"}, {3, "4:4:4"}};
    return FIND(names, format);
}

const char *pnv_name_encoder(const char *id)
{
    static const struct { char id[5]; const char *name; } known[] = {
        {"apl0", "Apple"}, {"arri", "ARRI"},           {"aja0", "AJA"}, {"fmpg", "FFmpeg prores_aw"},
        {"Lavc", "FFmpeg prores_ks"}, {"prnv", "proresnvenc"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!memcmp(known[i].id, id, 4))
            return known[i].name;
    return NULL;
}

const char *pnv_name_weights(const uint8_t weights[64])
{
    static const struct { const uint8_t *weights; const char *name; } known[] = {
        {pnv_matrix_proxy_luma, "Proxy luma"}, {pnv_matrix_proxy_chroma, "Proxy chroma"},
        {pnv_matrix_lt, "LT"},                 {pnv_matrix_standard, "422"},
        {pnv_matrix_hq, "422 HQ"},             {pnv_matrix_xq_luma, "XQ luma"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!memcmp(known[i].weights, weights, 64))
            return known[i].name;
    for (int i = 0; i < 64; i++)
        if (weights[i] != 4)
            return "other";
    return "flat 4";
}
