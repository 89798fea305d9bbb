/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile.h"

#include "tables.h"

static const PnvProfileInfo profiles[] = {
    [PNV_PROFILE_PROXY] = {"proxy", "apco", "Apple ProRes 422 Proxy", PNV_CHROMA_422, pnv_matrix_proxy_luma,
                           pnv_matrix_proxy_chroma},
    [PNV_PROFILE_LT] = {"lt", "apcs", "Apple ProRes 422 LT", PNV_CHROMA_422, pnv_matrix_lt, pnv_matrix_lt},
    [PNV_PROFILE_STANDARD] = {"standard", "apcn", "Apple ProRes 422", PNV_CHROMA_422, pnv_matrix_standard,
                              pnv_matrix_standard},
    [PNV_PROFILE_HQ] = {"hq", "apch", "Apple ProRes 422 HQ", PNV_CHROMA_422, pnv_matrix_hq, pnv_matrix_hq},
    [PNV_PROFILE_4444] = {"4444", "ap4h", "Apple ProRes 4444", PNV_CHROMA_444, pnv_matrix_hq, pnv_matrix_hq},
    [PNV_PROFILE_4444XQ] = {"4444xq", "ap4x", "Apple ProRes 4444 XQ", PNV_CHROMA_444, pnv_matrix_xq_luma,
                            pnv_matrix_hq},
};

const PnvProfileInfo *pnv_profile_info(PnvProfile profile)
{
    const unsigned i = (unsigned)profile;
    return i > PNV_PROFILE_AUTO && i < sizeof profiles / sizeof *profiles ? &profiles[i] : NULL;
}

const char *pnv_profile_name(PnvProfile profile)
{
    const PnvProfileInfo *info = pnv_profile_info(profile);
    return info ? info->name : "auto";
}
