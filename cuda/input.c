/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
#include "input.h"

#include <string.h>

enum { ROW_ALIGNMENT = 64 }; /* pairs of samples are aligned in every row, and rows begin at a line of the cache */

static size_t align_row(size_t bytes)
{
    return (bytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

/** Bytes that hold a sample, or a word of several, and are copied together where samples are gathered. */
static size_t sample_bytes(const PnvPlan *plan)
{
    return plan->params.packing != PNV_PACKING_SAMPLES ? 4 : plan->params.depth > 8 ? 2 : 1;
}

/** Component c of the frame as a plane without its data. Rows are pnv_plan_rows()'s. */
static PnvPlane plane_shape(const PnvPlan *plan, const PnvPicture *pic, int c)
{
    return pnv_plan_plane(plan, pic, &plan->framing[PNV_PROGRESSIVE].picture[0], c);
}

/** Most rows of component c in any kind of picture. */
static size_t most_rows(const PnvPlan *plan, int c)
{
    const PnvPicture frame = {0}, woven = {.interlace = PNV_TOP_FIELD_FIRST};
    const PnvPicture apart = {.interlace = PNV_TOP_FIELD_FIRST, .bottom = {"", "", "", ""}}; /* there, and not read */
    const int rows[3] = {pnv_plan_rows(plan, &frame, c, 0), pnv_plan_rows(plan, &woven, c, 0),
                         pnv_plan_rows(plan, &apart, c, 0) + pnv_plan_rows(plan, &apart, c, 1)};
    int most = 0;

    for (int i = 0; i < 3; i++)
        most = rows[i] > most ? rows[i] : most;
    return (size_t)most;
}

static int is_packed(const PnvPlan *plan)
{
    return plan->params.packing != PNV_PACKING_SAMPLES;
}

size_t pnv_cuda_input_bound(const PnvPlan *plan)
{
    const PnvPicture pic = {0};
    size_t apart = 0, longest = 0;

    for (int c = 0; c < plan->n_components; c++) {
        const PnvPlane plane = plane_shape(plan, &pic, c);
        const size_t row = align_row((size_t)pnv_plane_row_bytes(&plane));
        apart += row * most_rows(plan, c);
        longest = row > longest ? row : longest;
    }
    if (is_packed(plan))
        return longest * most_rows(plan, 0);
    /* four bytes or words a pixel, or two pixels of 4:2:2, where one of them is not coded */
    const size_t quads = (size_t)plane_shape(plan, &pic, 1).width;
    const size_t packed = align_row(4 * quads * sample_bytes(plan)) * most_rows(plan, 0);
    return apart > packed || plan->params.chroma == PNV_CHROMA_420 ? apart : packed;
}

/** Component c of a picture; of the second field where fields are apart and field is 1. */
static const uint8_t *plane_of(const PnvPicture *pic, int field, int c)
{
    return field ? pic->bottom[c] : pic->plane[c];
}

static size_t step_of(const PnvPlan *plan, const PnvPicture *pic, int c)
{
    return (size_t)plane_shape(plan, pic, c).step;
}

static const uint8_t *row_end(const PnvPlan *plan, const PnvPicture *pic, int field, int c)
{
    const PnvPlane plane = plane_shape(plan, pic, c);
    return plane_of(pic, field, c) + pnv_plane_row_bytes(&plane);
}

/** Whether component c lies in the same rows as a region of packed components; then the region is made to hold it. */
static int join(PnvCudaRegion *r, const PnvPlan *plan, const PnvPicture *pic, int field, int c)
{
    const uint8_t *begin = plane_of(pic, field, c), *end = row_end(plan, pic, field, c);

    if (r->gather_step) /* of samples each has its own, words have all */
        return is_packed(plan);
    if ((size_t)pic->stride[c] != r->stride || (size_t)pnv_plan_rows(plan, pic, c, field) != r->n_rows ||
        (!is_packed(plan) && step_of(plan, pic, c) == sample_bytes(plan)))
        return 0;
    if (begin > r->from)
        begin = r->from;
    if (end < r->from + r->row_bytes)
        end = r->from + r->row_bytes;
    if ((size_t)(end - begin) > r->stride)
        return 0;
    r->from = begin;
    r->row_bytes = (size_t)(end - begin);
    return 1;
}

static void add_region(PnvCudaInput *in, const PnvPlan *plan, const PnvPicture *pic, int field, int c, int gathers)
{
    PnvCudaRegion *r = &in->region[in->n_regions++];

    *r = (PnvCudaRegion){
        .from = plane_of(pic, field, c),
        .stride = (size_t)pic->stride[c],
        .row_bytes = (size_t)(row_end(plan, pic, field, c) - plane_of(pic, field, c)),
        .n_rows = (size_t)pnv_plan_rows(plan, pic, c, field),
    };
    if (gathers) {
        r->gather_step = step_of(plan, pic, c);
        r->gather_bytes = sample_bytes(plan);
        r->row_bytes = (size_t)plane_shape(plan, pic, c).width * sample_bytes(plan);
    }
}

static void place_regions(PnvCudaInput *in)
{
    in->bytes = 0;
    for (int i = 0; i < in->n_regions; i++) {
        PnvCudaRegion *r = &in->region[i];
        r->pitch = align_row(r->row_bytes);
        r->offset = in->bytes;
        in->bytes += r->pitch * r->n_rows;
    }
}

/** Regions of all components, packed ones together unless samples are gathered. */
static void find_regions(PnvCudaInput *in, const PnvPlan *plan, const PnvPicture *pic, int gathers)
{
    int region_of[2][4];
    const int n_fields = pic->bottom[0] ? 2 : 1;

    in->n_regions = 0;
    for (int field = 0; field < n_fields; field++) {
        const int first = in->n_regions;
        for (int c = 0; c < plan->n_components; c++) {
            int i = first;
            while (i < in->n_regions && !join(&in->region[i], plan, pic, field, c))
                i++;
            region_of[field][c] = i;
            if (i == in->n_regions)
                add_region(in, plan, pic, field, c, gathers);
        }
    }
    place_regions(in);
    for (int field = 0; field < n_fields; field++) {
        for (int c = 0; c < plan->n_components; c++) {
            const PnvCudaRegion *r = &in->region[region_of[field][c]];
            in->plane[field][c] = r->offset + (size_t)(plane_of(pic, field, c) - r->from);
            in->inside.stride[c] = (ptrdiff_t)r->pitch;
            in->inside.step[c] = (int)(gathers ? sample_bytes(plan) : step_of(plan, pic, c));
        }
    }
}

void pnv_cuda_input_plan(PnvCudaInput *in, const PnvPlan *plan, const PnvPicture *pic)
{
    *in = (PnvCudaInput){.inside = *pic};
    find_regions(in, plan, pic, 0);
    in->is_whole = in->bytes <= pnv_cuda_input_bound(plan);
    if (!in->is_whole) /* steps that no format has */
        find_regions(in, plan, pic, 1);
}

PnvPicture pnv_cuda_input_inside(const PnvCudaInput *in, const uint8_t *slot)
{
    PnvPicture pic = in->inside;

    for (int c = 0; c < 4; c++) {
        pic.plane[c] = slot + in->plane[0][c];
        pic.bottom[c] = pic.bottom[c] ? slot + in->plane[1][c] : NULL;
    }
    return pic;
}

void pnv_cuda_input_copy(uint8_t *slot, const PnvCudaRegion *r, size_t first, size_t end)
{
    for (size_t y = first; y < end; y++) {
        uint8_t *to = slot + r->offset + y * r->pitch;
        const uint8_t *from = r->from + y * r->stride;
        if (!r->gather_step) {
            memcpy(to, from, r->row_bytes);
            continue;
        }
        for (size_t x = 0; x < r->row_bytes; x += r->gather_bytes, from += r->gather_step)
            memcpy(to + x, from, r->gather_bytes);
    }
}
