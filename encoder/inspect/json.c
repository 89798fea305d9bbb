/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json.h"

#include <inttypes.h>
#include <string.h>

#include "names.h"
#include "pnv.h"
#include "target.h"

/* Length of the well-formed UTF-8 sequence at s; 0 if there is none. Overlong forms and surrogates are none. */
static int utf8_length(const char *s)
{
    const uint8_t *p = (const uint8_t *)s;
    const int n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] <= 0xdf ? 2 : (p[0] & 0xf0) == 0xe0 ? 3
                : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : 0;

    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* A file's name may hold any bytes: what is no UTF-8 becomes U+FFFD. */
static void put_string(FILE *out, const char *s)
{
    fputc('"', out);
    while (*s) {
        const int n = utf8_length(s);
        if (n == 0)
            fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if ((uint8_t)*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", (uint8_t)*s);
        else
            fwrite(s, 1, (size_t)n, out);
        s += n ? n : 1;
    }
    fputc('"', out);
}

static void put_key_string(FILE *out, const char *key, const char *value)
{
    fprintf(out, "\"%s\": ", key);
    if (value)
        put_string(out, value);
    else
        fputs("null", out);
    fputs(", ", out);
}

/* A number that is null when it is not known, which 0 or less stands for. */
static void put_positive(FILE *out, const char *key, double value, int decimals)
{
    if (value > 0)
        fprintf(out, "\"%s\": %.*f, ", key, decimals, value);
    else
        fprintf(out, "\"%s\": null, ", key);
}

void pnv_json_finding(FILE *out, int64_t frame, uint64_t file_offset, const PnvFinding *f)
{
    fprintf(out, "{\"code\": \"%s\", \"violation\": %s, ", pnv_finding_name(f->code),
            pnv_finding_is_violation(f->code) ? "true" : "false");
    if (frame >= 0)
        fprintf(out, "\"frame\": %" PRId64 ", \"byte\": %" PRIu32 ", \"file_byte\": %" PRIu64 ", ", frame, f->offset,
                file_offset + f->offset);
    if (f->picture >= 0)
        fprintf(out, "\"picture\": %d, ", f->picture);
    if (f->slice >= 0)
        fprintf(out, "\"slice\": %d, ", f->slice);
    fputs("\"text\": ", out);
    put_string(out, f->text);
    fputc('}', out);
}

/* Equal planes have no finite PSNR: null. */
static void put_psnr(FILE *out, const double mse[3], double n, int depth)
{
    fputs("\"psnr\": [", out);
    for (int i = 0; i < 3; i++) {
        fputs(i ? ", " : "", out);
        if (mse[i] > 0)
            fprintf(out, "%.4f", pnv_psnr(mse[i] / n, depth));
        else
            fputs("null", out);
    }
    fputs("], ", out);
}

static void put_ssim(FILE *out, const double ssim[3], double n)
{
    fprintf(out, "\"ssim\": [%.8f, %.8f, %.8f]", ssim[0] / n, ssim[1] / n, ssim[2] / n);
}

void pnv_json_frame(FILE *out, const PnvFrameResult *r, const PnvRawFormat *format)
{
    fprintf(out, "{\"frame\": %" PRIu32 ", \"file_byte\": %" PRIu64 ", \"bytes\": %" PRIu32, r->index, r->offset,
            r->size);
    if (format && r->comparison.valid) {
        fputs(", ", out);
        put_psnr(out, r->comparison.mse, 1, format->depth);
        put_ssim(out, r->comparison.ssim, 1);
        if (format->alpha)
            fprintf(out, ", \"alpha_differences\": %" PRIu64, r->comparison.alpha_differences);
    }
    fputc('}', out);
}

static void put_container(FILE *out, const PnvMov *mov)
{
    if (mov->bare) {
        fputs("\"container\": null, ", out);
        return;
    }
    fputs("\"container\": {", out);
    put_key_string(out, "fourcc", mov->fourcc);
    put_key_string(out, "compressor", mov->compressor);
    fprintf(out, "\"width\": %d, \"height\": %d, \"depth\": %d, ", mov->width, mov->height, mov->depth);
    fprintf(out, "\"fragmented\": %s, \"tracks\": %d, ", mov->fragmented ? "true" : "false", mov->n_tracks);
    if (mov->colr_type[0])
        fprintf(out, "\"colr\": [%d, %d, %d], ", mov->colr[0], mov->colr[1], mov->colr[2]);
    else
        fputs("\"colr\": null, ", out);
    if (mov->fiel_count)
        fprintf(out, "\"fiel\": [%d, %d], ", mov->fiel_count, mov->fiel_detail);
    else
        fputs("\"fiel\": null, ", out);
    if (mov->pasp_h && mov->pasp_v)
        fprintf(out, "\"pasp\": [%" PRIu32 ", %" PRIu32 "], ", mov->pasp_h, mov->pasp_v);
    else
        fputs("\"pasp\": null, ", out);
    fprintf(out, "\"timescale\": %" PRIu32 ", \"duration\": %" PRIu64 "}, ", mov->timescale, mov->duration);
}

static void put_weights(FILE *out, const char *key, const uint8_t *weights, bool sent)
{
    fprintf(out, "\"%s\": {\"name\": \"%s\", \"sent\": %s, \"weights\": [", key, pnv_name_weights(weights),
            sent ? "true" : "false");
    for (int i = 0; i < 64; i++)
        fprintf(out, i ? ", %d" : "%d", weights[i]);
    fputs("]}, ", out);
}

static void put_header(FILE *out, const PnvSummary *s)
{
    static const char *const modes[4] = {"progressive", "top-field-first", "bottom-field-first", "reserved"};
    const PnvReaderHeader *h = &s->header;

    fprintf(out, "\"width\": %d, \"height\": %d, \"chroma\": \"%s\", \"bitstream_version\": %d, ", h->width, h->height,
            pnv_name_chroma(h->chroma_format), h->version);
    fprintf(out, "\"interlace_mode\": \"%s\", \"aspect_ratio_information\": %d, \"frame_rate_code\": %d, ",
            modes[h->interlace_mode], h->aspect_ratio, h->frame_rate_code);
    fprintf(out, "\"color_primaries\": %d, \"transfer_characteristic\": %d, \"matrix_coefficients\": %d, ",
            h->color_primaries, h->transfer_characteristic, h->matrix_coefficients);
    fprintf(out, "\"alpha_bits\": %d, \"alpha_opaque\": %s, ", 8 * h->alpha_type,
            !s->n_alpha ? "null" : s->n_opaque == s->n_frames ? "true" : "false");
    put_key_string(out, "encoder_identifier", h->encoder_id);
    put_weights(out, "luma_matrix", h->luma, h->luma_sent);
    put_weights(out, "chroma_matrix", h->chroma, h->chroma_sent);
    fprintf(out, "\"slice_mbs\": %d, ", 1 << s->log2_slice_mb);
    if (s->varies)
        fprintf(out, "\"header_varies_at\": %" PRIu32 ", ", s->varies_at);
    else
        fputs("\"header_varies_at\": null, ", out);
}

static void put_quantizers(FILE *out, const PnvSummary *s)
{
    const char *comma = "";

    fputs("\"quantizers\": {", out);
    for (int i = 0; i < 256; i++)
        if (s->quantizers[i]) {
            fprintf(out, "%s\"%d\": %" PRIu64, comma, i, s->quantizers[i]);
            comma = ", ";
        }
    fputs("}, ", out);
}

static void put_bytes(FILE *out, const PnvMov *mov, const PnvSummary *s)
{
    const double mean = s->n_frames ? (double)s->bytes / (double)s->n_frames : 0;
    bool guessed;
    const PnvProfile profile = pnv_summary_profile(s, mov, &guessed);

    put_key_string(out, "profile", profile ? pnv_profile_name(profile) : NULL);
    put_key_string(out, "profile_from", !profile ? NULL : guessed ? "matrices" : "container");
    put_positive(out, "frame_rate", pnv_summary_frame_rate(s, mov), 6);
    put_positive(out, "duration", pnv_summary_duration(s, mov), 6);
    put_positive(out, "megabits_per_second", 8e-6 * mean * pnv_summary_frame_rate(s, mov), 3);
    put_positive(out, "target_bytes", (double)pnv_target_bytes(profile, s->header.width, s->header.height), 0);
    fprintf(out, "\"bytes\": {\"total\": %" PRIu64 ", \"min\": %" PRIu64 ", \"mean\": %.1f, \"max\": %" PRIu64
            ", \"mean_without_alpha\": %.1f, ", s->bytes, s->min_bytes, mean, s->max_bytes,
            pnv_summary_mean_without_alpha(s));
    fprintf(out, "\"headers\": %" PRIu64 ", \"luma\": %" PRIu64 ", \"chroma\": %" PRIu64 ", \"alpha\": %" PRIu64
            ", \"stuffing\": %" PRIu64 "}, ", s->header_bytes, s->unit_bytes[0], s->unit_bytes[1] + s->unit_bytes[2],
            s->unit_bytes[3], s->stuffing_bytes);
}

static void put_comparison(FILE *out, const PnvSummary *s, const PnvRawFormat *format)
{
    if (!format || !s->n_compared) {
        fputs("\"comparison\": null, ", out);
        return;
    }
    fprintf(out, "\"comparison\": {\"frames\": %" PRIu64 ", \"depth\": %d, ", s->n_compared, format->depth);
    put_psnr(out, s->mse, (double)s->n_compared, format->depth);
    put_ssim(out, s->ssim, (double)s->n_compared);
    if (format->alpha)
        fprintf(out, ", \"alpha_differences\": %" PRIu64 ", \"alpha_largest\": %d", s->alpha_differences,
                s->alpha_largest);
    fputs("}, ", out);
}

static void put_verdict(FILE *out, const PnvSummary *s, const PnvVerdictRules *rules)
{
    const char *comma = "";

    fprintf(out, "\"violations\": %" PRIu64 ", \"notes\": %" PRIu64 ", \"counts\": {",
            pnv_summary_n_violations(s, rules), pnv_summary_n_notes(s, rules));
    for (int i = 1; i < PNV_N_FINDING_CODES; i++)
        if (s->n_found[i]) {
            fprintf(out, "%s\"%s\": %" PRIu64, comma, pnv_finding_name((PnvFindingCode)i), s->n_found[i]);
            comma = ", ";
        }
    fputs("}, ", out);
}

void pnv_json_file(FILE *out, const PnvJsonFile *f)
{
    fputc('{', out);
    put_key_string(out, "file", f->file);
    if (f->mov && f->summary) {
        fprintf(out, "\"frames\": %" PRIu64 ", ", f->summary->n_frames);
        put_container(out, f->mov);
        if (f->summary->n_valid) {
            put_header(out, f->summary);
            put_quantizers(out, f->summary);
            put_bytes(out, f->mov, f->summary);
        }
        put_comparison(out, f->summary, f->format);
        put_verdict(out, f->summary, f->rules);
        fprintf(out, "\"findings\": [%s], ", f->findings ? f->findings : "");
        if (f->frames)
            fprintf(out, "\"frame_list\": [%s], ", f->frames);
    }
    put_key_string(out, "error", f->error);
    fprintf(out, "\"status\": %d}", f->status);
}
