/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpuinfo.h"
#include "rate.h"
#include "tables.h"
#include "target.h"

enum { MAX_SIZE = 65535, DEFAULT_QUANTIZER = 4, PROXY_MIN_QUANTIZER = 4, DEFAULT_MBS_PER_SLICE = 8, UNSPECIFIED_COLOR = 2 };

static const char default_encoder_id[] = "prnv";

__attribute__((format(printf, 2, 3))) static PnvStatus refuse(char *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error, PNV_ERROR_BYTES, format, args);
    va_end(args);
    return PNV_EINVAL;
}

static PnvStatus check_range(char *error, const char *name, int value, int min, int max)
{
    if (value >= min && value <= max)
        return PNV_OK;
    return refuse(error, "%s %d is outside %d..%d", name, value, min, max);
}

/** A fraction that may be unknown: 0/0, 0/1 or positive/positive. */
static PnvStatus check_fraction(char *error, const char *name, int n, int d)
{
    if (n >= 0 && d >= 0 && (n == 0 || d > 0))
        return PNV_OK;
    return refuse(error, "%s %d/%d is not a fraction; 0/1 means unknown", name, n, d);
}

static PnvStatus check_profile(char *error, const PnvParams *p)
{
    const PnvProfileInfo *info = pnv_profile_info(p->profile);

    if (!info && p->profile != PNV_PROFILE_AUTO)
        return refuse(error, "profile %d is none of 0..6", (int)p->profile);
    if (info && info->chroma != PNV_CHROMA_444 && p->alpha_bits)
        return refuse(error, "alpha_bits %d needs profile 4444 or 4444xq, not %s", p->alpha_bits, info->name);
    return PNV_OK;
}

static int has_words(PnvPacking packing)
{
    return packing == PNV_PACKING_WORDS || packing == PNV_PACKING_WORDS_BE;
}

static const char *chroma_name(PnvChroma chroma)
{
    static const char *const names[] = {"4:2:2", "4:4:4", "4:2:0"};
    return names[chroma];
}

/** Whether there can be such samples. */
static PnvStatus check_format(char *error, const PnvParams *p)
{
    const int room = has_words(p->packing) ? 32 : p->depth == 8 ? 8 : 16;

    if (p->depth != 8 && p->depth != 10 && p->depth != 12 && p->depth != 16)
        return refuse(error, "depth %d is not 8, 10, 12 or 16 bits", p->depth);
    if (p->packing != PNV_PACKING_SAMPLES && p->depth != 10)
        return refuse(error, "depth %d cannot be packed as packing %d: that has 10 bits", p->depth, (int)p->packing);
    if ((p->packing == PNV_PACKING_V210 || p->packing == PNV_PACKING_UYVP) && p->chroma != PNV_CHROMA_422)
        return refuse(error, "packing %d is 4:2:2, not %s", (int)p->packing, chroma_name(p->chroma));
    if ((p->packing == PNV_PACKING_V210 || p->packing == PNV_PACKING_UYVP) && p->alpha_bits)
        return refuse(error, "packing %d has no alpha; alpha_bits is %d", (int)p->packing, p->alpha_bits);
    if (p->model == PNV_MODEL_RGB && p->chroma != PNV_CHROMA_444)
        return refuse(error, "RGB is 4:4:4, not %s", chroma_name(p->chroma));
    if (p->model == PNV_MODEL_RGB && !pnv_color_has(p->matrix_coefficients))
        return refuse(error, "matrix_coefficients %d says nothing of how RGB is to be converted: use 1, 4, 5, 6, 7 or 9",
                      p->matrix_coefficients);
    if (p->alpha_depth && p->alpha_depth != p->depth && (p->alpha_depth != 2 || !has_words(p->packing)))
        return refuse(error, "alpha_depth %d is neither depth %d nor 2 in a packed word", p->alpha_depth, p->depth);
    for (int c = 0; c < 4; c++) {
        const int depth = c == 3 && p->alpha_depth ? p->alpha_depth : p->depth;
        if (p->shift[c] < 0 || p->shift[c] + depth > room)
            return refuse(error, "shift[%d] %d and %d bits do not fit a word of %d bits", c, p->shift[c], depth, room);
    }
    return PNV_OK;
}

static PnvStatus check_encoder_id(char *error, const char *id)
{
    if (!id)
        return PNV_OK;
    const size_t n = strnlen(id, 5);
    if (n != 4)
        return refuse(error, "encoder_id \"%.40s\" has %s than four characters", id, n < 4 ? "less" : "more");
    for (int i = 0; i < 4; i++) {
        if (id[i] < 0x20 || id[i] > 0x7e)
            return refuse(error, "encoder_id has byte 0x%02x; only printable ASCII is allowed", (unsigned char)id[i]);
    }
    return PNV_OK;
}

static PnvStatus check_rate(char *error, const PnvParams *p)
{
    if (p->min_quantizer && p->max_quantizer && p->min_quantizer > p->max_quantizer)
        return refuse(error, "min_quantizer %d is above max_quantizer %d", p->min_quantizer, p->max_quantizer);
    if (p->bitrate && p->rate_control != PNV_RATE_TARGET)
        return refuse(error, "bitrate %d kbit/s has no meaning at a constant quantizer; use the target", p->bitrate);
    if (p->bitrate && (p->fps_n <= 0 || p->fps_d <= 0))
        return refuse(error, "bitrate %d kbit/s needs a frame rate, and that is unknown", p->bitrate);
    return PNV_OK;
}

static PnvStatus check_params(char *error, const PnvParams *p)
{
    const struct { const char *name; int value, min, max; } ranges[] = {
        {"width", p->width, 1, MAX_SIZE},
        {"height", p->height, 1, MAX_SIZE},
        {"model", (int)p->model, PNV_MODEL_YCBCR, PNV_MODEL_RGB},
        {"chroma", (int)p->chroma, PNV_CHROMA_422, PNV_CHROMA_420},
        {"siting", (int)p->siting, PNV_SITING_LEFT, PNV_SITING_TOP},
        {"packing", (int)p->packing, PNV_PACKING_SAMPLES, PNV_PACKING_UYVP},
        {"range", (int)p->range, PNV_RANGE_VIDEO, PNV_RANGE_FULL},
        {"rounding", (int)p->rounding, PNV_ROUNDING_DEAD_ZONE, PNV_ROUNDING_OPTIMAL},
        {"rate_control", (int)p->rate_control, PNV_RATE_CONSTANT_QUANTIZER, PNV_RATE_TARGET},
        {"quantizer", p->quantizer, 0, PNV_QUANTIZER_MAX},
        {"min_quantizer", p->min_quantizer, 0, PNV_QUANTIZER_MAX},
        {"max_quantizer", p->max_quantizer, 0, PNV_QUANTIZER_MAX},
        {"bitrate", p->bitrate, 0, INT32_MAX},
        {"color_primaries", p->color_primaries, 0, 255},
        {"transfer_characteristic", p->transfer_characteristic, 0, 255},
        {"matrix_coefficients", p->matrix_coefficients, 0, 255},
        {"backend", (int)p->backend, PNV_BACKEND_AUTO, PNV_BACKEND_CUDA},
        {"cuda_device_id", p->cuda_device_id, 0, INT32_MAX},
        {"cpu", (int)p->cpu, PNV_CPU_AUTO, PNV_CPU_NEON},
        {"threads", p->threads, 0, PNV_MAX_THREADS},
        {"frames_in_flight", p->frames_in_flight, 0, PNV_MAX_FRAMES_IN_FLIGHT},
    };
    PnvStatus status = PNV_OK;

    for (size_t i = 0; status == PNV_OK && i < sizeof ranges / sizeof *ranges; i++)
        status = check_range(error, ranges[i].name, ranges[i].value, ranges[i].min, ranges[i].max);
    if (status == PNV_OK)
        status = check_rate(error, p);
    if (status == PNV_OK)
        status = check_format(error, p);
    if (status == PNV_OK && p->alpha_bits && p->alpha_bits != 8 && p->alpha_bits != 16)
        status = refuse(error, "alpha_bits %d is not 0, 8 or 16", p->alpha_bits);
    const int mbs = p->mbs_per_slice;
    if (status == PNV_OK && mbs && mbs != 1 && mbs != 2 && mbs != 4 && mbs != 8)
        status = refuse(error, "mbs_per_slice %d is not 1, 2, 4 or 8", mbs);
    if (status == PNV_OK)
        status = check_fraction(error, "fps", p->fps_n, p->fps_d);
    if (status == PNV_OK)
        status = check_fraction(error, "par", p->par_n, p->par_d);
    if (status == PNV_OK)
        status = check_profile(error, p);
    return status == PNV_OK ? check_encoder_id(error, p->encoder_id) : status;
}

static void resolve_defaults(PnvParams *p)
{
    if (p->profile == PNV_PROFILE_AUTO)
        p->profile = p->chroma == PNV_CHROMA_444 || p->alpha_bits ? PNV_PROFILE_4444 : PNV_PROFILE_HQ;
    if (!p->alpha_depth)
        p->alpha_depth = p->depth;
    if (!p->quantizer)
        p->quantizer = DEFAULT_QUANTIZER;
    if (!p->mbs_per_slice)
        p->mbs_per_slice = DEFAULT_MBS_PER_SLICE;
    if (!p->cpu)
        p->cpu = pnv_cpu_best();
    if (!p->min_quantizer)
        p->min_quantizer = p->profile == PNV_PROFILE_PROXY ? PROXY_MIN_QUANTIZER : PNV_QUANTIZER_MIN;
    if (!p->max_quantizer)
        p->max_quantizer = PNV_QUANTIZER_MAX;
    if (p->min_quantizer > p->max_quantizer) /* below the profile's: the user's word counts */
        p->min_quantizer = p->max_quantizer;
    if (!p->color_primaries)
        p->color_primaries = UNSPECIFIED_COLOR;
    if (!p->transfer_characteristic)
        p->transfer_characteristic = UNSPECIFIED_COLOR;
    if (!p->matrix_coefficients)
        p->matrix_coefficients = UNSPECIFIED_COLOR;
}

static PnvFrameHeader make_header(const PnvParams *p, const PnvProfileInfo *profile)
{
    PnvFrameHeader h = {
        .width = p->width,
        .height = p->height,
        .chroma = profile->chroma,
        .alpha_bits = p->alpha_bits,
        .aspect_code = pnv_layout_aspect_code(p->width, p->height, p->par_n, p->par_d),
        .frame_rate_code = pnv_layout_frame_rate_code(p->fps_n, p->fps_d),
        .color_primaries = p->color_primaries,
        .transfer_characteristic = p->transfer_characteristic,
        .matrix_coefficients = p->matrix_coefficients,
        .luma_matrix = profile->luma_matrix,
        .chroma_matrix = profile->chroma_matrix,
    };
    memcpy(h.encoder_id, p->encoder_id ? p->encoder_id : default_encoder_id, 4);
    return h;
}

static PnvPictureShape make_shape(const PnvParams *p, PnvChroma chroma, int first_row, int row_step)
{
    const int height = (p->height - first_row + row_step - 1) / row_step;

    return (PnvPictureShape){first_row, row_step, height, pnv_grid(p->width, height, p->mbs_per_slice),
                             pnv_convert_grid(p, chroma, first_row, row_step)};
}

static void make_framing(PnvFraming *f, const PnvParams *p, const PnvProfileInfo *profile, PnvInterlace interlace)
{
    if (interlace == PNV_PROGRESSIVE) {
        f->n_pictures = 1;
        f->picture[0] = make_shape(p, profile->chroma, 0, 1);
        f->scan = pnv_scan_progressive;
    } else {
        f->n_pictures = p->height > 1 ? 2 : 0;
        for (int i = 0; i < f->n_pictures; i++)
            f->picture[i] = make_shape(p, profile->chroma, i ^ (interlace == PNV_BOTTOM_FIELD_FIRST), 2);
        f->scan = pnv_scan_interlaced;
    }
    for (int i = 0; i < f->n_pictures; i++)
        f->n_slices += f->picture[i].grid.n_slices;
    f->rank_multiplier = pnv_rate_multiplier(f->n_slices);
    pnv_rate_reciprocals(f->reciprocal[0], profile->luma_matrix, f->scan);
    pnv_rate_reciprocals(f->reciprocal[1], profile->chroma_matrix, f->scan);
}

/** a * n / d, at most max; a, n and d below 2^40. */
static int64_t scale(int64_t a, int64_t n, int64_t d, int64_t max)
{
    __extension__ typedef unsigned __int128 Wide;
    const Wide scaled = (Wide)a * (Wide)n / (Wide)d;

    return scaled < (Wide)max ? (int64_t)scaled : max;
}

/* Which quantizers frames can be coded with, and how many bytes they should take. */
static void plan_rate(PnvPlan *plan)
{
    PnvParams *p = &plan->params;
    const int searches = p->rate_control == PNV_RATE_TARGET || p->max_frame_bytes;

    plan->first_quantizer = p->rate_control == PNV_RATE_TARGET ? p->min_quantizer : p->quantizer;
    plan->n_quantizers = searches ? PNV_QUANTIZER_MAX - plan->first_quantizer + 1 : 1;
    if (p->rate_control != PNV_RATE_TARGET)
        return;
    if (p->bitrate) {
        /* no frame takes more than the bound, and none can take nothing */
        plan->target_bytes = scale((int64_t)p->bitrate * 125, p->fps_d, p->fps_n, (int64_t)plan->packet_bound);
        plan->target_bytes += !plan->target_bytes;
        return;
    }
    plan->target_bytes = (int64_t)pnv_target_bytes(p->profile, p->width, p->height);
    if (p->fps_n > 0)
        p->bitrate = (int)scale(plan->target_bytes, p->fps_n, (int64_t)125 * p->fps_d, INT32_MAX);
}

PnvStatus pnv_plan_open(PnvPlan *plan)
{
    static const uint8_t *const scans[2] = {pnv_scan_progressive, pnv_scan_interlaced};
    const int n_scans = plan->framing[PNV_TOP_FIELD_FIRST].n_pictures ? 2 : 1, n = plan->n_quantizers;

    plan->quant_tables = calloc((size_t)(2 * n * n_scans), sizeof *plan->quant_tables);
    if (!plan->quant_tables)
        return PNV_ENOMEM;
    PnvQuant *quant = plan->quant_tables;
    for (int s = 0; s < n_scans; s++) {
        for (int i = 0; i < n; i++) {
            pnv_quant_init(quant++, plan->profile->luma_matrix, scans[s], plan->first_quantizer + i);
            pnv_quant_init(quant++, plan->profile->chroma_matrix, scans[s], plan->first_quantizer + i);
        }
    }
    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++)
        plan->framing[i].quant = plan->quant_tables + (i != PNV_PROGRESSIVE && n_scans == 2 ? 2 * n : 0);
    return PNV_OK;
}

void pnv_plan_close(PnvPlan *plan)
{
    free(plan->quant_tables);
    plan->quant_tables = NULL;
}

static uint64_t framing_bound(const PnvFraming *f, PnvChroma chroma, int alpha_bits)
{
    uint64_t bound = PNV_FRAME_START_BYTES;

    for (int i = 0; i < f->n_pictures; i++)
        bound += pnv_picture_bound(&f->picture[i].grid, chroma, alpha_bits);
    return bound;
}

PnvStatus pnv_plan(PnvPlan *plan, const PnvParams *params, char *error)
{
    const PnvStatus status = check_params(error, params);
    if (status != PNV_OK)
        return status;
    if (params->cpu && !pnv_cpu_has(params->cpu)) {
        refuse(error, "cpu %s: this machine or this build lacks it; it has %s", pnv_cpu_name(params->cpu),
               pnv_cpu_name(pnv_cpu_best()));
        return PNV_ENODEV;
    }

    *plan = (PnvPlan){.params = *params};
    PnvParams *p = &plan->params;
    resolve_defaults(p);
    plan->profile = pnv_profile_info(p->profile);
    plan->chroma = plan->profile->chroma;
    plan->conversion = pnv_convert_init(p, plan->chroma);
    plan->header = make_header(p, plan->profile);
    p->encoder_id = NULL; /* the caller's; the header has its copy */
    plan->n_components = p->alpha_bits ? 4 : 3;

    uint64_t bound = 0;
    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++) {
        make_framing(&plan->framing[i], p, plan->profile, (PnvInterlace)i);
        const uint64_t b = framing_bound(&plan->framing[i], plan->chroma, p->alpha_bits);
        bound = b > bound ? b : bound;
    }
    if (bound > UINT32_MAX)
        return refuse(error, "%dx%d could give a frame of %llu bytes; a ProRes frame can say at most %u: use a smaller size",
                      p->width, p->height, (unsigned long long)bound, UINT32_MAX);
    plan->packet_bound = (size_t)bound;
    plan_rate(plan);
    return PNV_OK;
}

static int is_chroma(int c)
{
    return c == 1 || c == 2;
}

/** Rows of component c that go with so many rows of luma. */
static int component_rows(const PnvPlan *plan, int c, int rows)
{
    return is_chroma(c) && plan->params.chroma == PNV_CHROMA_420 ? (rows + 1) / 2 : rows;
}

int pnv_plan_rows(const PnvPlan *plan, const PnvPicture *pic, int c, int field)
{
    const int height = plan->params.height;
    const int of_field[2] = {component_rows(plan, c, (height + 1) / 2), component_rows(plan, c, height / 2)};

    if (pic->interlace == PNV_PROGRESSIVE)
        return component_rows(plan, c, height);
    if (pic->bottom[c])
        return of_field[field];
    const int rows = of_field[0] > of_field[1] ? 2 * of_field[0] - 1 : 2 * of_field[1];
    const int is_cut = is_chroma(c) && plan->params.chroma == PNV_CHROMA_420 && pic->chroma_rows;
    return is_cut && pic->chroma_rows < rows ? pic->chroma_rows : rows;
}

/* Bytes of a sample, or of the words that hold one of each component; 0 where samples are packed otherwise. */
static int word_bytes(const PnvParams *p)
{
    return p->packing == PNV_PACKING_SAMPLES ? (p->depth == 8 ? 1 : 2) : has_words(p->packing) ? 4 : 0;
}

static PnvSampleRange sample_range(const PnvParams *p, int c)
{
    if (p->range == PNV_RANGE_VIDEO || p->model == PNV_MODEL_RGB) /* whose range is the conversion's */
        return PNV_SAMPLES_VIDEO;
    return is_chroma(c) ? PNV_SAMPLES_FULL_CHROMA : PNV_SAMPLES_FULL_LUMA;
}

PnvPlane pnv_plan_plane(const PnvPlan *plan, const PnvPicture *pic, const PnvPictureShape *shape, int c)
{
    const PnvParams *p = &plan->params;
    const int is_apart = pic->bottom[c] != NULL, rows = component_rows(plan, c, shape->height);
    const int there = is_apart ? rows : (pnv_plan_rows(plan, pic, c, 0) - shape->first_row + shape->row_step - 1) / shape->row_step;
    const int first_row = is_apart || there == 0 ? 0 : shape->first_row;
    const uint8_t *data = is_apart && shape->first_row ? pic->bottom[c] : pic->plane[c];

    return (PnvPlane){
        .data = data ? data + first_row * pic->stride[c] : NULL, /* of a component that nobody reads */
        .stride = is_apart ? pic->stride[c] : pic->stride[c] * shape->row_step,
        .step = pic->step[c] ? pic->step[c] : word_bytes(p),
        .width = pnv_plane_width(p->chroma, is_chroma(c), p->width),
        .height = there == 0 ? 1 : there < rows ? there : rows,
        .depth = c == 3 ? p->alpha_depth : p->depth,
        .range = sample_range(p, c),
        .packing = p->packing,
        .shift = p->shift[c],
        .component = c,
    };
}

static PnvStatus check_component(const PnvPlan *plan, const PnvPicture *pic, int c, char *error)
{
    const PnvParams *p = &plan->params;
    const int bytes = word_bytes(p), alignment = p->packing == PNV_PACKING_SAMPLES ? bytes : 1;

    if (!pic->plane[c])
        return refuse(error, "plane[%d] is NULL", c);
    const PnvPlane plane = pnv_plan_plane(plan, pic, &plan->framing[pic->interlace].picture[0], c);
    const int is_apart = pic->plane[c] != pic->plane[0] || pic->bottom[c] != pic->bottom[0] ||
                         pic->stride[c] != pic->stride[0] || (bytes && pic->step[c] != pic->step[0]);
    if (p->packing != PNV_PACKING_SAMPLES && is_apart)
        return refuse(error, "plane[%d] %p, stride %td, step %d: packing %d has one place for all, that of plane[0] %p, "
                      "stride %td, step %d", c, pic->plane[c], pic->stride[c], pic->step[c], (int)p->packing,
                      pic->plane[0], pic->stride[0], pic->step[0]);
    if (bytes && (plane.step < bytes || plane.step % alignment))
        return refuse(error, "step[%d] %d is not a multiple of a sample's %d bytes", c, pic->step[c], bytes);
    if ((uintptr_t)pic->plane[c] % (unsigned)alignment)
        return refuse(error, "plane[%d] %p is not aligned to its 2-byte samples", c, pic->plane[c]);
    if ((uintptr_t)pic->bottom[c] % (unsigned)alignment)
        return refuse(error, "bottom[%d] %p is not aligned to its 2-byte samples", c, pic->bottom[c]);
    if (!pic->bottom[c] != !pic->bottom[0])
        return refuse(error, "bottom[%d] is %p, but bottom[0] is %p: both or none", c, pic->bottom[c], pic->bottom[0]);
    if (pic->bottom[c] && pic->interlace == PNV_PROGRESSIVE)
        return refuse(error, "bottom[%d] is set, but the picture is progressive", c);
    if (pic->stride[c] < pnv_plane_row_bytes(&plane))
        return refuse(error, "stride[%d] %td is less than the %td bytes of a row of %d px", c, pic->stride[c],
                      pnv_plane_row_bytes(&plane), plane.width);
    if (pic->stride[c] % alignment)
        return refuse(error, "stride[%d] %td is odd; samples take 2 bytes", c, pic->stride[c]);
    return PNV_OK;
}

PnvStatus pnv_plan_check_picture(const PnvPlan *plan, const PnvPicture *pic, char *error)
{
    PnvStatus status = PNV_OK;

    if (pic->memory == PNV_MEMORY_CUDA && plan->params.backend != PNV_BACKEND_CUDA)
        return refuse(error, "memory %d is a device's, and the backend is the CPU", (int)pic->memory);
    if (pic->memory != PNV_MEMORY_HOST && pic->memory != PNV_MEMORY_CUDA)
        return refuse(error, "memory %d is neither host memory (%d) nor a CUDA device's (%d)", (int)pic->memory,
                      PNV_MEMORY_HOST, PNV_MEMORY_CUDA);
    if (check_range(error, "interlace", (int)pic->interlace, PNV_PROGRESSIVE, PNV_BOTTOM_FIELD_FIRST) != PNV_OK)
        return PNV_EINVAL;
    if (pic->chroma_rows && pic->chroma_rows < (plan->params.height + 1) / 2)
        return refuse(error, "chroma_rows %d is less than half of %d", pic->chroma_rows, plan->params.height);
    if (!plan->framing[pic->interlace].n_pictures)
        return refuse(error, "height %d is too small for two fields; 2 is the least", plan->params.height);
    for (int c = 0; status == PNV_OK && c < plan->n_components; c++)
        status = check_component(plan, pic, c, error);
    return status;
}

void pnv_plan_report(const PnvPlan *plan, const PnvRateReport *report, PnvPacket *packet)
{
    const PnvParams *p = &plan->params;

    packet->alpha_bytes = report->alpha_bytes;
    packet->n_slices = (uint32_t)report->n_slices;
    packet->n_coded = report->n_coded;
    packet->quantizer_min = packet->quantizer_max = p->quantizer;
    if (report->is_searched) {
        packet->quantizer_min = (int)(report->position / report->n_slices) + 1;
        packet->quantizer_max = packet->quantizer_min + (report->position % report->n_slices != 0);
        packet->n_sample_rounds = (uint32_t)report->n_rounds;
        packet->raised = p->rate_control == PNV_RATE_CONSTANT_QUANTIZER;
    }
    packet->target_bytes = (uint32_t)(plan->target_bytes < UINT32_MAX ? plan->target_bytes : UINT32_MAX);
    packet->limit_bytes = p->max_frame_bytes;
    if (!p->max_frame_bytes && packet->target_bytes) {
        const uint64_t limit = (uint64_t)packet->target_bytes + packet->alpha_bytes;
        packet->limit_bytes = (uint32_t)(limit < UINT32_MAX ? limit : UINT32_MAX);
    }
    packet->over_limit = packet->limit_bytes && packet->size > packet->limit_bytes;
}
