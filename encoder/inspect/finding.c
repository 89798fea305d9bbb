/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "finding.h"

#include <string.h>

static const struct {
    const char *name;
    char kind;
    const char *summary;
} findings[PNV_N_FINDING_CODES] = {
#define FINDING_ROW(id, name, kind, text) [PNV_FINDING_##id] = {name, #kind[0], text},
    PNV_FINDINGS(FINDING_ROW)
#undef FINDING_ROW
};

static bool is_code(PnvFindingCode code)
{
    return (unsigned)code > PNV_FINDING_NONE && (unsigned)code < PNV_N_FINDING_CODES;
}

const char *pnv_finding_name(PnvFindingCode code)
{
    return is_code(code) ? findings[code].name : NULL;
}

const char *pnv_finding_summary(PnvFindingCode code)
{
    return is_code(code) ? findings[code].summary : NULL;
}

bool pnv_finding_is_violation(PnvFindingCode code)
{
    return is_code(code) && findings[code].kind == 'V';
}

PnvFindingCode pnv_finding_by_name(const char *name)
{
    for (int i = PNV_FINDING_NONE + 1; i < PNV_N_FINDING_CODES; i++)
        if (!strcmp(findings[i].name, name))
            return (PnvFindingCode)i;
    return PNV_FINDING_NONE;
}
