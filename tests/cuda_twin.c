/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linked with a stream_ test: every frame that it codes on the CPU is coded by CUDA as well, and the bytes are equal. On
 * the emulated runtime with blocks, warps and lanes in three orders, and with work done when it is queued or as late as
 * can be; what fails here was read before it was written, or written where the order of threads decides.
 */
#include "check.h"
#include "cuda_twin.h"

#ifdef PNV_CUDA_EMULATED
#include "hostcuda_control.h"
#endif

int cuda_twin_orders(void)
{
#ifdef PNV_CUDA_EMULATED
    return 6;
#else
    return 1;
#endif
}

void cuda_twin_set_order(int order)
{
#ifdef PNV_CUDA_EMULATED
    hostcuda_set_seed((unsigned)order / 2);
    hostcuda_set_lazy(order % 2);
#else
    (void)order;
#endif
}

static void count_warning(void *opaque, PnvLogLevel level, const char *text)
{
    if (level <= PNV_LOG_WARNING) {
        fprintf(stderr, "%s\n", text);
        ++*(int *)opaque;
    }
}

TestFrame cuda_twin_encode(const PnvParams *params, const TestPicture *t)
{
    void (*const twin)(const PnvParams *, const TestPicture *, const TestFrame *) = test_twin;
    PnvParams on_gpu = *params;
    int n_warnings = 0;

    on_gpu.backend = PNV_BACKEND_CUDA;
    on_gpu.log = count_warning;
    on_gpu.log_opaque = &n_warnings;
    if (!on_gpu.frames_in_flight)
        on_gpu.frames_in_flight = 1;
    test_twin = NULL;
    TestFrame frame = test_encode(&on_gpu, t);
    test_twin = twin;
    CHECK(n_warnings == 0, "the CPU had to help");
    return frame;
}

/* Every frame in every order takes minutes: PNV_TEST_FULL does that, else the orders take turns. */
static void compare(const PnvParams *params, const TestPicture *t, const TestFrame *want)
{
    static int turn, n_maxima;
    const int n_orders = cuda_twin_orders(), is_full = getenv("PNV_TEST_FULL") != NULL;

    if (!is_full && n_orders > 1 && params->max_frame_bytes && ++n_maxima % 4) /* hundreds, which differ in that alone */
        return;
    const int first = is_full ? 0 : turn++ % n_orders, end = is_full ? n_orders : first + 1;

    for (int order = first; order < end; order++) {
        cuda_twin_set_order(order);
        TestFrame got = cuda_twin_encode(params, t);
        CHECK(same_frame(want, &got),
              "%dx%d model %d chroma %d siting %d packing %d depth %d range %d alpha %d interlace %d rounding %d mode %d "
              "quantizer %d maximum %u slices of %d, order %d: another frame", params->width, params->height,
              (int)params->model, (int)params->chroma, (int)params->siting, (int)params->packing, params->depth,
              (int)params->range, params->alpha_bits, (int)t->pic.interlace, (int)params->rounding,
              (int)params->rate_control, params->quantizer, params->max_frame_bytes, params->mbs_per_slice, order);
        free(got.data);
    }
    cuda_twin_set_order(0);
}

void cuda_twin_require_device(void)
{
    const PnvParams params = {.width = 16, .height = 16, .depth = 10, .backend = PNV_BACKEND_CUDA};
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;

    if (pnv_open(&enc, &params, error) != PNV_OK) {
        printf("skipped: %s\n", error);
        exit(CHECK_SKIP);
    }
    pnv_close(&enc);
}

__attribute__((constructor)) static void begin(void)
{
    cuda_twin_require_device();
    test_twin = compare;
}
