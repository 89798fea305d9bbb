/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all frames of a file come to. */
#ifndef PNV_INSPECT_SUMMARY_H
#define PNV_INSPECT_SUMMARY_H

#include "frames.h"
#include "pnv.h"

/** How findings count. */
typedef struct PnvVerdictRules {
    bool allowed[PNV_N_FINDING_CODES]; /**< These count for nothing. */
    bool notes_count;                  /**< Notes count as violations do. */
} PnvVerdictRules;

typedef struct PnvSummary {
    uint64_t n_frames, n_errors; /**< Frames; those that could not be read or compared for want of bytes or memory. */
    uint64_t n_valid;            /**< Frames with a header that makes sense: what follows is of them. */

    PnvReaderHeader header; /**< The first valid one. */
    bool varies;            /**< A later frame differs in more than its size. */
    uint32_t varies_at;     /**< The first one that does. */
    int log2_slice_mb, slices_per_row, height_mb, n_pictures; /**< Of the first valid frame. */

    uint64_t n_alpha, n_opaque; /**< Frames with alpha, and with nothing but the largest value in it. */
    uint64_t quantizers[256], n_slices;
    uint64_t min_bytes, max_bytes, bytes; /**< Of samples, all frames. */
    uint64_t header_bytes, unit_bytes[4], stuffing_bytes;

    uint64_t n_found[PNV_N_FINDING_CODES];

    uint64_t n_compared;
    double mse[3], ssim[3], min_ssim[3], max_mse[3]; /**< Sums over the frames compared; worst frames. */
    uint64_t alpha_differences;
    int alpha_largest;
} PnvSummary;

void pnv_summary_add(PnvSummary *s, const PnvFrameResult *r);

/** Findings that make the file fail under the rules. */
uint64_t pnv_summary_n_violations(const PnvSummary *s, const PnvVerdictRules *rules);

/** Findings that are neither allowed nor counted as violations. */
uint64_t pnv_summary_n_notes(const PnvSummary *s, const PnvVerdictRules *rules);

/** Frames per second, from the container or else from the frame header; 0 if neither says. */
double pnv_summary_frame_rate(const PnvSummary *s, const PnvMov *mov);

/** Seconds of the frames that were read; 0 if the frame rate is not known. */
double pnv_summary_duration(const PnvSummary *s, const PnvMov *mov);

/**
 * The profile by the container, or else the one whose matrices and sampling these are.
 *
 * @param[out] guessed set in the second case.
 * @return PNV_PROFILE_AUTO if there is none.
 */
PnvProfile pnv_summary_profile(const PnvSummary *s, const PnvMov *mov, bool *guessed);

/** Mean bytes of a frame without its alpha, which Apple's targets do not count. */
double pnv_summary_mean_without_alpha(const PnvSummary *s);

#endif
