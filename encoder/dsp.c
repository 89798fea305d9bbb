/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dsp.h"

#include "cpuinfo.h"
#include "entropy.h"
#if PNV_HAVE_X86
#include "x86/x86.h"
#elif PNV_HAVE_NEON
#include "arm/arm.h"
#endif

void pnv_dsp_init(PnvDsp *dsp, PnvCpu cpu)
{
    *dsp = (PnvDsp){
        .load = pnv_load_c,
        .fetch = pnv_fetch_c,
        .fetch_scale = pnv_fetch_scale_c,
        .color_row = pnv_color_row_c,
        .color_pixels = pnv_color_pixels_c,
        .decimate_row = pnv_decimate_row_c,
        .transform = pnv_transform_c,
        .forward = pnv_forward_c,
        .quant = {[PNV_ROUNDING_DEAD_ZONE] = pnv_quant_dead_zone_c,
                  [PNV_ROUNDING_NEAREST] = pnv_quant_c,
                  [PNV_ROUNDING_OPTIMAL] = pnv_quant_optimal_c},
        .histogram = pnv_rate_histogram_c,
        .entropy_bits = pnv_entropy_bits_c,
        .entropy_write = pnv_entropy_write_c,
        .alpha_fetch = pnv_alpha_fetch_c,
        .alpha_bits = pnv_alpha_bits_c,
        .alpha_write = pnv_alpha_write_c,
        .interpolate = pnv_interpolate_c,
        .interpolate_rows = pnv_interpolate_rows_c,
    };
    if (cpu == PNV_CPU_AUTO)
        cpu = pnv_cpu_best();
#if PNV_HAVE_X86
    if (cpu == PNV_CPU_AVX2 || cpu == PNV_CPU_AVX512) {
        dsp->load = pnv_load_avx2;
        dsp->fetch = pnv_fetch_avx2;
        dsp->fetch_scale = pnv_fetch_scale_avx2;
        dsp->color_row = pnv_color_row_avx2;
        dsp->color_pixels = pnv_color_pixels_avx2;
        dsp->decimate_row = pnv_decimate_row_avx2;
        dsp->transform = pnv_transform_avx2;
        dsp->forward = pnv_forward_avx2;
        dsp->quant[PNV_ROUNDING_NEAREST] = pnv_quant_avx2;
        dsp->quant[PNV_ROUNDING_DEAD_ZONE] = pnv_quant_dead_zone_avx2;
        dsp->quant[PNV_ROUNDING_OPTIMAL] = pnv_quant_optimal_avx2;
        dsp->histogram = pnv_rate_histogram_avx2;
        dsp->entropy_bits = pnv_entropy_bits_avx2;
        dsp->entropy_write = pnv_entropy_write_avx2;
        dsp->alpha_fetch = pnv_alpha_fetch_avx2;
        dsp->alpha_bits = pnv_alpha_bits_avx2;
        dsp->alpha_write = pnv_alpha_write_avx2;
        dsp->interpolate = pnv_interpolate_avx2;
        dsp->interpolate_rows = pnv_interpolate_rows_avx2;
    }
    if (cpu == PNV_CPU_AVX512) {
        dsp->fetch = pnv_fetch_avx512;
        dsp->transform = pnv_transform_avx512;
        dsp->quant[PNV_ROUNDING_NEAREST] = pnv_quant_avx512;
        dsp->quant[PNV_ROUNDING_DEAD_ZONE] = pnv_quant_dead_zone_avx512;
        dsp->histogram = pnv_rate_histogram_avx512;
        dsp->forward = pnv_forward_avx512;
        dsp->entropy_bits = pnv_entropy_bits_avx512;
        dsp->entropy_write = pnv_entropy_write_avx512;
    }
#elif PNV_HAVE_NEON
    if (cpu == PNV_CPU_NEON) {
        dsp->fetch = pnv_fetch_neon;
        dsp->transform = pnv_transform_neon;
        dsp->forward = pnv_forward_neon;
        dsp->quant[PNV_ROUNDING_NEAREST] = pnv_quant_neon;
        dsp->quant[PNV_ROUNDING_DEAD_ZONE] = pnv_quant_dead_zone_neon;
    }
#endif
}
