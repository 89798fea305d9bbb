/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target of the encoder: settings, formats, sizes, strides, kinds of picture and samples from the input's bytes.
 * What is refused must say why; what is taken must give a frame that the strict reader finds nothing in, the same from
 * one thread as from several. Planes end where their memory ends, for AddressSanitizer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Input {
    const uint8_t *data;
    size_t size, at;
} Input;

/* Bytes past the end are 0. */
static int take(Input *in)
{
    return in->at < in->size ? in->data[in->at++] : 0;
}

/* Mostly one of a few legal values, sometimes anything. */
static int choose(Input *in, const int *legal, int n)
{
    const int b = take(in);
    return b < 248 ? legal[b % n] : (int8_t)take(in);
}

static PnvParams take_params(Input *in)
{
    static const int depths[] = {8, 10, 12, 16}, mbs[] = {0, 1, 2, 4, 8}, alphas[] = {0, 8, 16}, bits[] = {0, 1};
    static const int profiles[] = {0, 1, 2, 3, 4, 5, 6}, three[] = {0, 1, 2}, sitings[] = {0, 1, 2, 3};
    static const int packings[] = {0, 0, 0, 0, 1, 2, 3, 4}, matrices[] = {1, 6, 9};
    PnvParams p = {0};

    p.width = take(in) % 200;
    p.height = take(in) % 70;
    if (take(in) > 250) { /* as wide as it gets, but low: a frame should take milliseconds */
        p.width += 65400;
        p.height %= 3;
    }
    p.chroma = (PnvChroma)choose(in, three, 3);
    p.model = (PnvModel)(p.chroma == PNV_CHROMA_444 ? choose(in, bits, 2) : 0);
    p.matrix_coefficients = matrices[take(in) % 3];
    p.siting = (PnvSiting)choose(in, sitings, 4);
    p.packing = (PnvPacking)choose(in, packings, 8);
    p.depth = p.packing ? 10 : choose(in, depths, 4);
    for (int c = 0; c < 4; c++)
        p.shift[c] = take(in) < 100 ? take(in) % 33 : 0;
    p.alpha_depth = take(in) < 50 ? 2 : 0;
    p.range = (PnvRange)choose(in, bits, 2);
    p.alpha_bits = choose(in, alphas, 3);
    p.profile = (PnvProfile)choose(in, profiles, 7);
    if (take(in) < 200)
        p.profile = PNV_PROFILE_AUTO;
    p.quantizer = take(in) % 226;
    p.rounding = (PnvRounding)choose(in, three, 3);
    p.rate_control = (PnvRateControl)choose(in, bits, 2);
    p.min_quantizer = take(in) < 40 ? take(in) % 226 : 0;
    p.max_quantizer = take(in) < 40 ? take(in) % 226 : 0;
    p.max_frame_bytes = take(in) < 80 ? (uint32_t)(take(in) << take(in) % 12) : 0;
    p.bitrate = take(in) < 30 ? take(in) * 50 : 0;
    p.mbs_per_slice = choose(in, mbs, 5);
    p.fps_n = take(in) * 1001;
    p.fps_d = take(in);
    p.par_n = take(in);
    p.par_d = take(in);
    p.color_primaries = 1;
    p.threads = 1 + take(in) % 3;
    p.frames_in_flight = take(in) % 4;
    return p;
}

/* Components that lie in the same rows. */
typedef struct Region {
    ptrdiff_t row_bytes;
    int rows;
    size_t offset;
} Region;

/* Memory of the picture, all that is allowed to be read and no more: planar, chroma in turn, or packed; any padding;
 * samples from the input over and over. */
static uint8_t *take_picture(Input *in, const PnvPlan *plan, PnvPicture *pic)
{
    const PnvParams *p = &plan->params;
    const int bytes = p->depth > 8 ? 2 : 1, is_samples = p->packing == PNV_PACKING_SAMPLES;
    const int layout = is_samples ? take(in) % 4 : 1; /* 1: all in common rows, 2: chroma is */
    const int is_packed = layout == 1 && (!is_samples || p->chroma == PNV_CHROMA_444);
    const int padding = take(in) % 40 * bytes;
    static const uint8_t anywhere = 0; /* until there is memory */
    Region region[4] = {{0}};
    int region_of[4], place[4];

    pic->interlace = (PnvInterlace)(take(in) % 3);
    if (!plan->framing[pic->interlace].n_pictures)
        pic->interlace = PNV_PROGRESSIVE;
    if (take(in) % 4 == 0)
        pic->chroma_rows = (p->height + 1) / 2;
    for (int c = 0; c < plan->n_components; c++) {
        const int is_in_turn = layout == 2 && (c == 1 || c == 2);
        region_of[c] = is_packed ? 0 : is_in_turn ? 1 : c;
        place[c] = !is_samples ? 0 : is_packed ? c * bytes : is_in_turn ? (c - 1) * bytes : 0;
        pic->step[c] = !is_samples ? 0 : is_packed ? 4 * bytes : is_in_turn ? 2 * bytes : take(in) % 2 * bytes;
        pic->plane[c] = &anywhere;
        pic->stride[c] = 0;
        const PnvPlane plane = pnv_plan_plane(plan, pic, &plan->framing[pic->interlace].picture[0], c);
        Region *r = &region[region_of[c]];
        const int rows = pnv_plan_rows(plan, pic, c, 0);
        if (r->row_bytes < place[c] + pnv_plane_row_bytes(&plane))
            r->row_bytes = place[c] + pnv_plane_row_bytes(&plane);
        r->rows = rows > r->rows ? rows : r->rows;
    }
    size_t total = 0;
    for (int i = 0; i < 4; i++) {
        region[i].offset = total;
        if (region[i].rows)
            total += (size_t)((region[i].row_bytes + padding) * (region[i].rows - 1) + region[i].row_bytes);
        total += total % 2; /* words are aligned */
    }
    uint8_t *memory = malloc(total);
    if (!memory)
        return NULL;
    const uint8_t *samples = in->data + in->at;
    const size_t n_samples = in->size - in->at;
    for (size_t i = 0; i < total; i++)
        memory[i] = n_samples ? (uint8_t)(samples[i % n_samples] + i / n_samples * 7) : (uint8_t)(i * 31);
    for (int c = 0; c < plan->n_components; c++) {
        pic->plane[c] = memory + region[region_of[c]].offset + place[c];
        pic->stride[c] = region[region_of[c]].row_bytes + padding;
    }
    return memory;
}

static int encode(const PnvParams *params, const PnvPicture *pic, PnvPacket *packet)
{
    char error[PNV_ERROR_BYTES];
    PnvEncoder *enc;
    PnvStatus status = pnv_open(&enc, params, error);

    if (status != PNV_OK) {
        if (enc || !error[0])
            abort();
        return -1;
    }
    status = pnv_send(enc, pic);
    if (status == PNV_OK && (pnv_collect(enc, packet) != PNV_OK || packet->size > pnv_packet_bound(params)))
        abort();
    if (status != PNV_OK && !pnv_error(enc)[0])
        abort();
    pnv_close(&enc);
    return status == PNV_OK ? 0 : -1;
}

static void print_finding(void *opaque, const PnvFinding *finding)
{
    (void)opaque;
    fprintf(stderr, "%s: %s\n", pnv_finding_name(finding->code), finding->text);
}

static void judge(const PnvParams *params, const PnvPicture *pic, const PnvPacket *packet)
{
    const PnvReaderOptions options = {.flags = PNV_READER_LEVELS, .report = print_finding};
    PnvReader *reader = pnv_reader_new();

    if (!reader || pnv_reader_read(reader, packet->data, packet->size, &options) != PNV_READER_OK)
        abort();
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    if (packet->over_limit ? packet->size <= packet->limit_bytes || packet->quantizer_min != 224
                           : packet->limit_bytes && packet->size > packet->limit_bytes)
        abort();
    if (f->n_violations || f->n_notes || !f->complete || f->header.width != params->width ||
        f->header.height != params->height || f->header.interlace_mode != (int)pic->interlace)
        abort();
    pnv_reader_free(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = {.data = data, .size = size};
    PnvParams params = take_params(&in);
    PnvPicture pic = {0};
    PnvPacket packet, alone;

    PnvPlan plan;
    char error[PNV_ERROR_BYTES];

    if (pnv_plan(&plan, &params, error) != PNV_OK) {
        if (encode(&params, &pic, &packet) == 0)
            abort();
        return 0;
    }
    uint8_t *memory = take_picture(&in, &plan, &pic);
    if (memory && encode(&params, &pic, &packet) == 0) {
        judge(&params, &pic, &packet);
        params.threads = 1;
        params.frames_in_flight = 1;
        params.cpu = PNV_CPU_C;
        if (encode(&params, &pic, &alone) || alone.size != packet.size || memcmp(alone.data, packet.data, alone.size))
            abort();
        pnv_packet_release(&packet);
        pnv_packet_release(&alone);
    }
    free(memory);
    return 0;
}
