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

static size_t sample_bytes(const PnvPlan *plan)
{
    return plan->params.depth > 8 ? 2 : 1;
}

static size_t row_samples(const PnvPlan *plan, int c)
{
    return (size_t)pnv_plane_width(plan->params.chroma, c == 1 || c == 2, plan->params.width);
}

size_t pnv_cuda_input_bound(const PnvPlan *plan)
{
    size_t row = 0;

    for (int c = 0; c < plan->n_components; c++)
        row += align_row(row_samples(plan, c) * sample_bytes(plan));
    /* four bytes or words a pixel, or two pixels of 4:2:2, where one of them is not coded */
    const size_t packed = align_row(4 * row_samples(plan, 1) * sample_bytes(plan));
    return (row > packed ? row : packed) * (size_t)plan->params.height;
}

static size_t step_of(const PnvPlan *plan, const PnvPicture *pic, int c)
{
    return pic->step[c] ? (size_t)pic->step[c] : sample_bytes(plan);
}

/** Component c of a picture; of the second field where fields are apart and field is 1. */
static const uint8_t *plane_of(const PnvPicture *pic, int field, int c)
{
    return field ? pic->bottom[c] : pic->plane[c];
}

static const uint8_t *row_end(const PnvPlan *plan, const PnvPicture *pic, int field, int c)
{
    return plane_of(pic, field, c) + (row_samples(plan, c) - 1) * step_of(plan, pic, c) + sample_bytes(plan);
}

/** Whether component c lies in the same rows as a region of packed components; then the region is widened to hold it. */
static int join(PnvCudaRegion *r, const PnvPlan *plan, const PnvPicture *pic, int field, int c)
{
    const uint8_t *begin = plane_of(pic, field, c), *end = row_end(plan, pic, field, c);

    if ((size_t)pic->stride[c] != r->stride || step_of(plan, pic, c) == sample_bytes(plan))
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
    const size_t rows = (size_t)plan->params.height;

    *r = (PnvCudaRegion){.from = plane_of(pic, field, c), .stride = (size_t)pic->stride[c]};
    r->n_rows = field ? rows / 2 : pic->bottom[c] ? (rows + 1) / 2 : rows;
    if (gathers) {
        r->gather_step = (int)step_of(plan, pic, c);
        r->row_bytes = row_samples(plan, c) * sample_bytes(plan);
    } else {
        r->row_bytes = (size_t)(row_end(plan, pic, field, c) - r->from);
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
            int i = gathers ? in->n_regions : first;
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

void pnv_cuda_input_copy(uint8_t *slot, const PnvCudaRegion *r, size_t first, size_t end, int bytes)
{
    for (size_t y = first; y < end; y++) {
        uint8_t *to = slot + r->offset + y * r->pitch;
        const uint8_t *from = r->from + y * r->stride;
        if (!r->gather_step) {
            memcpy(to, from, r->row_bytes);
            continue;
        }
        for (size_t x = 0; x < r->row_bytes; x += (size_t)bytes, from += r->gather_step)
            memcpy(to + x, from, (size_t)bytes);
    }
}
