/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A video encoder of which nothing works. GStreamer's nvcodec plugin, which has cudaupload and cudadownload, registers
 * nothing where the driver has neither encoder nor decoder. */
#include <stdint.h>

enum { VERSION = 8 << 4 | 1, UNSUPPORTED = 1, N_FUNCTIONS = 40 };

typedef struct FunctionList {
    uint32_t version, reserved;
    int (*function[N_FUNCTIONS])(void);
} FunctionList;

int NvEncodeAPIGetMaxSupportedVersion(uint32_t *version);
int NvEncodeAPICreateInstance(FunctionList *list);

static int unsupported(void)
{
    return UNSUPPORTED;
}

int NvEncodeAPIGetMaxSupportedVersion(uint32_t *version)
{
    *version = VERSION;
    return 0;
}

int NvEncodeAPICreateInstance(FunctionList *list)
{
    for (int i = 0; i < N_FUNCTIONS; i++)
        list->function[i] = unsupported;
    return 0;
}
