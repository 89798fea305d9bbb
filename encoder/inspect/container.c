/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profile.h"
#include "tables.h"

typedef struct Check {
    PnvFindingFunction report;
    void *opaque;
} Check;

__attribute__((format(printf, 4, 5))) static void report(const Check *c, PnvFindingCode code, uint32_t offset,
                                                         const char *format, ...)
{
    PnvFinding finding = {.code = code, .picture = -1, .slice = -1, .offset = offset};
    va_list args;

    if (!c->report)
        return;
    va_start(args, format);
    vsnprintf(finding.text, sizeof finding.text, format, args);
    va_end(args);
    c->report(c->opaque, &finding);
}

PnvProfile pnv_container_profile(const char *fourcc)
{
    for (int i = PNV_PROFILE_PROXY; i <= PNV_PROFILE_4444XQ; i++)
        if (!strcmp(pnv_profile_info((PnvProfile)i)->fourcc, fourcc))
            return (PnvProfile)i;
    return PNV_PROFILE_AUTO;
}

/* Players choose the pixel format by the four-character code. */
static void check_chroma(const Check *c, const PnvMov *mov, const PnvReaderHeader *h)
{
    const PnvProfileInfo *info = pnv_profile_info(pnv_container_profile(mov->fourcc));
    const bool is_444 = h->chroma_format == 3;

    if (info && is_444 != (info->chroma == PNV_CHROMA_444))
        report(c, PNV_FINDING_CONTAINER_CHROMA, 20, "%s under '%s', which is for %s", is_444 ? "4:4:4" : "4:2:2",
               mov->fourcc, is_444 ? "4:2:2" : "4:4:4");
}

/* 24000/1001 and 24 are 1 in 1000 apart; times in ticks may be off by the rounding of one tick in all. */
static void check_rate(const Check *c, const PnvMov *mov, const PnvReaderHeader *h)
{
    const double rate = pnv_mov_frame_rate(mov);

    if (h->frame_rate_code < 1 || h->frame_rate_code >= PNV_N_FRAME_RATE_CODES || rate <= 0)
        return;
    const struct PnvFrameRate code = pnv_frame_rates[h->frame_rate_code];
    const double expected = (double)code.n / code.d, off = fabs(rate - expected) / expected;
    const double rounding = mov->min_delta == mov->max_delta ? 0 : 1 / (double)mov->duration;
    if (off > 3e-4 + rounding)
        report(c, PNV_FINDING_CONTAINER_RATE, 21, "frame_rate_code %d is %.3f fps, but the container plays %.3f",
               h->frame_rate_code, expected, rate);
}

/* 0 and 2 both say unspecified; transfer codes 1, 6, 14 and 15 of ITU-T H.273 are one curve. */
static int plain_code(int code)
{
    return code == 0 ? 2 : code;
}

static int plain_transfer(int code)
{
    return code == 6 || code == 14 || code == 15 ? 1 : plain_code(code);
}

static void check_colour(const Check *c, const PnvMov *mov, const PnvReaderHeader *h)
{
    if (!mov->colr_type[0])
        return;
    if (plain_code(mov->colr[0]) != plain_code(h->color_primaries) ||
        plain_transfer(mov->colr[1]) != plain_transfer(h->transfer_characteristic) ||
        plain_code(mov->colr[2]) != plain_code(h->matrix_coefficients))
        report(c, PNV_FINDING_CONTAINER_COLOUR, 22,
               "the frame says %d, %d, %d (primaries, transfer, matrix), colr says %d, %d, %d",
               h->color_primaries, h->transfer_characteristic, h->matrix_coefficients, mov->colr[0], mov->colr[1],
               mov->colr[2]);
}

/* interlace_mode that fiel stands for; -1 if it says nothing. Details 1 and 9 are top first, 6 and 14 bottom first. */
static int mode_of_fiel(const PnvMov *mov)
{
    if (mov->fiel_count == 1)
        return 0;
    if (mov->fiel_count != 2)
        return -1;
    switch (mov->fiel_detail) {
    case 1:
    case 9:
        return 1;
    case 6:
    case 14:
        return 2;
    default:
        return -1;
    }
}

static void check_fields(const Check *c, const PnvMov *mov, const PnvReaderHeader *h)
{
    static const char *const modes[4] = {"progressive", "top field first", "bottom field first", "reserved"};
    const int mode = mode_of_fiel(mov);

    if (mode >= 0 && mode != h->interlace_mode)
        report(c, PNV_FINDING_CONTAINER_FIELDS, 20, "the frame is %s, fiel %d, %d says %s", modes[h->interlace_mode],
               mov->fiel_count, mov->fiel_detail, modes[mode]);
}

void pnv_container_check(const PnvMov *mov, const PnvReaderFrame *frame, PnvFindingFunction function, void *opaque)
{
    const Check c = {function, opaque};
    const PnvReaderHeader *h = &frame->header;

    if (mov->bare || !frame->header_valid)
        return;
    if (h->width != mov->width || h->height != mov->height)
        report(&c, PNV_FINDING_CONTAINER_SIZE, 16, "the frame is %dx%d, the sample entry says %dx%d", h->width,
               h->height, mov->width, mov->height);
    check_chroma(&c, mov, h);
    check_rate(&c, mov, h);
    check_colour(&c, mov, h);
    check_fields(&c, mov, h);
}

void pnv_container_check_depth(const PnvMov *mov, bool see_through, PnvFindingFunction function, void *opaque)
{
    const Check c = {function, opaque};
    const int expected = see_through ? 32 : 24;

    if (!mov->bare && mov->depth != expected)
        report(&c, PNV_FINDING_CONTAINER_DEPTH, 0, "depth %d; %d belongs to video %s", mov->depth, expected,
               see_through ? "with alpha that is not opaque everywhere" : "without alpha, or with opaque alpha only");
}
