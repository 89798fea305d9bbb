/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target of the strict reader: a whole file goes through the container's tables, every frame's fields and codes,
 * the samples and the text of a dump. Built alone it is the target of libFuzzer; fuzz_driver.c gives it a main().
 */
#include <stdio.h>
#include <stdlib.h>

#include "container.h"
#include "dump.h"
#include "mov.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small enough that no header makes an input slow. */
#define MAX_SAMPLES 65536

/* What must hold whatever the bytes are. */
static void check_frame(const PnvReader *reader, uint64_t n_reported)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    uint64_t n = 0;

    for (int i = 0; i < PNV_N_FINDING_CODES; i++)
        n += f->n_found[i];
    if (n != f->n_violations + f->n_notes || n != n_reported)
        abort();
    if (!f->complete && f->n_violations == 0)
        abort(); /* what cannot be decoded must have been said */
    for (uint32_t i = 0; i < f->n_slices; i++)
        if (f->slices[i].n_mbs < 1 || f->slices[i].n_mbs > 8 || f->slices[i].picture >= f->n_pictures)
            abort();
}

static void count_finding(void *opaque, const PnvFinding *finding)
{
    if (!pnv_finding_name(finding->code) || !finding->text[0])
        abort();
    ++*(uint64_t *)opaque;
}

/* Both ends of every row and unit: what was handed out is there. */
static double touch(const PnvReader *reader)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    double sum = 0;

    for (int plane = 0; plane < 4; plane++)
        for (int y = 0; y < f->plane[plane].height; y++) {
            const int x = f->plane[plane].width - 1;
            if (plane == 3)
                sum += pnv_reader_alpha_row(reader, y)[0] + pnv_reader_alpha_row(reader, y)[x];
            else
                sum += pnv_reader_row(reader, plane, y)[0] + pnv_reader_row(reader, plane, y)[x];
        }
    for (uint32_t i = 0; i < f->n_slices; i++)
        for (int plane = 0; plane < 3; plane++) {
            const int16_t *levels = pnv_reader_levels(reader, &f->slices[i], plane);
            sum += levels[0] + levels[64 * pnv_reader_n_blocks(reader, &f->slices[i], plane) - 1];
        }
    return sum;
}

static void read_sample(PnvReader *reader, const PnvMov *mov, const uint8_t *data, size_t size)
{
    uint64_t n = 0, n_container = 0;
    size_t bytes;
    const PnvReaderOptions options = {.flags = PNV_READER_LEVELS | PNV_READER_PIXELS, .max_samples = MAX_SAMPLES,
                                      .report = count_finding, .opaque = &n};

    if (pnv_reader_read(reader, data, size, &options) != PNV_READER_OK) {
        n = 0;
        pnv_reader_read(reader, data, size, &(PnvReaderOptions){.report = count_finding, .opaque = &n});
    } else if (pnv_reader_frame(reader)->header_valid) {
        const volatile double sum = touch(reader);
        if (sum != sum)
            abort(); /* samples are numbers */
    }
    check_frame(reader, n);
    pnv_container_check(mov, pnv_reader_frame(reader), count_finding, &n_container);
    free(pnv_dump_frame(reader, 0, 0, &bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const PnvSource source = pnv_source_memory(data, size);
    PnvReader *reader = pnv_reader_new();
    char error[PNV_MOV_ERROR_BYTES];
    PnvMov mov;

    if (!reader)
        return 0;
    if (!pnv_mov_open(&mov, &source, error) && !error[0])
        abort(); /* a refusal says why */
    for (uint32_t i = 0; i < mov.n_samples; i++) {
        const PnvMovSample *s = &mov.samples[i];
        if (s->offset < size)
            read_sample(reader, &mov, data + s->offset, s->size < size - s->offset ? s->size : size - s->offset);
    }
    pnv_container_check_depth(&mov, true, NULL, NULL);
    pnv_mov_close(&mov);
    pnv_reader_free(&reader);
    return 0;
}
