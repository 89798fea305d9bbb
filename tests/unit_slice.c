/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How pictures are cut into slices. */
#include "check.h"
#include "slice.h"

static void test_known_widths(void)
{
    static const struct { int width, height, mbs, per_row, n_slices; } grids[] = {
        {720, 16, 8, 7, 7}, {1280, 720, 8, 10, 450}, {1440, 16, 8, 12, 12}, {1920, 1080, 8, 15, 1020},
        {1920, 540, 8, 15, 510}, {2048, 16, 8, 16, 16}, {3840, 2160, 8, 30, 4050}, {4096, 16, 8, 32, 32},
        {100, 16, 8, 3, 3}, {1, 1, 8, 1, 1}, {1, 1, 1, 1, 1}, {16, 17, 4, 1, 2}, {100, 33, 1, 7, 21},
        {100, 16, 2, 4, 4}, {65535, 65535, 8, 512, 512 * 4096},
    };
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        const PnvGrid g = pnv_grid(grids[i].width, grids[i].height, grids[i].mbs);
        CHECK(g.slices_per_row == grids[i].per_row && g.n_slices == grids[i].n_slices, "%dx%d: %d a row, %d",
              grids[i].width, grids[i].height, g.slices_per_row, g.n_slices);
    }
}

/* For every width: slices lie side by side, never widen, are powers of two and end with the row. */
static void test_spans(void)
{
    for (int mbs = 1; mbs <= 8; mbs *= 2) {
        for (int width_mb = 1; width_mb <= 300; width_mb++) {
            const PnvGrid g = pnv_grid(width_mb * 16 - 15, 1, mbs);
            int x = 0, last = mbs;
            for (int k = 0; k < g.slices_per_row; k++) {
                const PnvSpan s = pnv_grid_span(&g, k);
                CHECK(s.mb_x == x, "width %d slices of %d: slice %d begins at %d, not %d", width_mb, mbs, k, s.mb_x, x);
                CHECK(s.n_mb >= 1 && s.n_mb <= last && !(s.n_mb & (s.n_mb - 1)), "width %d: slice %d has %d MBs",
                      width_mb, k, s.n_mb);
                CHECK(s.n_mb * 2 > width_mb - x || s.n_mb == mbs, "width %d: slice %d could be wider", width_mb, k);
                x += s.n_mb;
                last = s.n_mb;
            }
            CHECK(x == width_mb, "width %d slices of %d: row ends at %d", width_mb, mbs, x);
        }
    }
}

static void test_bounds(void)
{
    CHECK(pnv_slice_bound(PNV_CHROMA_444, 0, 8) == 6 + 3 * 6920, "4:4:4 slice: %zu", pnv_slice_bound(PNV_CHROMA_444, 0, 8));
    CHECK(pnv_slice_bound(PNV_CHROMA_422, 0, 8) == 6 + 2 * 6920, "4:2:2 slice: %zu", pnv_slice_bound(PNV_CHROMA_422, 0, 8));
    CHECK(pnv_slice_bound(PNV_CHROMA_444, 16, 8) == 8 + 3 * 6920 + 4608 &&
              pnv_slice_bound(PNV_CHROMA_444, 8, 8) == 8 + 3 * 6920 + 2560, "with alpha");
    const PnvGrid g = pnv_grid(33, 17, 2); /* 3 MBs across: slices of 2 and 1; 2 rows */
    const uint64_t row = 4 + pnv_slice_bound(PNV_CHROMA_422, 0, 2) + pnv_slice_bound(PNV_CHROMA_422, 0, 1);
    CHECK(pnv_picture_bound(&g, PNV_CHROMA_422, 0) == 8 + 2 * row, "picture bound");
    CHECK(pnv_plane_width(PNV_CHROMA_422, 1, 33) == 17 && pnv_plane_width(PNV_CHROMA_444, 1, 33) == 33 &&
              pnv_plane_width(PNV_CHROMA_422, 0, 33) == 33 && pnv_plane_width(PNV_CHROMA_420, 1, 33) == 17 &&
              pnv_plane_width(PNV_CHROMA_420, 0, 33) == 33, "plane widths");
}

int main(void)
{
    test_known_widths();
    test_spans();
    test_bounds();
    CHECK_END();
}
