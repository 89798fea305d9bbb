/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <inttypes.h>
#include <math.h>

#include "names.h"
#include "profile.h"
#include "target.h"

void pnv_text_finding(FILE *out, const char *file, int64_t frame, uint64_t file_offset, const PnvFinding *f,
                      const PnvVerdictRules *rules)
{
    const bool violation = pnv_finding_is_violation(f->code) || rules->notes_count;

    fprintf(out, "%s: ", file);
    if (frame >= 0)
        fprintf(out, "frame %" PRId64 ", ", frame);
    if (f->picture >= 0)
        fprintf(out, "picture %d, ", f->picture);
    if (f->slice >= 0)
        fprintf(out, "slice %d, ", f->slice);
    if (frame >= 0)
        fprintf(out, "byte %" PRIu32 " (%" PRIu64 " of the file): ", f->offset, file_offset + f->offset);
    fprintf(out, "%s: %s [%s]\n", violation ? "violation" : "note", f->text, pnv_finding_name(f->code));
}

void pnv_text_codes(FILE *out)
{
    for (int kind = 1; kind >= 0; kind--) {
        fprintf(out, "%s:\n", kind ? "Violations (exit status 1)" : "Notes (no change of the exit status)");
        for (int i = 1; i < PNV_N_FINDING_CODES; i++)
            if (pnv_finding_is_violation((PnvFindingCode)i) == (kind == 1))
                fprintf(out, "  %-24s%s\n", pnv_finding_name((PnvFindingCode)i),
                        pnv_finding_summary((PnvFindingCode)i));
    }
}

/* ---- comparison ---- */

static void print_decibel(FILE *out, double mse, int depth)
{
    if (mse > 0)
        fprintf(out, "%.3f dB", pnv_psnr(mse, depth));
    else
        fprintf(out, "equal");
}

void pnv_text_frame(FILE *out, const PnvFrameResult *r, const PnvRawFormat *format)
{
    static const char *const names[3] = {"Y", "Cb", "Cr"};

    fprintf(out, "frame %u: %u bytes", r->index, r->size);
    for (int i = 0; format && r->comparison.valid && i < 3; i++) {
        fprintf(out, "  %s ", names[i]);
        print_decibel(out, r->comparison.mse[i], format->depth);
        fprintf(out, " %.6f", r->comparison.ssim[i]);
    }
    if (format && format->alpha && r->comparison.valid)
        fprintf(out, "  alpha %" PRIu64 " differ", r->comparison.alpha_differences);
    fputc('\n', out);
}

static void print_comparison(FILE *out, const PnvSummary *s, const PnvRawFormat *format)
{
    static const char *const names[3] = {"Y", "Cb", "Cr"};
    const double n = (double)s->n_compared;

    for (int i = 0; s->n_compared && i < 3; i++) {
        fprintf(out, "  %-11s PSNR ", names[i]);
        print_decibel(out, s->mse[i] / n, format->depth);
        fprintf(out, " (worst frame ");
        print_decibel(out, s->max_mse[i], format->depth);
        fprintf(out, "), SSIM %.6f (worst frame %.6f)\n", s->ssim[i] / n, s->min_ssim[i]);
    }
    if (!s->n_compared || !format->alpha)
        return;
    if (s->alpha_differences)
        fprintf(out, "  alpha       %" PRIu64 " samples differ, by %d at most\n", s->alpha_differences,
                s->alpha_largest);
    else
        fprintf(out, "  alpha       equal, every sample\n");
}

/* ---- summary ---- */

static void print_format(FILE *out, const PnvMov *mov, const PnvSummary *s)
{
    bool guessed;
    const PnvProfileInfo *info = pnv_profile_info(pnv_summary_profile(s, mov, &guessed));

    fprintf(out, "  format      ");
    if (!mov->bare)
        fprintf(out, "%s (%s) in %s", info->title, mov->fourcc,
                mov->fragmented ? "QuickTime or MP4 fragments" : "QuickTime or MP4");
    else if (info)
        fprintf(out, "bare frames; %s by their matrices", info->title);
    else
        fprintf(out, "bare frames; no profile has these matrices");
    fprintf(out, ", %s, bitstream version %d\n", pnv_name_chroma(s->header.chroma_format), s->header.version);
    if (mov->n_tracks > 1)
        fprintf(out, "  tracks      %d ProRes tracks; this is the first\n", mov->n_tracks);
    if (mov->compressor[0])
        fprintf(out, "  compressor  %s\n", mov->compressor);
}

static void print_times(FILE *out, const PnvMov *mov, const PnvSummary *s)
{
    const double rate = pnv_summary_frame_rate(s, mov);

    fprintf(out, "  size        %dx%d, aspect ratio: %s", s->header.width, s->header.height,
            pnv_name_aspect(s->header.aspect_ratio));
    if (mov->pasp_h && mov->pasp_v)
        fprintf(out, "; container: pixels %u:%u", mov->pasp_h, mov->pasp_v);
    fprintf(out, "\n  frames      %" PRIu64, s->n_frames);
    if (rate > 0)
        fprintf(out, " at %.6g fps%s, %.3f s", rate,
                mov->n_durations && pnv_mov_frame_rate(mov) <= 0 ? " on average" : "",
                pnv_summary_duration(s, mov));
    if (mov->bare && rate <= 0)
        fprintf(out, ", frame rate unknown");
    fprintf(out, "\n  fields      %s\n", pnv_name_interlace(s->header.interlace_mode));
}

static void print_colour(FILE *out, const PnvMov *mov, const PnvReaderHeader *h)
{
    fprintf(out, "  colour      primaries %s, transfer %s, matrix %s (%d, %d, %d)",
            pnv_name_primaries(h->color_primaries), pnv_name_transfer(h->transfer_characteristic),
            pnv_name_matrix(h->matrix_coefficients), h->color_primaries, h->transfer_characteristic,
            h->matrix_coefficients);
    if (mov->colr_type[0])
        fprintf(out, ", container: %d, %d, %d", mov->colr[0], mov->colr[1], mov->colr[2]);
    fputc('\n', out);
}

static void print_alpha(FILE *out, const PnvSummary *s)
{
    fprintf(out, "  alpha       ");
    if (!s->n_alpha)
        fprintf(out, "none\n");
    else if (s->n_opaque == s->n_frames)
        fprintf(out, "%d bits, all opaque\n", 8 * s->header.alpha_type);
    else
        fprintf(out, "%d bits, not opaque in %" PRIu64 " of %" PRIu64 " frames\n", 8 * s->header.alpha_type,
                s->n_alpha - s->n_opaque, s->n_frames);
}

static void print_encoder(FILE *out, const PnvReaderHeader *h)
{
    const char *name = pnv_name_encoder(h->encoder_id);

    fprintf(out, "  encoder     ");
    for (int i = 0; i < 4; i++)
        fputc(h->encoder_id[i] >= 0x20 && h->encoder_id[i] <= 0x7e ? h->encoder_id[i] : '.', out);
    fprintf(out, name ? " (%s)\n" : "\n", name);
}

static void print_coding(FILE *out, const PnvSummary *s)
{
    const PnvReaderHeader *h = &s->header;

    fprintf(out, "  matrices    luma %s%s, chroma %s%s\n", pnv_name_weights(h->luma),
            h->luma_sent ? "" : " (default)", pnv_name_weights(h->chroma), h->chroma_sent ? "" : " (as luma)");
    fprintf(out, "  slices      %d macroblocks wide, %d x %d a %s\n", 1 << s->log2_slice_mb, s->slices_per_row,
            s->height_mb, s->n_pictures == 2 ? "field" : "frame");
}

#define HISTOGRAM_ROWS 16
#define HISTOGRAM_BAR 40

/* One row for one index, or for as many neighbours as it takes to stay within HISTOGRAM_ROWS. */
static void print_quantizers(FILE *out, const PnvSummary *s)
{
    int first = 0, last = 255;
    double sum = 0;

    if (!s->n_slices)
        return;
    while (!s->quantizers[first])
        first++;
    while (!s->quantizers[last])
        last--;
    for (int q = first; q <= last; q++)
        sum += q * (double)s->quantizers[q];
    fprintf(out, "  quantizer   %d to %d, mean %.2f\n", first, last, sum / (double)s->n_slices);
    const int width = (last - first) / HISTOGRAM_ROWS + 1;
    for (int q = first; q <= last; q += width) {
        uint64_t n = 0;
        for (int k = q; k < q + width && k <= last; k++)
            n += s->quantizers[k];
        const double share = (double)n / (double)s->n_slices;
        if (!n)
            continue;
        char range[16];
        snprintf(range, sizeof range, width > 1 ? "%d..%d" : "%d", q, q + width - 1 < last ? q + width - 1 : last);
        const int bar = (int)lrint(HISTOGRAM_BAR * share);
        fprintf(out, "    %8s %6.2f %%%s%.*s\n", range, 100 * share, bar ? " " : "", bar,
                "########################################");
    }
}

static void print_bytes(FILE *out, const PnvMov *mov, const PnvSummary *s)
{
    const double mean = (double)s->bytes / (double)s->n_frames, rate = pnv_summary_frame_rate(s, mov);
    const double without_alpha = pnv_summary_mean_without_alpha(s);
    bool guessed;
    const PnvProfile profile = pnv_summary_profile(s, mov, &guessed);

    fprintf(out, "  bytes       %" PRIu64 " to %" PRIu64 " a frame, mean %.0f\n", s->min_bytes, s->max_bytes, mean);
    if (rate > 0)
        fprintf(out, "  rate        %.2f Mb/s\n", 8e-6 * mean * rate);
    if (profile != PNV_PROFILE_AUTO) {
        const double target = (double)pnv_target_bytes(profile, s->header.width, s->header.height);
        fprintf(out, "  target      %.1f %% of Apple's %.0f bytes a frame", 100 * without_alpha / target, target);
        if (rate > 0)
            fprintf(out, " (%.1f Mb/s)", 8e-6 * target * rate);
        fprintf(out, "%s\n", s->n_alpha ? ", alpha not counted" : "");
    }
    const double all = s->bytes ? 100 / (double)s->bytes : 0;
    fprintf(out, "  shares      headers %.2f %%, luma %.2f %%, chroma %.2f %%, alpha %.2f %%, stuffing %.2f %%\n",
            all * (double)s->header_bytes, all * (double)s->unit_bytes[0],
            all * (double)(s->unit_bytes[1] + s->unit_bytes[2]), all * (double)s->unit_bytes[3],
            all * (double)s->stuffing_bytes);
}

static void print_verdict(FILE *out, const PnvSummary *s, const PnvVerdictRules *rules)
{
    const uint64_t violations = pnv_summary_n_violations(s, rules), notes = pnv_summary_n_notes(s, rules);

    fprintf(out, "  verdict     ");
    if (s->n_errors)
        fprintf(out, "could not be judged: ");
    else if (violations)
        fprintf(out, "does not conform: ");
    else
        fprintf(out, "conforms: ");
    if (s->n_errors)
        fprintf(out, "%" PRIu64 " frame%s not read, ", s->n_errors, s->n_errors == 1 ? "" : "s");
    fprintf(out, "%" PRIu64 " violation%s, %" PRIu64 " note%s\n", violations, violations == 1 ? "" : "s", notes,
            notes == 1 ? "" : "s");
    for (int i = 1; i < PNV_N_FINDING_CODES; i++)
        if (s->n_found[i])
            fprintf(out, "    %8" PRIu64 " %s%s\n", s->n_found[i], pnv_finding_name((PnvFindingCode)i),
                    rules->allowed[i] ? " (allowed)" : "");
}

void pnv_text_summary(FILE *out, const char *file, const PnvMov *mov, const PnvSummary *s,
                      const PnvVerdictRules *rules, const PnvRawFormat *format)
{
    fprintf(out, "%s\n", file);
    if (s->n_valid) {
        print_format(out, mov, s);
        print_times(out, mov, s);
        print_colour(out, mov, &s->header);
        print_alpha(out, s);
        print_encoder(out, &s->header);
        print_coding(out, s);
        if (s->varies)
            fprintf(out, "  varies      frame %u has another header than the first one\n", s->varies_at);
        print_quantizers(out, s);
        print_bytes(out, mov, s);
        if (format)
            print_comparison(out, s, format);
    } else {
        fprintf(out, "  frames      %" PRIu64 ", none with a header that makes sense\n", s->n_frames);
    }
    print_verdict(out, s, rules);
}
